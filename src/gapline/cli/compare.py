"""`gapline compare`: is the second arm better, worse, or is no difference shown."""

from typing import Any

import rich_click as click

from gapline.cli import options


@click.command("compare")
@click.argument("first", metavar="SOURCE[:ARM]")
@click.argument("second", metavar="SOURCE[:ARM]")
@options.choices
@click.option(
    "--fail-if-worse",
    type=float,
    default=None,
    metavar="X",
    help="Exit 1 when the whole interval says worse by more than X score units, or when runs are missing.",
)
@click.option("--allow-missing", is_flag=True, help="Judge what is there, although runs are missing on one side.")
@options.as_json
def command(
    first: str, second: str, fail_if_worse: float | None, allow_missing: bool, as_json: bool, **choices: Any
) -> int:
    """Compare two arms of one source, or one arm in two sources, paired by instance against one reference.

    The difference is second minus first in score units; smaller scores are better. Snapshots, horizons or checkers that
    differ are refused.

    Example: gapline compare old/campaign new/campaign --snapshot references/2026-08.json --fail-if-worse 0.002
    """
    from gapline.analysis.comparison import compare
    from gapline.model.text import printable
    from gapline.report.printing import print_comparison
    from gapline.report.tables.contrasts import verdict_line

    comparison = compare(first, second, **choices)
    why = None if fail_if_worse is None else comparison.fails(fail_if_worse, allow_missing=allow_missing)
    code = 1 if why is not None or comparison.alarms else 0
    if as_json:
        gate = {"fail_if_worse": fail_if_worse, "failed": why is not None, "failed_because": why}
        options.print_json(comparison.document() | gate)
        return code
    print_comparison(comparison)
    options.print_lines("note: ", comparison.notes)
    if comparison.absent:
        click.echo(f"note: {len(comparison.absent):,} runs are missing on one side")
    click.echo(printable(verdict_line(comparison)))
    if why is not None:
        click.echo(f"failed: {printable(why)}")
    options.print_lines("ALARM ", comparison.alarms)
    return code
