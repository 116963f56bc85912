"""`gapline compare`: is the second arm better, worse, or is no difference shown."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import completion, options, output
from gapline.cli.command import Command
from gapline.cli.output import show_work
from gapline.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapline.report.statements.comparison import Case


@click.command(
    "compare",
    cls=Command,
    more=("fail_unless_non_inferior", "fail_unless_superior", "gate_error", "junit", "all_columns"),
)
@click.argument("first", metavar="SOURCE[:ARM]", shell_complete=completion.source_and_arm)
@click.argument("second", metavar="SOURCE[:ARM]", shell_complete=completion.source_and_arm)
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
@output.options
def command(
    *,
    first: str,
    second: str,
    markdown: str | None,
    junit: str | None,
    out: output.Output,
    **asked: Any,
) -> int:
    """Compare two arms of one source, or one arm in two sources, paired by instance against one reference.

    The difference is second minus first in score units; smaller scores are better. Snapshots, horizons or checkers that
    differ are refused. A gate says how often it errs and what it finds, simulated on the given runs.

    Example: gapline compare baseline.zip 'traces/*.jsonl' --fail-if-worse 0.005 --markdown comparison.md
    """
    from gapline.errors import GaplineError, UsageError
    from gapline.report.statements.comparison import (
        detail_lines,
        judged_cases,
        refused_cases,
        refused_pull_request,
        to_pull_request,
        verdict_lines,
    )
    from gapline.report.tables.contrasts import comparison_table
    from gapline.study.comparison import judge_pair

    if out.as_json and markdown == "-":
        raise UsageError("compare: expected --json or --markdown - on the standard output, got both")
    show_work()
    try:
        judged = judge_pair(first, second, **asked)
    except GaplineError as error:
        # Who reads the pull request or the list of tests has to see why there is no verdict.
        options.write_markdown(markdown, refused_pull_request(first, second, error))
        _write_junit(junit, refused_cases(first, second, error))
        raise
    if out.as_json:
        options.print_json(judged.document())
    elif markdown != "-":
        # The verdict first: who looks for nothing else stops reading there.
        options.print_lines("", verdict_lines(judged))
        say()
        table = [comparison_table(judged.comparison)]
        out.show(table, judged.document)
        options.print_lines("", detail_lines(judged))
    options.write_markdown(markdown, to_pull_request(judged))
    _write_junit(junit, judged_cases(judged))
    return 1 if judged.failed else 0


def _write_junit(place: str | None, cases: "Sequence[Case]") -> None:
    from gapline.report.statements.comparison import to_junit

    if place is not None:
        options.write_output(place, to_junit("gapline compare", cases))
