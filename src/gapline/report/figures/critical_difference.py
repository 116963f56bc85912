"""Demšar's diagram: arms along their mean ranks; a bar joins arms without a significant difference."""

import math
from typing import Any, NamedTuple

import polars as pl

from gapline.measures.ranks import MeanRanks
from gapline.report.drawing import Figure, alt, titled
from gapline.text import printable

# Distances in the diagram, in lines of text: the first bar below the axis, and between two bars or names.
FIRST, BAR, NAME = 0.7, 0.45, 1.0
# The number of ranks that fit on the axis without touching.
MOST_TICKS = 15


class RankPicture(NamedTuple):
    """Lines and texts of the diagram: x in ranks, y in lines of text below the axis.

    `stems` are (x, y) of each arm with the side of its name, `bars` (from, to, y) join a clique, all arms are between
    the integer ranks `first` and `last`, and `depth` is the lowest position.
    """

    stems: tuple[tuple[str, float, float, str], ...]
    bars: tuple[tuple[float, float, float], ...]
    first: int
    last: int
    distance: float
    depth: float


def rank_picture(ranks: MeanRanks) -> RankPicture:
    """Place the arms: the better half on the left, each name below the one farther out; bars above all names."""
    means = dict(ranks.frame.select("arm", "mean_rank").iter_rows())
    bars = tuple((means[c[0]], means[c[-1]], FIRST + BAR * k) for k, c in enumerate(ranks.cliques))
    top = FIRST + BAR * len(bars) + 0.6
    arms = list(means)
    half = (len(arms) + 1) // 2
    places = [(arm, k, "left") for k, arm in enumerate(arms[:half])]
    # From the outside in, so that no stem crosses the line of another name.
    places += [(arm, k, "right") for k, arm in enumerate(reversed(arms[half:]))]
    stems = tuple((arm, means[arm], top + NAME * k, side) for arm, k, side in places)
    distance = ranks.critical_difference or 0.0
    # With many arms, all mean ranks may be near the middle: only show the range of ranks that is used.
    low, high = math.floor(min(means.values())), math.ceil(max(means.values()))
    high = min(len(arms), max(high, low + math.ceil(distance), low + 1))
    low = min(low, high - 1)
    return RankPicture(stems, bars, low, high, distance, top + NAME * half)


def rank_ticks(first: int, last: int) -> list[int]:
    """Return the ranks to label on the axis: all of them, or as many as fit.

    >>> rank_ticks(1, 4), rank_ticks(1, 80), rank_ticks(8, 12)
    ([1, 2, 3, 4], [1, 10, 20, 30, 40, 50, 60, 70, 80], [8, 9, 10, 11, 12])
    """
    many = last - first + 1
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, many) if many / step <= MOST_TICKS or step == many)
    whole = [rank for rank in range(first + 1, last + 1) if rank % step == 0]
    # Label the first rank only if the next label is far enough away.
    return [first, *(rank for rank in whole if rank - first >= min(step, 4) or step == 1)]


def rank_figure(ranks: MeanRanks) -> Figure:
    """Return the lines of the diagram: kind (axis, stem, name, bar, distance), x, x2, y, y2, text."""
    picture = rank_picture(ranks)
    whole = picture.last - picture.first
    edge = {"left": picture.first - 0.04 * whole, "right": picture.last + 0.04 * whole}
    rows: list[tuple[str, float, float, float, float, str]] = []
    for arm, x, y, side in picture.stems:
        rows.append(("stem", x, x, 0.0, y, arm))
        rows.append((f"name {side}", x, edge[side], y, y, f"{printable(arm)} ({x:.2f})"))
    rows += [("bar", low - 0.005 * whole, high + 0.005 * whole, y, y, "") for low, high, y in picture.bars]
    start, width = float(picture.first), min(picture.distance, float(whole))
    rows.append(("axis", start, float(picture.last), 0.0, 0.0, ""))
    rows.append(("distance", start, start + width, -1.6, -1.6, f"critical difference {picture.distance:.2f}"))
    schema = dict.fromkeys(("x", "x2", "y", "y2"), pl.Float64)
    return Figure(
        data=pl.DataFrame(rows, schema={"kind": pl.String, **schema, "text": pl.String}, orient="row"),
        title="Mean ranks: further left is better; a bar joins arms with no difference shown",
        caption=f"{ranks.verdict()}; {ranks.caption()}",
        value_title="mean rank",
    )


def draw_ranks(figure: Figure) -> Any:
    """Draw the diagram."""
    data = figure.data
    stems = data.filter(kind="stem")
    first, last = data.filter(kind="axis").select("x", "x2").row(0)
    depth = float(stems["y2"].to_numpy().max()) + 0.6
    x_scale = alt.Scale(domain=[first, last], nice=False, zero=False)
    x = alt.X("x:Q", scale=x_scale, axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[depth, -2.2], nice=False), axis=None)

    def lines(kind: str, stroke: float) -> Any:
        rows = alt.Chart(data.filter(pl.col("kind").str.starts_with(kind))).mark_rule(strokeWidth=stroke, color="#333")
        return rows.encode(x=x, x2="x2:Q", y=y, y2="y2:Q")

    def words(kind: str, align: str, dx: int, dy: int = 0) -> Any:
        named = alt.Chart(data.filter(kind=kind)).mark_text(align=align, dx=dx, dy=dy, fontSize=12)
        return named.encode(x=alt.X("x2:Q", scale=x_scale, axis=None), y=y, text="text:N")

    ticks = pl.DataFrame({"x": rank_ticks(int(first), int(last))}).select(pl.col("x").cast(pl.Float64), y=0.0)
    marks = alt.Chart(ticks).encode(x=x, y=y)
    layers = [
        lines("axis", 1),
        marks.mark_point(shape="stroke", angle=90, size=80, color="#333"),
        marks.mark_text(dy=-12, fontSize=11, color="#555").encode(text=alt.Text("x:Q", format="d")),
        lines("stem", 1), lines("name", 1), lines("bar", 4), lines("distance", 2),
        words("name left", "right", -5), words("name right", "left", 5), words("distance", "left", 6),
    ]  # fmt: skip
    chart = alt.layer(*layers).properties(width=460, height=max(90, int(22 * (depth + 2.2))))
    return titled(chart, figure.title, figure.caption, width=720)
