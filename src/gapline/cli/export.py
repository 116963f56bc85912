"""`gapline export`: campaigns as neutral trace files."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.model.text import counted
from gapline.terminal import say

if TYPE_CHECKING:
    from gapline.model.campaign import Campaign
    from gapline.model.diagnostics import Diagnostics

SHOWN_PROBLEMS = 10


@click.command("export")
@options.sources
@options.filters
@click.option("-o", "--output", required=True, type=click.Path(), help="File to write: .csv, .jsonl or .parquet.")
@click.option(
    "--format", "form", type=click.Choice(["csv", "jsonl", "parquet"]), help="Where the name does not say it."
)
def command(sources: tuple[str, ...], output: str, form: str | None, **filters: Any) -> None:
    """Write campaigns or studies as one neutral trace file.

    Example: gapline export campaign/ -o traces.csv
    """
    from pathlib import Path

    from gapline.capture.export import not_in_a_trace, write_trace

    campaign, lines = read_and_count(sources, filters)
    write_trace(campaign, Path(output), form=form)
    say(f"wrote {output}: {len(campaign):,} runs, {campaign.candidates:,} events")
    options.print_lines("", (*lines, *not_in_a_trace(campaign)))


def read_and_count(sources: tuple[str, ...], filters: dict[str, Any]) -> "tuple[Campaign, list[str]]":
    """Read and filter the runs, and say in lines what of the sources is not among them."""
    from gapline.capture.read import read

    whole = read(list(sources))
    campaign = whole.filter(**filters)
    lines = []
    if left := len(whole) - len(campaign):
        lines.append(f"left out by the filters: {counted(left, 'run')} of {len(whole):,}")
    if number := whole.diagnostics.problem_count:
        lines += [f"{counted(number, 'cell')} could not be used:", *first_problems(whole.diagnostics)]
    return campaign, lines


def first_problems(read: "Diagnostics") -> list[str]:
    """Return the first problems of what was read, indented, and how many more there are."""
    left = read.problem_count - SHOWN_PROBLEMS
    more = [f"  and {left:,} more"] if left > 0 else []
    return [*(f"  {problem}" for problem in read.problems[:SHOWN_PROBLEMS]), *more]
