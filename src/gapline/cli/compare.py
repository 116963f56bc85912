"""`gapline compare`: is the second arm better, worse, or is no difference shown."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapline.report.writers.junit import Case

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


@click.command("compare")
@click.argument("first", metavar="SOURCE[:ARM]")
@click.argument("second", metavar="SOURCE[:ARM]")
@options.choices
@click.option(
    "--fail-if-worse",
    type=click.FloatRange(min=0),
    metavar="X",
    help="Exit 1 when shown to be worse by more than X score units, or when runs are missing.",
)
@click.option(
    "--fail-unless-non-inferior",
    type=click.FloatRange(min=0, min_open=True),
    metavar="X",
    help="Exit 1 unless shown to be worse by less than X.",
)
@click.option(
    "--fail-unless-superior",
    type=click.FloatRange(min=0),
    metavar="X",
    help="Exit 1 unless shown to be better by more than X (0: better at all).",
)
@click.option(
    "--gate-error",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="In how many comparisons the gate may be wrong about an arm at the limit.",
)
@click.option(
    "--suggest",
    is_flag=True,
    help="Say which limit a gate on runs like these can hold, what it finds, and the smallest difference they show.",
)
@click.option("--allow-missing", is_flag=True, help="Judge what is there, although runs are missing on one side.")
@click.option(
    "--markdown",
    metavar="FILE|-",
    help="Write Markdown for a pull request, and append it to $GITHUB_STEP_SUMMARY where that is set.",
)
@click.option("--junit", metavar="FILE", help="Write JUnit XML: the gate, and alarms, as test cases.")
@options.as_json
def command(
    first: str,
    second: str,
    markdown: str | None,
    junit: str | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Compare two arms of one source, or one arm in two sources, paired by instance against one reference.

    The difference is second minus first in score units; smaller scores are better. Snapshots, horizons or checkers that
    differ are refused. A gate says how often it errs and what it finds, simulated on the given runs.

    Example: gapline compare baseline.zip 'traces/*.jsonl' --fail-if-worse 0.005 --markdown comparison.md
    """
    from gapline.analysis.judged import judge_pair
    from gapline.errors import GaplineError, UsageError
    from gapline.report.judged import judged_cases, judged_lines, refused_cases
    from gapline.report.printing import print_comparison
    from gapline.report.pull_request import refused_pull_request, to_pull_request

    if as_json and markdown == "-":
        raise UsageError("compare: expected --json or --markdown - on the standard output, got both")
    try:
        judged = judge_pair(first, second, **asked)
    except GaplineError as error:
        # Who reads the pull request or the list of tests has to see why there is no verdict.
        _write_markdown(markdown, refused_pull_request(first, second, error))
        _write_junit(junit, refused_cases(first, second, error))
        raise
    if as_json:
        options.print_json(judged.document())
    elif markdown != "-":
        print_comparison(judged.comparison)
        options.print_lines("", judged_lines(judged))
    _write_markdown(markdown, to_pull_request(judged))
    _write_junit(junit, judged_cases(judged))
    return 1 if judged.failed else 0


def _write_markdown(place: str | None, text: str) -> None:
    """Write the Markdown to a file or the standard output, and to the summary of a workflow that has one."""
    import os
    from pathlib import Path

    if place is None:
        return
    if place == "-":
        say(text.rstrip("\n"))
    else:
        _write(place, text.encode())
    if summary := os.environ.get(STEP_SUMMARY):
        # Appended, as GitHub asks for it: other steps write to the same file.
        with Path(summary).open("ab") as stream:
            stream.write(f"{text}\n".encode())
        say(f"appended to ${STEP_SUMMARY}", err=True)


def _write_junit(place: str | None, cases: "Sequence[Case]") -> None:
    from gapline.report.writers.junit import to_junit

    if place is not None:
        _write(place, to_junit("gapline compare", cases))


def _write(place: str, content: bytes) -> None:
    from pathlib import Path

    from gapline.model.writing import refuse_no_file, write_atomically

    refuse_no_file(Path(place))
    write_atomically(Path(place), lambda stream: stream.write(content))
    # On the error stream: the standard output may be one document.
    say(f"wrote {place}", err=True)
