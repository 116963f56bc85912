"""`gapline status`: how far a study is."""

import rich_click as click

from gapline.cli import options
from gapline.terminal import say


@click.command("status")
@click.argument("study", type=click.Path(exists=True, file_okay=False))
@options.as_json
def command(study: str, as_json: bool) -> None:
    """Say which runs of a study are done, running, interrupted, missing or failed, and how to go on.

    Example: gapline status my-study
    """
    from gapline.model.text import counted
    from gapline.run.campaign import resume_command
    from gapline.run.resume import CellState, study_status

    status = study_status(study)
    go_on = resume_command(status.study) if status.left else None
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
            "failures": [key._asdict() | {"cause": cause} for key, cause in status.failed],
            "seconds_left": status.seconds_left,
            "fairness": fairness.document(),
            "warnings": status.warnings,
            "problems": status.problems,
            "resume": go_on,
        }
        options.print_json(answer)
        return
    say(f"{status.name}: {status.planned} runs planned")
    ended = ", ".join(f"{status} {count}" for status, count in sorted(status.statuses.items()))
    for name, count in counts.items():
        say(f"{name:<12} {count:>6}" + (f"  ({ended})" if name == "done" and ended else ""))
    say(f"{'failed':<12} {len(status.failed):>6}")
    options.print_lines("  ", (f"{key}: {cause}" for key, cause in status.failed))
    if status.superseded:
        say(f"{counted(status.superseded, 'attempt')} cut short in cells that are done now: kept, not counted")
    options.print_lines("measured: ", fairness.lines())
    if fairness.disturbed:
        say(f"run them again with: {resume_command(status.study, None, '--rerun-noisy')}")
    options.print_lines("warning: the solver changed: ", status.warnings)
    options.print_lines("problem: ", status.problems)
    if go_on:
        say(f"{status.seconds_left:g} s of solving left; go on with: {go_on}")
