"""`gapline status`: how far a study is."""

import rich_click as click


@click.command("status")
@click.argument("study", type=click.Path(exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(study: str, as_json: bool) -> None:
    """Say which runs of a study are done, running, interrupted, missing or failed, and how to go on.

    Example: gapline status my-study
    """
    import json

    from gapline.model.text import counted, printable
    from gapline.run.campaign import resume_command
    from gapline.run.resume import CellState, study_status

    status = study_status(study)
    go_on = resume_command(status.study) if status.left else None
    go_on_noisy = f"{resume_command(status.study)} --rerun-noisy"
    shown = [state for state in CellState if state not in (CellState.UNCHECKED, CellState.NOISY)]
    counts = {state.value: status.cells[state] for state in shown}
    fairness = status.fairness
    if as_json:
        answer = {
            "study": status.name,
            "planned": status.planned,
            **counts,
            "failed": len(status.failed),
            "left": status.left,
            "superseded": status.superseded,
            "statuses": dict(status.statuses),
            "failures": [
                {"arm": key.arm, "instance": key.instance, "seed": key.seed, "cause": cause}
                for key, cause in status.failed
            ],
            "seconds_left": status.seconds_left,
            "fairness": fairness.document(),
            "warnings": status.warnings,
            "problems": status.problems,
            "resume": go_on,
        }
        click.echo(json.dumps(answer, indent=1))
        return
    click.echo(f"{status.name}: {status.planned} runs planned")
    for name, count in counts.items():
        detail = ""
        if name == "done" and status.statuses:
            detail = "  (" + ", ".join(f"{key} {value}" for key, value in sorted(status.statuses.items())) + ")"
        click.echo(f"{name:<12} {count:>6}{detail}")
    click.echo(f"{'failed':<12} {len(status.failed):>6}")
    for key, cause in status.failed:
        click.echo(f"  {printable(str(key))}: {cause}")
    if status.superseded:
        click.echo(f"{counted(status.superseded, 'attempt')} cut short in cells that are done now: kept, not counted")
    for line in fairness.lines():
        click.echo(f"measured: {line}")
    if fairness.disturbed:
        click.echo(f"run them again with: {go_on_noisy}")
    for warning in status.warnings:
        click.echo(f"warning: the solver changed its version: {printable(warning)}")
    for problem in status.problems:
        click.echo(f"problem: {printable(problem)}")
    if go_on:
        click.echo(f"{status.seconds_left:g} s of solving left; go on with: {go_on}")
