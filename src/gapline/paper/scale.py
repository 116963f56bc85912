"""The two gap scales: figure scale-conversion, figure gap-shapes and the table of landmarks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gapline.report.drawing import COLOURS, DASHES, load_altair, titled
from gapline.report.table import Column, Table, Text, one_part
from gapline.scoring.kernels import parse_kernel, squeezed_gap

LANDMARKS = (-0.5, -0.1, -0.05, 0.0, 0.05, 0.1, 1.0)
RULER = (-0.5, -0.2, -0.1, 0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2", "raw")


def squeeze(raw: float) -> float:
    """Return the squeezed gap g / (g + 2) of a raw gap.

    >>> round(squeeze(0.05), 4), round(squeeze(-0.5), 4)
    (0.0244, -0.3333)
    """
    return float(squeezed_gap(1.0 + raw, 1.0))


@dataclass(frozen=True, slots=True)
class ScaleFigure:
    """`curve`: raw, squeezed, tangent; `landmarks` and `ruler`: raw, squeezed, text."""

    curve: pl.DataFrame
    landmarks: pl.DataFrame
    ruler: pl.DataFrame


def scale_figure() -> ScaleFigure:
    """Return the exact conversion, its tangent, the landmarks ±1/3 and the marks of the ruler."""
    raw = np.linspace(-0.9, 3.0, 196)
    curve = pl.DataFrame({"raw": raw, "squeezed": squeezed_gap(1.0 + raw, 1.0), "tangent": raw / 2})
    landmarks = [(1.0, squeeze(1.0), "ρ(2z*) = +1/3"), (-0.5, squeeze(-0.5), "ρ(z*/2) = −1/3")]
    ruler = [(g, squeeze(g), _signed(g, 0)) for g in RULER]
    schema = {"raw": pl.Float64, "squeezed": pl.Float64, "text": pl.String}
    return ScaleFigure(
        curve, pl.DataFrame(landmarks, schema=schema, orient="row"), pl.DataFrame(ruler, schema=schema, orient="row")
    )


def draw_scale(figure: ScaleFigure) -> Any:
    """Draw the conversion beside the dual ruler."""
    alt = load_altair()
    kinds = ["exact: ρ = g / (g + 2)", "tangent: g / 2"]
    lines = figure.curve.rename({"squeezed": kinds[0], "tangent": kinds[1]}).unpivot(
        kinds, index="raw", variable_name="line", value_name="gap"
    )
    x = alt.X(
        "raw:Q", title="raw gap g = (z − z*) / z*", axis=alt.Axis(format="%", tickCount=8), scale=alt.Scale(nice=False)
    )
    y = alt.Y("gap:Q", title="squeezed gap ρ", scale=alt.Scale(domain=[-1, 1]))
    band = (
        alt.Chart(figure.curve)
        .mark_area(color="#bbb", opacity=0.35, clip=True)
        .encode(x=x, y=alt.Y("squeezed:Q", title="squeezed gap ρ"), y2="tangent:Q")
    )
    curves = (
        alt.Chart(lines)
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "line:N",
                sort=kinds,
                scale=alt.Scale(domain=kinds, range=["#0072B2", "#D55E00"]),
                legend=alt.Legend(orient="bottom", title=None, symbolType="stroke", symbolStrokeWidth=3),
            ),
            strokeDash=alt.StrokeDash(
                "line:N",
                sort=kinds,
                scale=alt.Scale(domain=kinds, range=[[1, 0], [6, 3]]),
                legend=alt.Legend(orient="bottom", title=None),
            ),
        )
    )
    points = alt.Chart(figure.landmarks).encode(x="raw:Q", y="squeezed:Q")
    marks = points.mark_point(shape="diamond", filled=True, size=110, color="#000", opacity=1)
    words = points.mark_text(align="left", dx=10, dy=12, fontSize=11).encode(text="text:N")
    left = alt.layer(band, curves, marks, words).properties(width=400, height=300, title=_small("(a) conversion"))
    # Every layer of the ruler has its axes off: Vega-Lite fails on layers that disagree about it.
    place = alt.X("squeezed:Q", axis=None, scale=alt.Scale(domain=[-0.4, 0.55]))
    level = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.9, 0.9]))
    marks_of_ruler = figure.ruler.with_columns(
        y=pl.lit(0.0), word=pl.Series([_signed(value, 2) for value in figure.ruler["squeezed"]], dtype=pl.String)
    )
    ruler = alt.Chart(marks_of_ruler).encode(x=place, y=level)
    ends = alt.Data(values=[{"squeezed": -0.4, "y": 0}, {"squeezed": 0.55, "y": 0}])
    base = alt.Chart(ends).mark_line(color="#000", strokeWidth=2).encode(x=place, y=level)
    ticks = ruler.mark_tick(orient="vertical", size=18, thickness=2, color="#000")
    upper = ruler.mark_text(dx=16, angle=270, align="left", fontSize=11, color="#D55E00").encode(text="text:N")
    lower = ruler.mark_text(dx=-16, angle=270, align="right", fontSize=11, color="#0072B2").encode(text="word:N")
    words_of_ruler = [
        {"squeezed": -0.4, "y": 0.6, "t": "raw gap g"},
        {"squeezed": -0.4, "y": -0.6, "t": "squeezed gap ρ"},
    ]
    names = alt.Chart(alt.Data(values=words_of_ruler)).mark_text(align="left", fontSize=12, fontWeight="bold")
    names = names.encode(x=place, y=level, text="t:N")
    right = alt.layer(base, ticks, upper, lower, names).properties(
        width=360, height=300, title=_small("(b) one dual ruler")
    )
    return titled(
        alt.hconcat(left, right, spacing=40),
        "Raw and squeezed gap",
        "The squeezed scale is half the raw one near the reference and compresses large gaps; shaded, the "
        "departure from the tangent",
        width=800,
    )


@dataclass(frozen=True, slots=True)
class ShapeFigure:
    """Columns kernel, ratio (z/z*), gap."""

    data: pl.DataFrame


def shape_figure() -> ShapeFigure:
    """Return every kernel over the ratio; thresholds have both sides of their step."""
    parts = []
    for name in KERNELS:
        kernel = parse_kernel(name)
        ratio = np.linspace(0.05, 3.0, 591)
        if kernel.parameter:
            ratio = np.sort(np.append(ratio, [np.nextafter(kernel.parameter, 0), kernel.parameter]))
        parts.append(
            pl.DataFrame({"kernel": [name] * len(ratio), "ratio": ratio, "gap": kernel(ratio, np.ones(len(ratio)))})
        )
    return ShapeFigure(pl.concat(parts))


def draw_shapes(figure: ShapeFigure) -> Any:
    """Draw the kernels; widths and dashes keep coinciding ones apart."""
    alt = load_altair()
    names = list(KERNELS)
    legend = alt.Legend(orient="bottom", title=None, symbolType="stroke", symbolStrokeWidth=3, columns=6)
    widths = [3.5, 3.5, 2, 2, 2, 1.5]
    chart = (
        alt.Chart(figure.data)
        .mark_line(clip=True)
        .encode(
            x=alt.X("ratio:Q", title="objective ratio z / z*", scale=alt.Scale(domain=[0, 3])),
            y=alt.Y("gap:Q", title="instantaneous gap", scale=alt.Scale(domain=[-1, 1.25])),
            color=alt.Color(
                "kernel:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS[:6])), legend=legend
            ),
            strokeDash=alt.StrokeDash(
                "kernel:N", sort=names, scale=alt.Scale(domain=names, range=list(DASHES[:6])), legend=legend
            ),
            strokeWidth=alt.StrokeWidth(
                "kernel:N", sort=names, scale=alt.Scale(domain=names, range=widths), legend=None
            ),
        )
    )
    rules = alt.layer(
        alt.Chart(alt.Data(values=[{"x": 1}])).mark_rule(color="#888", strokeDash=[3, 3]).encode(x="x:Q"),
        alt.Chart(alt.Data(values=[{"y": 0}])).mark_rule(color="#888", strokeDash=[3, 3]).encode(y="y:Q"),
    )
    return titled(
        alt.layer(rules, chart).properties(width=620, height=360),
        "Instantaneous gaps of the compared kernels",
        "squeezed and maxform are bounded and signed; maxform equals berthold above the reference and raw below "
        "it; the DIMACS thresholds are flat above θ z*, where an improving run looks like an empty one",
    )


def landmark_table() -> Table:
    """Return the paper's landmarks on the two scales."""
    frame = pl.DataFrame({"raw": LANDMARKS, "squeezed": [squeeze(raw) for raw in LANDMARKS]})
    rows = [[Text(_percent(raw, 0)), Text(_percent(gap, 2))] for raw, gap in frame.iter_rows()]
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


def _small(text: str) -> Any:
    return load_altair().TitleParams(text, fontSize=12, fontWeight="normal", anchor="start")
