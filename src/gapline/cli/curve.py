"""`gapline curve`: mean convergence and goal attainment over time."""

from typing import Any

import rich_click as click

from gapline.cli import options


@click.command("curve")
@options.study
@click.option("--by", multiple=True, help="Columns that make the curves (repeatable; default: arm).")
@click.option("--relative", is_flag=True, help="Relative time t/Γ, needed where horizons differ.")
@click.option("--bands", is_flag=True, help="Add bands over instances; with --simultaneous joint ones too.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(),
    help="File to write (repeatable): .csv and .json hold the numbers, .svg, .png and .pdf the drawing.",
)
@options.as_json
def command(
    sources: tuple[str, ...],
    by: tuple[str, ...],
    relative: bool,
    bands: bool,
    outputs: tuple[str, ...],
    as_json: bool,
    **choices: Any,
) -> int:
    """Write or draw the mean convergence and goal-attainment curves of the first kernel.

    A curve has no time weight: the area under it is the score under the uniform one. Without -o the curves are plotted
    on the terminal.

    Example: gapline curve traces.csv --references refs.csv --horizon 30 -o curves.csv -o curves.svg
    """
    from pathlib import Path

    from gapline.errors import UsageError
    from gapline.report import curves as report
    from gapline.study import open_study

    study = open_study(*sources, **choices)
    if len(study.references) > 1:
        raise UsageError(
            f"curve: expected one reference, got {len(study.references)}", hint="draw one curve per snapshot"
        )
    pair = report.study_curves(study, by=list(by or ("arm",)), relative=relative, bands=bands)
    for output in outputs:
        report.write_curves(pair, Path(output))
        click.echo(f"wrote {output}", err=as_json)
    if pair.no_bands is not None:
        click.echo(f"note: {pair.no_bands}", err=as_json)
    if as_json:
        options.print_json(report.curve_document(pair) | options.study_document(study))
        return 1 if study.alarms else 0
    if not outputs:
        report.print_curves(pair)
        return options.print_remarks(study)
    return options.print_alarms(study)
