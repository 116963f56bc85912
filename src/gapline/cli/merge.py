"""`gapline merge`: campaigns with disjoint runs into one."""

from typing import Any

import rich_click as click

from gapline.cli import options
from gapline.cli.export import read_and_count
from gapline.terminal import say


@click.command("merge")
@options.sources
@options.filters
@click.option("-o", "--output", required=True, type=click.Path(), help="Campaign directory to write.")
def command(sources: tuple[str, ...], output: str, **filters: Any) -> None:
    """Merge traces, campaigns or studies with disjoint runs; clashes are listed and refused.

    Example: gapline merge monday/ tuesday/ -o both/
    """
    campaign, lines = read_and_count(sources, filters)
    campaign.save(output)
    say(f"wrote {output}: {len(campaign):,} runs, {campaign.candidates:,} events, {campaign.digest()}")
    options.print_lines("", (*campaign.diagnostics.lines(), *lines))
