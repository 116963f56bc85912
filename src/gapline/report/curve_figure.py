"""The figure of mean and attainment curves: its data first, its drawing second."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.report.canvas import log_words, start_at
from gapline.report.drawing import Figure, alt, line_look, step_lines, style, titled
from gapline.report.looks import COLOURS, DASHES, LEADERS, Look, grey_words, leading, looks_of
from gapline.report.numbers import goal_words
from gapline.scoring.attainment import AttainmentCurves
from gapline.scoring.curve import MeanCurves

# A screen cannot show more breakpoints than it has pixels; the CSV has the exact curve. Altair accepts 5,000 rows.
MOST_POINTS, MOST_ROWS = 2000, 4900
# With more runs (curves of shares) or steps (mean curves), the caption states how many breakpoints are drawn.
MANY_RUNS, MANY_STEPS = 100_000, 1_000_000
# The places on a logarithmic axis: as many as it has pixels.
MOST_PLACES = 600


@dataclass(frozen=True, slots=True)
class CurveFigure(Figure):
    """Step curves with columns series, time, value (bands: low, high); `start` and `end` limit the axis.

    If a group has several series, `variants` gives the group of each series and its position there.
    """

    bands: pl.DataFrame | None = None
    log_time: bool = False
    start: float | None = None
    end: float | None = None
    percent_time: bool = False
    shares: bool = False
    variants: Mapping[str, tuple[str, int]] | None = None


# Joint bands are behind the pointwise ones, in a lighter shade.
_BANDS = (("joint_low", "joint_high", 0.08), ("low", "high", 0.15))


def mean_curve_figure(
    curves: MeanCurves, bands: pl.DataFrame | None = None, band_words: str = "", *, start: float | None = None
) -> CurveFigure:
    """Return the data of the mean convergence figure; `band_words` describes the bands in its caption.

    With a `start`, time is logarithmic from there on (`scoring/moments.py`).
    """
    end = max(curves.horizons.values(), default=0.0)
    return CurveFigure(
        title="Mean convergence: smaller is better",
        value_title=f"mean {curves.kernel} gap",
        **_steps(curves, curves.frame, curves.by, end, start, MANY_STEPS, bands, band_words),
    )


def attainment_figure(
    curves: AttainmentCurves,
    *,
    end: float,
    bands: pl.DataFrame | None = None,
    band_words: str = "",
    start: float | None = None,
) -> CurveFigure:
    """Return the data of the goal-attainment figure: one series per group and goal; `start` as for the mean."""
    goals = ", ".join(map(goal_words, curves.goals))
    # A single goal is named in the title, not in the series.
    variants, frame, by = None, curves.frame, curves.by
    if len(curves.goals) > 1:
        by = (*curves.by, "goal")
        variants = _goals_of(curves)
        frame = frame.with_columns(pl.col("goal").replace_strict({g: goal_words(g) for g in curves.goals}))
    return CurveFigure(
        title=f"Goal attainment: runs within {goals} of the reference, larger is better",
        value_title="share of runs",
        shares=True,
        variants=variants,
        **_steps(curves, frame, by, end, start, MANY_RUNS, bands, band_words),
    )


def _steps(
    curves: MeanCurves | AttainmentCurves,
    frame: pl.DataFrame,
    by: tuple[str, ...],
    end: float,
    start: float | None,
    many: int,
    bands: pl.DataFrame | None,
    band_words: str,
) -> dict[str, Any]:
    """Return data, caption, bands and time axis of curves whose series are in the columns `by` of the frame."""
    data = thin_curves(frame, start, by=by, end=end)
    said = f"; {band_words}" if bands is not None and band_words else ""
    said += log_words(start, "of the horizon" if curves.relative else curves.reading.time_unit)
    return {
        "data": data,
        "caption": curves.caption() + said + thinning_note(frame, data, many=many),
        "bands": None if bands is None else start_at(_named(bands, curves.by), start, "series"),
        **time_axis("time t/Γ" if curves.relative else "time (s)", start, end),
    }


def time_axis(title: str, start: float | None, end: float) -> dict[str, Any]:
    """Return the fields of a time axis: a linear one follows its data, a logarithmic one has a start and an end."""
    if start is None:
        return {"time_title": title}
    return {"time_title": f"{title}, logarithmic", "log_time": True, "start": start, "end": end}


def _goals_of(curves: AttainmentCurves) -> dict[str, tuple[str, int]]:
    """Return the group of each series and the position of its goal."""
    names = [""]
    if curves.by:
        names = _named(curves.frame.select(*curves.by).unique(maintain_order=True), curves.by)["series"].to_list()
    return {
        " · ".join(filter(None, (name, goal_words(goal)))): (name, place)
        for name in names
        for place, goal in enumerate(curves.goals)
    }


def _variant_looks(figure: CurveFigure, arms: Sequence[str]) -> dict[str, Look] | None:
    """Return the look of each series, with the colour of its group and its own dash; None if there are too few."""
    groups = list(dict.fromkeys(group for group, _ in (figure.variants or {}).values()))
    most = max((place for _, place in (figure.variants or {}).values()), default=0)
    # With more groups than colours, the groups themselves need the dashes.
    if figure.variants is None or len(groups) > len(COLOURS) or most >= len(DASHES):
        return None
    looks = looks_of(groups, arms)
    if len({look.colour for look in looks.values()}) < len(groups):
        return None
    return {name: looks[group]._replace(dash=DASHES[place]) for name, (group, place) in figure.variants.items()}


def draw_curves(figure: CurveFigure, *, best: Sequence[str] = (), arms: Sequence[str] = ()) -> Any:
    """Draw step curves, with bands if the figure has them; the chart can be combined with others.

    Of many series, the first in `best` are coloured, by default those with the best last values. `arms` are all arms of
    the study, which determine the looks.
    """
    names = list(figure.variants or sorted(figure.data["series"].unique().to_list()))
    lead = leading(names, best or ending_best(figure.data, "series", "value", larger=figure.shares))
    caption = figure.caption + grey_words(names, lead)
    if figure.bands is not None and len(names) > LEADERS:
        figure = replace(figure, bands=None)
        caption += f"; bands of more than {LEADERS} curves would cover each other and are not drawn"
    own = _variant_looks(figure, arms) if not lead else None
    look = line_look("series", names, arms=arms, lead=lead, looks=own)
    ticks = {"format": "~%", "tickCount": 8} if figure.percent_time else {"tickCount": 8}
    axis = alt.Axis(**({"format": "~g", "tickCount": 6} if figure.log_time else ticks))
    x = alt.X("time:Q", title=figure.time_title, scale=_time_scale(figure), axis=axis)
    # Clipping halves a line along the frame, so it is only used when the axis cuts something off.
    last = figure.data["time"].max()
    cut = figure.end is not None and isinstance(last, float) and last > figure.end
    values = alt.Scale(domain=[0, 1] if figure.shares else _value_ends(figure))
    lines = step_lines(
        leaders_last(figure.data, "series", lead),
        clip=cut,
        x=x,
        y=alt.Y("value:Q", title=figure.value_title, axis=alt.Axis(tickCount=6), scale=values),
        tooltip=[alt.Tooltip("series:N"), alt.Tooltip("time:Q"), alt.Tooltip("value:Q", format=".6f")],
        **look,
    )
    bands = []
    if figure.bands is not None:
        # One layer per series with a constant colour: an encoded fill would replace the legend of the lines.
        scale = look["color"]["scale"]
        for name, shade in zip(scale.domain, scale.range, strict=True):
            of_series = alt.Chart(figure.bands.filter(pl.col("series") == name))
            for low, high, opacity in _band_columns(figure.bands):
                band = of_series.mark_area(interpolate="step-after", opacity=opacity, color=shade, clip=True)
                bands.append(band.encode(x=x, y=f"{low}:Q", y2=f"{high}:Q"))
    chart = alt.layer(*bands, lines).properties(width=620, height=320)
    return titled(chart, figure.title, caption)


def draw_column(figures: Sequence[CurveFigure], arms: Sequence[str]) -> Any:
    """Draw figures below each other in the style of the report, each with a legend, since their series may differ."""
    charts = [draw_curves(figure, arms=arms) for figure in figures]
    return style(alt.vconcat(*charts, spacing=30).resolve_scale(color="independent", strokeDash="independent"))


def ending_best(data: pl.DataFrame, name: str, value: str, *, larger: bool = False) -> list[str]:
    """Return the names sorted by their last values, smallest or largest first."""
    last = data.group_by(name, maintain_order=True).last().sort(value, name, descending=[larger, False])
    return last[name].to_list()


def leaders_last(data: pl.DataFrame, name: str, lead: Sequence[str]) -> pl.DataFrame:
    """Move the rows of the leading names behind all others, so that they are drawn on top."""
    return data.sort(pl.col(name).is_in(list(lead)), maintain_order=True) if lead else data


def _band_columns(bands: pl.DataFrame) -> list[tuple[str, str, float]]:
    return [one for one in _BANDS if one[0] in bands.columns]


def _value_ends(figure: CurveFigure) -> Any:
    """Limit the value axis where bands are wide: a quarter of the curves' own range is enough for the bands."""
    if figure.bands is None:
        return alt.Undefined
    shown = figure.data.filter(pl.col("value").is_finite())["value"].to_numpy()
    ends = figure.bands.select(name for names in _band_columns(figure.bands) for name in names[:2]).to_numpy()
    if not len(shown) or not ends.size:
        return alt.Undefined
    least, most = float(shown.min()), float(shown.max())
    room = 0.25 * ((most - least) or 1.0)
    return [max(least - room, min(least, float(ends.min()))), min(most + room, max(most, float(ends.max())))]


