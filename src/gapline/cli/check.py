"""`gapline check`: re-evaluate the captured candidates of a study."""

from collections import Counter
from typing import Any

import rich_click as click

from gapline.cli import completion, options, output
from gapline.cli.command import Command
from gapline.terminal import say, say_words


@click.command("check", cls=Command)
@options.study_directory
@click.option("--again", is_flag=True, help="Judge anew what this version of the checker has judged before.")
@click.option(
    "--checker",
    shell_complete=completion.words(*completion.CHECKERS),
    help="Another checker: tdvrptw, vrptw, cvrp, mip, command:PROGRAM, python:MODULE:FUNCTION.",
)
@options.place
@options.memory
@output.options
def command(*, study: str, again: bool, checker: str | None, on: str | None, out: output.Output) -> int:
    """Check every captured candidate against the original problem and store the verdicts.

    A candidate on which the checker fails stays unchecked, and the next call asks again. Verdicts of two checkers, or
    of two versions of one, are kept apart: those of the contract's checker count, and `--checker` of the commands that
    score counts another. With --on, runs are judged there, several at a time; every worker sees the study directory.

    Example: gapline check my-study --again
    """
    import shlex
    from contextlib import nullcontext
    from pathlib import Path

    import polars as pl

    import gapline as gl
    from gapline.journal.unknown_files import find_strays, stray_note
    from gapline.report.table import frame_table
    from gapline.run.progress import task_progress

    with task_progress("runs judged") if on else nullcontext(lambda _done, _all: None) as progress:
        results = gl.check_study(
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
    document = {"runs": len(results), "fresh": fresh, "arms": counts, "problems": problems, "strays": strays}
    if out.as_json:
        options.print_json(document)
        return 1 if unchecked else 0
    names = ("candidates", "valid", "invalid", "unchecked")
    whole = {name: sum(count[name] for count in counts.values()) for name in names}
    say_words(", ".join([f"{whole['candidates']:,} candidates", *(f"{whole[name]:,} {name}" for name in names[1:])]))
    say_words(f"{fresh} of {len(results)} runs judged now, the others before")
    if unchecked:
        say_words(
            f"{unchecked} candidates are unchecked: the study is incomplete until gapline check {study} reaches them"
        )
    say()
    rows = [{"arm": arm} | {name: count[name] for name in names} for arm, count in counts.items()]
    schema: dict[str, Any] = {"arm": pl.String} | dict.fromkeys(names, pl.Int64)
    table = frame_table("verdicts", "Verdicts by arm", pl.DataFrame(rows, schema=schema))
    out.show([table], lambda: document)
    options.print_lines("problem: ", problems, err=True)
    if strays:
        say_words(f"note: {stray_note(strays)}")
    if checker is not None and checker != gl.load_contract(study).objective.checker:
        say_words(f"the contract's checker counts; to count these verdicts: --checker {shlex.quote(checker)}")
    return 1 if unchecked else 0
