"""The two gap scales: figure scale-conversion, figure gap-shapes and the table of landmarks."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gapline.report.drawing import Figure, alt, line_look, small_title, titled
from gapline.report.table import Column, Table, one_part
from gapline.scoring.convert import SCALE_KERNELS, scale_table, score_of_raw_gap
from gapline.scoring.kernels import parse_kernel, squeezed_gap

RULER = (-0.5, -0.2, -0.1, 0.0, 0.1, 0.2, 0.5, 1.0, 2.0)


class ScaleFigure(NamedTuple):
    """`curve`: raw, squeezed, tangent; `landmarks` and `ruler`: raw, squeezed, text."""

    curve: pl.DataFrame
    landmarks: pl.DataFrame
    ruler: pl.DataFrame


def scale_figure() -> ScaleFigure:
    """Return the exact conversion, its tangent, the landmarks ±1/3 and the marks of the ruler."""
    raw = np.linspace(-0.9, 3.0, 196)
    curve = pl.DataFrame({"raw": raw, "squeezed": squeezed_gap(1.0 + raw, 1.0), "tangent": raw / 2})
    landmarks = [(1.0, score_of_raw_gap(1.0), "ρ(2z*) = +1/3"), (-0.5, score_of_raw_gap(-0.5), "ρ(z*/2) = −1/3")]
    ruler = [(g, score_of_raw_gap(g), _signed(g, 0)) for g in RULER]
    schema = {"raw": pl.Float64, "squeezed": pl.Float64, "text": pl.String}
    return ScaleFigure(
        curve, pl.DataFrame(landmarks, schema=schema, orient="row"), pl.DataFrame(ruler, schema=schema, orient="row")
    )


def draw_scale(figure: ScaleFigure) -> Any:
    """Draw the conversion next to the dual ruler."""
    return titled(
        alt.hconcat(_conversion(figure), _ruler(figure), spacing=40),
        "Raw and squeezed gap",
        "The squeezed scale is half the raw one near the reference and compresses large gaps; shaded, the "
        "departure from the tangent",
        width=800,
    )


def _conversion(figure: ScaleFigure) -> Any:
    kinds = ["exact: ρ = g / (g + 2)", "tangent: g / 2"]
    lines = figure.curve.rename({"squeezed": kinds[0], "tangent": kinds[1]})
    lines = lines.unpivot(kinds, index="raw", variable_name="line", value_name="gap")
    x = alt.X("raw:Q", title="raw gap g = (z − z*) / z*").axis(format="%", tickCount=8).scale(nice=False)
    y = alt.Y("gap:Q", title="squeezed gap ρ", scale=alt.Scale(domain=[-1, 1]))
    band = alt.Chart(figure.curve).mark_area(color="#bbb", opacity=0.35, clip=True)
    band = band.encode(x=x, y=alt.Y("squeezed:Q", title="squeezed gap ρ"), y2="tangent:Q")
    curves = alt.Chart(lines).mark_line(strokeWidth=2, clip=True).encode(x=x, y=y, **line_look("line", kinds))
    points = alt.Chart(figure.landmarks).encode(x="raw:Q", y="squeezed:Q")
    marks = points.mark_point(shape="diamond", filled=True, size=110, color="#000", opacity=1)
    words = points.mark_text(align="left", dx=10, dy=12, fontSize=11).encode(text="text:N")
    chart = alt.layer(band, curves, marks, words)
    return chart.properties(width=400, height=300, title=small_title("(a) conversion"))


def _ruler(figure: ScaleFigure) -> Any:
    # All layers of the ruler turn their axes off: Vega-Lite fails if layers disagree.
    place = alt.X("squeezed:Q", axis=None, scale=alt.Scale(domain=[-0.4, 0.55]))
    level = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.9, 0.9]))
    words = pl.Series([_signed(value, 2) for value in figure.ruler["squeezed"]], dtype=pl.String)
    ruler = alt.Chart(figure.ruler.with_columns(y=pl.lit(0.0), word=words)).encode(x=place, y=level)
    ends = alt.Data(values=[{"squeezed": -0.4, "y": 0}, {"squeezed": 0.55, "y": 0}])
    base = alt.Chart(ends).mark_line(color="#000", strokeWidth=2).encode(x=place, y=level)
    ticks = ruler.mark_tick(orient="vertical", size=18, thickness=2, color="#000")
    upper = ruler.mark_text(dx=16, angle=270, align="left", fontSize=11, color="#D55E00").encode(text="text:N")
    lower = ruler.mark_text(dx=-16, angle=270, align="right", fontSize=11, color="#0072B2").encode(text="word:N")
    labels = [{"squeezed": -0.4, "y": y, "t": t} for y, t in ((0.6, "raw gap g"), (-0.6, "squeezed gap ρ"))]
    names = alt.Chart(alt.Data(values=labels)).mark_text(align="left", fontSize=12, fontWeight="bold")
    names = names.encode(x=place, y=level, text="t:N")
    chart = alt.layer(base, ticks, upper, lower, names)
    return chart.properties(width=360, height=300, title=small_title("(b) one dual ruler"))


def shape_figure() -> Figure:
    """Return columns kernel, ratio (z/z*), gap; thresholds have points on both sides of their step."""
    parts = []
    for name in SCALE_KERNELS:
        kernel = parse_kernel(name)
        ratio = np.linspace(0.05, 3.0, 591)
        if kernel.parameter:
            # The last ratio below the threshold, and the threshold: then the jump is vertical, not a slope.
            ratio = np.sort(np.append(ratio, [np.nextafter(kernel.parameter, 0), kernel.parameter]))
        gap = kernel(ratio, np.ones(len(ratio)))
        parts.append(pl.DataFrame({"kernel": [name] * len(ratio), "ratio": ratio, "gap": gap}))
    return Figure(
        data=pl.concat(parts),
        title="Instantaneous gaps of the compared kernels",
        caption=(
            "squeezed and maxform are bounded and signed; maxform equals berthold above the reference and raw below "
            "it; the DIMACS thresholds are flat above θ z*, where an improving run looks like an empty one"
        ),
    )


def kernel_look(field: str) -> dict[str, Any]:
    """Return the encodings that distinguish the kernels; different widths keep coinciding lines visible."""
    scale = alt.Scale(domain=list(SCALE_KERNELS), range=[3.5, 3.5, 2, 2, 2, 1.5])
    look = line_look(field, list(SCALE_KERNELS), width=800)
    return look | {"strokeWidth": alt.StrokeWidth(f"{field}:N", scale=scale, legend=None)}


def draw_shapes(figure: Figure) -> Any:
    """Draw the kernels."""
    x = alt.X("ratio:Q", title="objective ratio z / z*", scale=alt.Scale(domain=[0, 3]))
    y = alt.Y("gap:Q", title="instantaneous gap", scale=alt.Scale(domain=[-1, 1.25]))
    lines = alt.Chart(figure.data).mark_line(clip=True).encode(x=x, y=y, **kernel_look("kernel"))
    marks = alt.Chart(alt.Data(values=[{"x": 1, "y": 0}])).mark_rule(color="#888", strokeDash=[3, 3])
    chart = alt.layer(marks.encode(x="x:Q"), marks.encode(y="y:Q"), lines).properties(width=620, height=360)
    return titled(chart, figure.title, figure.caption)


def landmark_table() -> Table:
    """Return the paper's landmarks on the two scales."""
    frame = scale_table(kernels=["squeezed"]).select(raw="raw_gap", squeezed="score")
    rows = [[_percent(raw, 0), _percent(gap, 2)] for raw, gap in frame.iter_rows()]
    return Table(
        name="scale-landmarks",
        caption="Conversion between raw excess gaps and squeezed gaps",
        columns=(Column("raw gap g", "Raw gap $g$"), Column("squeezed gap ρ", r"Squeezed gap $\varrho$")),
        parts=one_part(rows),
        frame=frame,
    )


def _percent(value: float, digits: int) -> str:
    return "0" if value == 0 else f"{100 * value:.{digits}f}%"


def _signed(value: float, digits: int) -> str:
    return "0" if value == 0 else f"{100 * value:+.{digits}f} %".replace("-", "−")