def _time_scale(figure: CurveFigure) -> Any:
    low = figure.data["time"].min() if figure.start is None else figure.start
    high = figure.data["time"].max() if figure.end is None else figure.end
    bounded = figure.start is not None or figure.end is not None
    # A domain with a single point has no width.
    domain = [low, high] if bounded and low != high else alt.Undefined
    return alt.Scale(nice=False, type="log" if figure.log_time else "linear", domain=domain)


def _named(frame: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    series = pl.concat_str([pl.col(name).cast(pl.String) for name in by], separator=" · ") if by else pl.lit("all")
    return frame.with_columns(series=series).drop(by)


def _last_places(time: NDArray[np.float64], start: float, last: float) -> NDArray[np.int64]:
    """Return the last row in each place on a logarithmic axis: an even choice of rows would crowd at its end."""
    end = last if last > start else start * 10
    share = np.log(np.maximum(time, start) / start) / np.log(end / start)
    place = np.floor(share * MOST_PLACES)
    # The last row has its own place, so that rounding never makes it replace a step.
    place[-1] = MOST_PLACES
    return np.flatnonzero(np.append(place[1:] != place[:-1], True))


def _drawn_rows(time: NDArray[np.float64], series: int, start: float | None, last: float) -> NDArray[np.int64]:
    """Return the rows to draw for one of `series` series, always including the last row."""
    # At least two points for any number of series: a line needs both of its ends.
    most = max(2, min(MOST_POINTS, MOST_ROWS // max(1, series) - 1))
    rows = np.arange(len(time)) if start is None else _last_places(time, start, last)
    stride = -(-len(rows) // most)
    # Without the last row a curve would end before its horizon.
    return rows if stride <= 1 else np.append(rows[:-1:stride], rows[-1])


def thinning_note(whole: pl.DataFrame, drawn: pl.DataFrame, *, many: int) -> str:
    """Return a caption text on how many breakpoints are drawn; empty unless there are very many.

    >>> thinning_note(pl.DataFrame({"x": range(6001)}), pl.DataFrame({"x": range(1501)}), many=5000)
    '; drawn at 1,501 of 6,001 breakpoints'
    """
    return f"; drawn at {drawn.height:,} of {whole.height:,} breakpoints" if whole.height > many else ""


def thin_curves(
    data: pl.DataFrame, start: float | None = None, *, by: Sequence[str] = ("series",), end: float | None = None
) -> pl.DataFrame:
    """Leave out breakpoints that no screen can show; the ends of every series stay.

    With a `start`, this means a logarithmic axis from there on. The columns `by` name the series, which hold their last
    values until `end`. Their rows must be contiguous, so that only the drawn rows are copied.

    >>> frame = pl.DataFrame({"series": ["a"] * 6001, "time": range(6001), "value": range(6001)})
    >>> thin_curves(frame).height, thin_curves(frame)["time"][-1]
    (1501, 6000)
    """
    if not data.height:
        return data
    changed = np.zeros(data.height - 1, np.bool_)
    for name in by:
        changed |= data[name][1:].ne_missing(data[name][:-1]).to_numpy()
    edges = [0, *(np.flatnonzero(changed) + 1).tolist(), data.height]
    shown, last = [], max(end or 0.0, float(data["time"].to_numpy().max()))
    for low, high in pairwise(edges):
        part = data[low:high]
        time, value = part["time"].to_numpy(), part["value"].to_numpy()
        if end is not None:
            time, value = np.append(time, end), np.append(value, value[-1])
        rows = _drawn_rows(time, len(edges) - 1, start, last)
        drawn = time[rows] if start is None else np.maximum(time[rows], start)
        series = " · ".join(str(part[name][0]) for name in by) or "all"
        shown.append(pl.DataFrame({"series": [series] * len(rows), "time": drawn, "value": value[rows]}))
    return pl.concat(shown)
