"""A map of the times and gaps where one arm attains more than another, in the colours of the two arms."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.files.scratch_arrays import scratch_array
from gapline.measures.attainment_surface import AttainmentDifference
from gapline.report.drawing import Figure, alt, titled
from gapline.report.fit_chart import IN_GREY
from gapline.report.looks import looks_of
from gapline.text import printable

Floats = NDArray[np.float64]
# Altair accepts 5,000 rows.
COLUMNS, ROWS = 80, 60


class DifferenceMap(NamedTuple):
    """The difference at the centre of every cell of a grid, times × gaps, and the edges of its cells."""

    times: Floats
    gaps: Floats
    shares: Floats
    cut: bool


def difference_map(pair: AttainmentDifference, *, columns: int = COLUMNS, rows: int = ROWS) -> DifferenceMap:
    """Evaluate the difference on a grid, up to the 90 % quantile of the gaps of all steps."""
    size = len(pair.first.time)
    gaps = scratch_array(size + len(pair.second.time))
    gaps[:size], gaps[size:] = pair.first.gaps(), pair.second.gaps()
    low, high = 0.0, 1.0
    if len(gaps):
        # In place: a copy would be as large as all steps.
        low, high = min(0.0, float(gaps.min())), float(np.quantile(gaps, 0.9, overwrite_input=True))
    # If all gaps are equal, the map needs some height to draw on.
    high = low + 1.1 * (high - low) if high > low else low + 1.0
    times, edges = np.linspace(0.0, pair.end, columns + 1), np.linspace(low, high, rows + 1)
    shares = pair.at((times[1:] + times[:-1]) / 2, (edges[1:] + edges[:-1]) / 2)
    return DifferenceMap(times, edges, shares, bool(len(gaps)) and float(gaps.max()) > high)


def difference_figure(pair: AttainmentDifference, reading: str) -> Figure:
    """Return the cells in which the arms differ: time, until, gap, below, difference."""
    found = difference_map(pair)
    i, j = np.nonzero(found.shares)
    sides = {"time": found.times[i], "until": found.times[i + 1], "gap": found.gaps[j], "below": found.gaps[j + 1]}
    a, b = printable(pair.a), printable(pair.b)
    cut = "; larger gaps are cut off" if found.cut else ""
    return Figure(
        data=pl.DataFrame(sides | {"difference": found.shares[i, j]}),
        title=f"Empirical attainment: where {a} or {b} attains more",
        caption=(
            f"share of the runs of {a} minus that of {b} that are at a raw gap or below by a time, every run alike, at "
            f"the middle of {COLUMNS} × {ROWS} cells{cut}; {reading}"
        ),
        time_title="time t/Γ" if pair.relative else "time",
        value_title="raw gap",
        names=(a, b),
    )


def draw_difference(figure: Figure, *, arms: Sequence[str] = ()) -> Any:
    """Draw the map in the colours of the two arms among all `arms`; if these are equal, dots mark the second arm."""
    first, second = figure.names
    looks = looks_of(figure.names, [printable(arm) for arm in arms])
    alike = looks[first].colour == looks[second].colour
    most = max(map(abs, figure.data["difference"]), default=1.0)
    colours = [looks[second].colour, "#ffffff", looks[first].colour]
    scale = alt.Scale(domain=[-most, 0, most], range=colours, interpolate="rgb")
    legend = alt.Legend(
        # A list is text, never a formula.
        title=["difference in share of runs", f"+ {first} attains more",
               f"− {second} attains more{' (dotted)' if alike else ''}"],
        orient="bottom", gradientLength=300, format="+.0%", titleLimit=600,
    )  # fmt: skip
    x = alt.X("time:Q", title=figure.time_title, scale=alt.Scale(nice=False))
    y = alt.Y("gap:Q", title=figure.value_title, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(format="~%"))
    cells = alt.Chart(figure.data).mark_rect(stroke=None).encode(
        x=x, x2="until:Q", y=y, y2="below:Q",
        color=alt.Color("difference:Q", scale=scale, legend=legend),
        tooltip=["time:Q", "gap:Q", alt.Tooltip("difference:Q", format="+.1%")],
    )  # fmt: skip
    # Without two colours, dots at the centres of cells mark where the second arm attains more.
    middles = figure.data.filter(pl.col("difference") < 0).select(
        time=(pl.col("time") + pl.col("until")) / 2, gap=(pl.col("gap") + pl.col("below")) / 2
    )
    shown = {"opacity": 1} if alike else {"opacity": 0, "style": IN_GREY}
    dots = alt.Chart(middles).mark_circle(size=4, color="#ffffff", **shown).encode(x=x, y=y)
    chart = alt.layer(cells, dots)
    return titled(chart.properties(width=620, height=320), figure.title, figure.caption)
