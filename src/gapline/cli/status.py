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
    from gapline.journal.attempts import superseded_words
    from gapline.journal.strays import stray_note
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
            "superseded_because": dict(status.superseded_because),
            "changed": status.changed,
            "left_behind": status.left_behind,
            "over_cap": status.over_cap,
            "statuses": dict(status.statuses),
            "failures": [key._asdict() | {"cause": cause} for key, cause in status.failed],
            "seconds_left": status.seconds_left,
            "fairness": fairness.document(),
            "warnings": status.warnings,
            "problems": status.problems,
            "strays": status.strays,
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
        say(f"{superseded_words(status.superseded_because)}; all are kept")
    options.print_lines("changed after it was written, quarantined: ", status.changed)
    if status.left_behind:
        say(f"processes that outlived the clearing of their run: {status.left_behind:,}")
    if status.over_cap:
        say(f"events over the cap of a journal, which are not in it: {status.over_cap:,}")
    options.print_lines("measured: ", fairness.lines())
    if fairness.disturbed:
        say(f"run them again with: {resume_command(status.study, None, '--rerun-noisy')}")
    options.print_lines("warning: the solver changed: ", status.warnings)
    options.print_lines("problem: ", status.problems)
    if status.strays:
        say(f"note: {stray_note(status.strays)}")
    if go_on:
        say(f"{status.seconds_left:g} s of solving left; go on with: {go_on}")
