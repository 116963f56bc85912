"""Mean scores with their intervals, one line per arm, best on top, descriptive arms below."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.report.drawing import Figure, Scales, arm_scales, in_order, load_altair, titled
from gapline.report.looks import MOST_LOOKS, grey_words, leading
from gapline.report.numbers import number
from gapline.report.order import ArmOrder
from gapline.summary.bootstrap import ArmIntervals
from gapline.summary.means import Summary


def interval_figure(
    summary: Summary, intervals: ArmIntervals | None, order: ArmOrder, *, why_none: str | None = None
) -> Figure:
    """Return arm, label (with the empty count), mean of the first kernel, low, high, text, in the order of the arms."""
    kernel = summary.kernels[0]
    ends = {} if intervals is None else {row["arm"]: row for row in intervals.frame.iter_rows(named=True)}
    rows = []
    by_arm = {row["arm"]: row for row in summary.frame.iter_rows(named=True)}
    for row in (by_arm[arm] for arm in order.arms if by_arm[arm][kernel] is not None):
        span = ends.get(row["arm"], {"low": None, "high": None})
        marks = [f"{row['empty']:,} of {row['runs']:,} empty"] if row["empty"] else []
        marks += ["descriptive"] if row["arm"] in order.descriptive else []
        marks += ["other instances"] if row["arm"] in order.others and order.compared else []
        label = f"{row['arm']} ({', '.join(marks)})" if marks else row["arm"]
        rows.append((row["arm"], label, row[kernel], span["low"], span["high"], number(row[kernel])))
    texts, numbers = dict.fromkeys(("arm", "label"), pl.String), dict.fromkeys(("mean", "low", "high"), pl.Float64)
    spread = f"no intervals: {why_none or 'not asked for'}"
    if intervals is not None:
        spread = f"{intervals.level:.0%} intervals by {intervals.how}"
    return Figure(
        data=pl.DataFrame(rows, schema={**texts, **numbers, "text": pl.String}, orient="row"),
        title=f"Mean {kernel} score: further left is better",
        caption=f"{summary.caption()}; {spread}",
        value_title=f"mean {kernel} score",
    )


def draw_intervals(figure: Figure, *, arms: Sequence[str] = (), width: int = 460) -> Any:
    """Draw the forest of means; `arms` are all of the study, whose looks these keep."""
    alt = load_altair()
    names = figure.data["arm"].to_list()
    lead = leading(names, names)
    look = point_look(arm_scales(sorted(names), arms=arms, lead=lead))
    scale = alt.Scale(zero=False, padding=14)
    layers = forest(figure, "label", "mean", look, ["arm:N", "mean:Q", "low:Q", "high:Q"], scale)
    chart = alt.layer(*layers).properties(width=width, height={"step": line_step(len(names))})
    return titled(chart, figure.title, figure.caption + grey_words(names, lead), width=width + 160)


def line_step(lines: int) -> int:
    """Return the height of one of so many lines: many stand closer, so that they fit a screen or a page."""
    return 30 if lines <= MOST_LOOKS else 17


def point_look(scales: Scales) -> dict[str, Any]:
    """Return the encodings that tell the points of arms apart, whose names stand beside them."""
    alt = load_altair()
    return {
        "color": alt.Color("arm:N", scale=scales.colour, legend=None),
        "shape": alt.Shape("arm:N", scale=scales.shape, legend=None),
    }


def forest(
    figure: Figure, label: str, value: str, look: dict[str, Any], tooltip: list[str], scale: Any = None
) -> list[Any]:
    """Return the layers of a forest: a bar from low to high, a point and its number on every line, in their order."""
    alt = load_altair()
    order, title = figure.data[label].to_list(), figure.value_title
    base = alt.Chart(figure.data).encode(
        y=alt.Y(f"{label}:N", **in_order(order), title=None, axis=alt.Axis(labelLimit=320, grid=False)),
        color=look["color"],
    )
    bars = base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    x = alt.X(f"{value}:Q", title=title, scale=alt.Undefined if scale is None else scale)
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=x, tooltip=tooltip, **look)
    # The numbers stand in a column of their own, where no interval runs through them.
    words = base.mark_text(align="left", dx=6, fontSize=11)
    words = words.encode(x=alt.value("width"), text="text:N", color=alt.value("#333"))
    return [bars, points, words]
