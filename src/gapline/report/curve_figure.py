"""The figure of mean and attainment curves: its data first, its drawing second."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.report.drawing import arm_legend, arm_scales, load_altair, titled
from gapline.report.numbers import goal_words
from gapline.scoring.attainment import AttainmentCurves
from gapline.scoring.curve import MeanCurves

# More breakpoints than a screen has pixels do not show; the exact curve is in the CSV. Altair takes 5,000 rows.
MOST_POINTS, MOST_ROWS = 2000, 4900


@dataclass(frozen=True, slots=True)
class CurveFigure:
    """What a figure of step curves shows: columns series, time, value (+ low, high), a title and a caption.

    `start` and `end` bound the horizontal axis where they are given; what lies outside is cut off, and the caption
    says so. `shares` sets the vertical axis to 0 to 1.
    """

    data: pl.DataFrame
    title: str
    caption: str
    time_title: str
    value_title: str
    bands: pl.DataFrame | None = None
    log_time: bool = False
    start: float | None = None
    end: float | None = None
    percent_time: bool = False
    shares: bool = False


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
    goals = ", ".join(map(goal_words, curves.goals))
    return CurveFigure(
        data=_series(curves.frame, by, end),
        title=f"Goal attainment: runs within {goals} of the reference, larger is better",
        caption=curves.caption(),
        time_title="time t/Γ" if curves.relative else "time (s)",
        value_title="share of runs",
        shares=True,
        bands=None if bands is None else _named(bands, curves.by),
    )


def draw_curves(figure: CurveFigure, *, width: int = 620, height: int = 320) -> Any:
    """Draw step curves, with bands where the figure has them; the chart composes with others."""
    alt = load_altair()
    names = sorted(figure.data["series"].unique().to_list())
    colour, dash = arm_scales(names)
    x = alt.X("time:Q", title=figure.time_title, scale=_time_scale(figure), axis=_time_axis(figure))
    legend = arm_legend(names, width=width, symbolType="stroke", symbolStrokeWidth=3)
    # Clipping halves a line that runs along the frame, so it is left for figures that really cut something off.
    last = figure.data["time"].max()
    cut = figure.end is not None and isinstance(last, float) and last > figure.end
    values = alt.Scale(domain=[0, 1]) if figure.shares else alt.Scale()
    lines = (
        alt.Chart(figure.data)
        .mark_line(interpolate="step-after", strokeWidth=2, clip=cut)
        .encode(
            x=x,
            y=alt.Y("value:Q", title=figure.value_title, axis=alt.Axis(tickCount=6), scale=values),
            color=alt.Color("series:N", scale=colour, title=None, legend=legend),
            strokeDash=alt.StrokeDash("series:N", scale=dash, title=None, legend=legend),
            tooltip=[alt.Tooltip("series:N"), alt.Tooltip("time:Q"), alt.Tooltip("value:Q", format=".6f")],
        )
    )
    bands = []
    if figure.bands is not None:
        # One layer per series with its colour as a value: an encoded fill would take the legend of the lines away.
        for name, shade in zip(colour.domain, colour.range, strict=True):
            band = alt.Chart(figure.bands.filter(pl.col("series") == name))
            band = band.mark_area(interpolate="step-after", opacity=0.15, color=shade, clip=cut)
            bands.append(band.encode(x=x, y="low:Q", y2="high:Q"))
    chart = alt.layer(*bands, lines).properties(width=width, height=height)
    return titled(chart, figure.title, figure.caption, width=width)


def _time_scale(figure: CurveFigure) -> Any:
    alt = load_altair()
    low = figure.data["time"].min() if figure.start is None else figure.start
    high = figure.data["time"].max() if figure.end is None else figure.end
    bounded = figure.start is not None or figure.end is not None
    domain = [low, high] if bounded and low != high else alt.Undefined
    return alt.Scale(nice=False, type="log" if figure.log_time else "linear", domain=domain)


def _time_axis(figure: CurveFigure) -> Any:
    alt = load_altair()
    if figure.percent_time:
        return alt.Axis(format="~%", tickCount=8)
    return alt.Axis(format="~g", tickCount=6) if figure.log_time else alt.Axis(tickCount=8)


def _ends(curves: MeanCurves) -> float:
    return max(curves.horizons.values(), default=0.0)


def _named(frame: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    series = pl.concat_str([pl.col(name).cast(pl.String) for name in by], separator=" · ") if by else pl.lit("all")
    return frame.with_columns(series=series).drop(by)


def _series(frame: pl.DataFrame, by: tuple[str, ...], end: float) -> pl.DataFrame:
    """Name the series, hold the last value to the end, and thin what no screen can show."""
    pieces = []
    for part in _named(frame, by).partition_by("series", maintain_order=True):
        last = part.tail(1).with_columns(time=pl.lit(end))
        pieces.append(pl.concat([part, last]).select("series", "time", "value"))
    return thinned(pl.concat(pieces))


def thinned(data: pl.DataFrame) -> pl.DataFrame:
    """Leave out breakpoints that no screen can show; the ends of every series stay.

    >>> frame = pl.DataFrame({"series": ["a"] * 6001, "time": range(6001), "value": range(6001)})
    >>> thinned(frame).height, thinned(frame)["time"][-1]
    (1501, 6000)
    """
    parts = data.partition_by("series", maintain_order=True)
    most = max(2, min(MOST_POINTS, MOST_ROWS // max(1, len(parts)) - 1))
    kept = []
    for part in parts:
        stride = -(-part.height // most)
        kept.append(part if stride <= 1 else pl.concat([part[:-1].gather_every(stride), part.tail(1)]))
    return pl.concat(kept) if kept else data
