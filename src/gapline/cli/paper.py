"""`gapline paper`: the paper's figures and computable tables."""

from typing import Any

import rich_click as click

from gapline.cli import options


@click.command("paper")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]")
@options.filters
@options.references
@options.acceptance
@click.option("-o", "--output", type=click.Path(file_okay=False), required=True, help="Directory to write to.")
@click.option("--tier2", "tier_two", multiple=True, metavar="ARM", help="Arm that is descriptive (repeatable).")
@click.option("--title", default=None, help="What captions call the study.")
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["svg", "png", "pdf"]),
    help="Formats of the figures (repeatable; default: all three).",
)
@options.as_json
def command(
    sources: tuple[str, ...],
    output: str,
    tier_two: tuple[str, ...],
    title: str | None,
    formats: tuple[str, ...],
    as_json: bool,
    **choices: Any,
) -> None:
    """Draw the paper's figures again and compute its tables.

    Figures that need a campaign show the study that is given; without one, a small campaign that gapline makes itself,
    and the captions say so.

    Example: gapline paper -o paper
    """
    import json

    from gapline.cli.report_input import read_report_input
    from gapline.paper.write import write_paper
    from gapline.report.drawing import FILE_FORMATS

    study = read_report_input(sources, {"title": title}, choices) if sources else None
    written = write_paper(output, study, tier_two=tier_two, formats=formats or FILE_FORMATS)
    if as_json:
        click.echo(json.dumps({"files": [str(path) for path in written]}, indent=1, ensure_ascii=False))
    else:
        figures = len({path.stem for path in written if path.parent.name == "figures"})
        tables = len({path.stem for path in written if path.parent.name == "tables"})
        click.echo(f"wrote {figures} figures to {output}/figures and {tables} tables to {output}/tables")
