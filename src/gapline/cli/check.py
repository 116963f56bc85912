"""`gapline check`: re-evaluate the captured candidates of a study."""

from collections import Counter

import rich_click as click

from gapline.cli import options
from gapline.terminal import say


@click.command("check")
@click.argument("study", type=click.Path(exists=True, file_okay=False))
@click.option("--again", is_flag=True, help="Judge anew what this version of the checker has judged before.")
@click.option("--checker", help="Another checker: tdvrptw, vrptw, cvrp, mip, command:PROGRAM, python:MODULE:FUNCTION.")
@options.place
@options.as_json
def command(study: str, again: bool, checker: str | None, on: str | None, as_json: bool) -> int:
    """Check every captured candidate against the original problem and store the verdicts.

    A candidate on which the checker fails stays unchecked, and the next call asks again. Verdicts of two checkers, or
    of two versions of one, are kept apart: those of the contract's checker count, and `--checker` of the commands that
    score counts another. With --on, runs are judged there, several at a time; every worker sees the study directory.

    Example: gapline check my-study --again
    """
    import shlex
    from contextlib import nullcontext
    from pathlib import Path

    from gapline.journal.strays import find_strays, stray_note
    from gapline.model.contract import load_contract
    from gapline.model.text import printable
    from gapline.run.check_run import check_study
    from gapline.run.progress import task_progress

    with task_progress("runs judged") if on else nullcontext(lambda _done, _all: None) as progress:
        results = check_study(
            study, again=again, checker=checker, on=on, say=lambda text: say(text, err=True), progress=progress
        )
    counts: dict[str, Counter[str]] = {}
    for result in sorted(results, key=lambda result: result.key.arm):
        found = {name: getattr(result, name) for name in ("candidates", "valid", "invalid", "unchecked")}
        counts.setdefault(result.key.arm, Counter()).update(found)
    unchecked = sum(count["unchecked"] for count in counts.values())
    problems = [problem for result in results for problem in result.problems]
    fresh = sum(result.fresh for result in results)
    strays = find_strays(Path(study))
    if as_json:
        document = {"runs": len(results), "fresh": fresh, "arms": counts, "problems": problems, "strays": strays}
        options.print_json(document)
        return 1 if unchecked else 0
    # As printed: an escaped name is longer than it is.
    width = max([3, *(len(printable(arm)) for arm in counts)])
    say(f"{'arm':<{width}}  candidates   valid  invalid  unchecked")
    for arm, count in counts.items():
        numbers = "{candidates:>10}  {valid:>6}  {invalid:>7}  {unchecked:>9}".format(**count)
        say(f"{printable(arm):<{width}}  {numbers}")
    options.print_lines("problem: ", problems, err=True)
    if strays:
        say(f"note: {stray_note(strays)}")
    say(f"{fresh} of {len(results)} runs judged now, the others before")
    if checker is not None and checker != load_contract(study).objective.checker:
        say(f"the contract's checker counts; to count these verdicts: --checker {shlex.quote(checker)}")
    if unchecked:
        say(f"{unchecked} candidates are unchecked: the study is incomplete until gapline check {study} reaches them")
    return 1 if unchecked else 0
