"""`gapline curve`: mean convergence, goal attainment and the classical curves over time."""

from typing import TYPE_CHECKING, Any, Literal

import rich_click as click

from gapline.cli import completion, options
from gapline.cli.command import Command
from gapline.terminal import say, say_words

if TYPE_CHECKING:
    from gapline.report.canvas import Canvas


MOST_POINTS = 10_000_000
Points = int | tuple[float, ...] | Literal["all"]


def read_points(context: click.Context, parameter: click.Parameter, value: str | None) -> Points | None:
    """Read a number of moments, times with commas between them, or `all`."""
    if value is None or value == "all":
        return value  # type: ignore[return-value] # mypy widens the literal
    try:
        found: Points = tuple(map(float, value.split(","))) if "," in value else int(value)
    except ValueError:
        found = 0
    if isinstance(found, int) and not 2 <= found <= MOST_POINTS:
        expected = f"a number of moments from 2 to {MOST_POINTS:,}, times such as 1,10,100, or all"
        raise click.BadParameter(f"expected {expected}, got {value!r:.60}", context, parameter)
    return found


@click.command(
    "curve", cls=Command, more=("by", "relative", "bands", "width", "no_title", "captions", "font_size", "grey")
)
@options.one_reference
@options.place
@click.option(
    "--kind",
    type=click.Choice(["mean", "target-ecdf", "eaf", "eaf-difference"]),
    default="mean",
    show_default=True,
    metavar="KIND",
    help="mean (and goal attainment), target-ecdf (over a grid of goals), eaf (attainment surfaces) or eaf-difference "
    "(where those of two arms differ).",
)
@click.option(
    "--pair",
    nargs=2,
    metavar="A B",
    shell_complete=completion.names("arm"),
    help="Arms of --kind eaf-difference (default: the first contrast).",
)
@click.option(
    "--by",
    multiple=True,
    shell_complete=completion.words(*completion.COLUMNS),
    help="Columns that make the curves (repeatable; default: arm).",
)
@click.option("--relative", is_flag=True, help="Relative time t/Γ, needed where horizons differ.")
@click.option(
    "--points",
    callback=read_points,
    metavar="N|T,T|all",
    shell_complete=completion.words("all"),
    help="The exact mean at so many moments at equal distances, at these times, or at every step however many.",
)
@options.log_time
@click.option("--bands", is_flag=True, help="Add bands over instances; with --simultaneous joint ones too.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(),
    help="File to write (repeatable): .csv and .json hold the numbers, .svg, .png and .pdf the drawing.",
)
@options.figures
@options.as_json
def command(
    sources: tuple[str, ...],
    kind: str,
    pair: tuple[str, str] | None,
    by: tuple[str, ...],
    relative: bool,
    points: Points | None,
    log_time: bool,
    bands: bool,
    outputs: tuple[str, ...],
    as_json: bool,
    canvas: "Canvas",
    **choices: Any,
) -> int:
    """Write or draw the mean convergence and goal-attainment curves of the first kernel, or one of the classical kinds.

    A mean curve has no time weight: the area under it is the score under the uniform one. Target ECDF and attainment
    surfaces (EAF) are of raw gaps, by arm. Without -o the curves are plotted on the terminal. Logarithmic time begins
    at the first step of all, at most four decades before the end; the numbers of .csv and .json are from time 0 on.
    Curves with more than two million steps are shown at some 2,000 moments unless --points says otherwise; --points all
    writes every step, to .csv in bounded memory.

    Example: gapline curve traces.csv --references refs.csv --horizon 30 -o curves.csv -o curves.svg
    """
    from pathlib import Path

    from gapline.errors import UsageError
    from gapline.report import classical_curves as classical
    from gapline.report import curves as report
    from gapline.report.facts import heading

    study = options.open_on(sources, **choices)
    if len(study.references) > 1:
        raise UsageError(
            f"curve: expected one reference, got {len(study.references)}", hint="draw one curve per snapshot"
        )
    if pair and kind != "eaf-difference":
        raise UsageError(f"--pair: expected with --kind eaf-difference, got --kind {kind}")
    if log_time and kind == "eaf-difference":
        raise UsageError("--kind eaf-difference: expected without --log-time", hint="its map is on linear time")
    if kind != "mean" and (by or bands or relative or points):
        raise UsageError(
            f"--kind {kind}: expected neither --by nor --bands nor --relative nor --points",
            hint="these curves are by arm, and on relative time where horizons differ",
        )
    found: report.CurvePair | classical.ClassicalCurve
    if kind == "mean":
        groups = list(by or ("arm",))
        found = report.study_curves(study, by=groups, relative=relative, bands=bands, log_time=log_time, points=points)
    else:
        found = classical.classical_curve(study, kind, pair, log_time=log_time)
    for output in outputs:
        report.write_curves(found, Path(output), canvas=canvas, provenance=heading(study))
        say(f"wrote {output}", err=as_json)
    if isinstance(found, report.CurvePair) and found.no_bands is not None:
        say_words(f"note: {found.no_bands}", err=as_json)
    if as_json:
        return options.answer_json(study, found.document())
    code = options.print_first(study)
    if not outputs:
        found.print()
        options.print_remarks(study)
    return code
