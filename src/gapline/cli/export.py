"""`gapline export`: campaigns as neutral trace files."""

from typing import Any

import rich_click as click

from gapline.cli import options


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

    from gapline.capture.export import write_trace
    from gapline.capture.read import read

    campaign = read(list(sources)).filter(**filters)
    write_trace(campaign, Path(output), form=form)
    click.echo(f"wrote {output}: {len(campaign):,} runs, {campaign.candidates:,} events")
