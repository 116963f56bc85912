"""The figure of mean and attainment curves: its data first, its drawing second."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.report.drawing import arm_scales, load_altair, style
from gapline.score.attainment import AttainmentCurves
from gapline.score.curve import MeanCurves

# More breakpoints than a screen has pixels do not show; the exact curve is in the CSV.
MOST_POINTS = 2000


@dataclass(frozen=True, slots=True)
class CurveFigure:
    """What a figure of step curves shows: columns series, time, value (+ low, high), a title and a caption."""

    data: pl.DataFrame
    title: str
    caption: str
    time_title: str
    value_title: str
    bands: pl.DataFrame | None = None


def mean_curve_figure(curves: MeanCurves, bands: pl.DataFrame | None = None) -> CurveFigure:
    """Return the data of the mean convergence figure."""
    return CurveFigure(
        data=_series(curves.frame, curves.by, _ends(curves)),
        title="Mean convergence: smaller is better",
        caption=curves.caption(),
        time_title="time t/Γ" if curves.relative else "time (s)",
        value_title=f"mean {curves.kernel} gap",
        bands=None if bands is None else _named(bands, curves.by),
    )


def attainment_figure(curves: AttainmentCurves, *, end: float, bands: pl.DataFrame | None = None) -> CurveFigure:
    """Return the data of the goal-attainment figure; one series per group and goal."""
    by = (*curves.by, "goal") if len(curves.goals) > 1 else curves.by
    goals = ", ".join(f"{100 * goal:g} %" for goal in curves.goals)
    return CurveFigure(
        data=_series(curves.frame, by, end),
        title=f"Goal attainment: runs within {goals} of the reference, larger is better",
        caption=curves.caption(),
        time_title="time t/Γ" if curves.relative else "time (s)",
        value_title="share of runs",
        bands=None if bands is None else _named(bands, curves.by),
    )


def draw_curves(figure: CurveFigure, *, width: int = 620, height: int = 320) -> Any:
    """Draw step curves, with bands where the figure has them."""
    alt = load_altair()
    names = sorted(figure.data["series"].unique().to_list())
    colour, dash = arm_scales(names)
    x = alt.X("time:Q", title=figure.time_title, scale=alt.Scale(nice=False))
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=3)
    lines = (
        alt.Chart(figure.data)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y("value:Q", title=figure.value_title, axis=alt.Axis(tickCount=6)),
            color=alt.Color("series:N", scale=colour, title=None, legend=legend),
            strokeDash=alt.StrokeDash("series:N", scale=dash, title=None, legend=legend),
            tooltip=[alt.Tooltip("series:N"), alt.Tooltip("time:Q"), alt.Tooltip("value:Q", format=".6f")],
        )
    )
    layers = [lines]
    if figure.bands is not None:
        band = (
            alt.Chart(figure.bands)
            .mark_area(interpolate="step-after", opacity=0.15)
            .encode(x=x, y="low:Q", y2="high:Q", fill=alt.Fill("series:N", scale=colour, legend=None))
        )
        layers = [band, lines]
    title = alt.TitleParams(figure.title, subtitle=_folded(figure.caption))
    return style(alt.layer(*layers).properties(width=width, height=height, title=title))


def _folded(text: str, most: int = 115) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) + 1 > most:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def _ends(curves: MeanCurves) -> float:
    return max(curves.horizons.values(), default=0.0)


def _named(frame: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    series = pl.concat_str([pl.col(name).cast(pl.String) for name in by], separator=" · ") if by else pl.lit("all")
    return frame.with_columns(series=series).drop(by)


def _series(frame: pl.DataFrame, by: tuple[str, ...], end: float) -> pl.DataFrame:
    """Name the series, thin what no screen can show, and hold the last value to the end."""
    pieces = []
    for part in _named(frame, by).partition_by("series", maintain_order=True):
        stride = max(1, part.height // MOST_POINTS)
        kept = part.gather_every(stride)
        last = part.tail(1).with_columns(time=pl.lit(end))
        pieces.append(pl.concat([kept, last]).select("series", "time", "value"))
    return pl.concat(pieces)
