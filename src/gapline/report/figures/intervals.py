"""Forest plots: mean scores, contrasts and ratings with their intervals."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.measures.rating import Ratings
from gapline.report.drawing import Figure, alt, look_channels, name_axis, titled, zero_line
from gapline.report.looks import MOST_LOOKS, grey_words, leading
from gapline.report.numbers import number, p_value, signed
from gapline.report.order import ArmOrder
from gapline.report.tables.contrasts import compared_rows
from gapline.statistics.bootstrap import ArmIntervals
from gapline.statistics.contrasts import Contrasts
from gapline.statistics.means import Summary

WIDTH = 460


def interval_figure(
    summary: Summary, intervals: ArmIntervals | None, order: ArmOrder, *, why_none: str | None = None
) -> Figure:
    """Return arm, label (with the empty count), mean of the first kernel, low, high, text, in the order of the arms."""
    kernel = summary.kernels[0]
    ends = {} if intervals is None else intervals.frame.rows_by_key("arm", named=True, unique=True)
    rows = []
    by_arm = summary.frame.rows_by_key("arm", named=True, unique=True, include_key=True)
    for row in (by_arm[arm] for arm in order.arms if by_arm[arm][kernel] is not None):
        span = ends.get(row["arm"], {"low": None, "high": None})
        marks = [f"{row['empty']:,} of {row['runs']:,} empty"] if row["empty"] else []
        marks += ["descriptive"] if row["arm"] in order.descriptive else []
        marks += ["other instances"] if row["arm"] in order.others and order.compared else []
        label = f"{row['arm']} ({', '.join(marks)})" if marks else row["arm"]
        rows.append((row["arm"], label, row[kernel], span["low"], span["high"], number(row[kernel])))
    texts, numbers = dict.fromkeys(("arm", "label"), pl.String), dict.fromkeys(("mean", "low", "high"), pl.Float64)
    without = f"no intervals: {why_none or 'not asked for'}"
    spread = without if intervals is None else f"{intervals.level:.0%} intervals by {intervals.how}"
    return Figure(
        data=pl.DataFrame(rows, schema={**texts, **numbers, "text": pl.String}, orient="row"),
        title=f"Mean {kernel} score: further left is better",
        caption=f"{summary.caption()}; {spread}",
        value_title=f"mean {kernel} score",
    )


def draw_intervals(figure: Figure, *, arms: Sequence[str] = ()) -> Any:
    """Draw the forest of means; `arms` are all arms of the study, which determine the looks."""
    return _draw_arms(figure, "label", "mean", figure.data["arm"].to_list(), arms)


def _draw_arms(figure: Figure, label: str, value: str, best: Sequence[str], arms: Sequence[str]) -> Any:
    """Draw a forest with one line per arm in its look; of many arms, the first of `best` are coloured."""
    lead = leading(best, best)
    look = look_channels("arm", sorted(best), "color", "shape", arms=arms, lead=lead, legend=None)
    tooltip = ["arm:N", f"{value}:Q", "low:Q", "high:Q"]
    layers = _forest(figure, label, value, look, tooltip, alt.Scale(zero=False, padding=14))
    chart = alt.layer(*layers).properties(width=WIDTH, height={"step": line_step(figure.data.height)})
    return titled(chart, figure.title, figure.caption + grey_words(best, lead), width=WIDTH + 160)


def line_step(lines: int) -> int:
    """Return the height of one line: many lines are closer together, so that they fit a screen or a page."""
    return 30 if lines <= MOST_LOOKS else 17


def _forest(
    figure: Figure, label: str, value: str, look: dict[str, Any], tooltip: list[str], scale: Any = None
) -> list[Any]:
    """Return the layers of a forest: a bar from low to high, a point and its number on every line, in order."""
    base = alt.Chart(figure.data).encode(y=name_axis(label, figure.data[label]), color=look["color"])
    bars = base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=figure.value_title), x2="high:Q")
    x = alt.X(f"{value}:Q", title=figure.value_title, scale=alt.Undefined if scale is None else scale)
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=x, tooltip=tooltip, **look)
    # The numbers have their own column, so that no interval crosses them.
    words = base.mark_text(align="left", dx=6, fontSize=11)
    words = words.encode(x=alt.value("width"), text="text:N", color=alt.value("#333"))
    return [bars, points, words]


# More lines than this are unreadable; the table has them all.
MOST_PAIRS = 40
DECLARED, EXPLORATORY = "declared", "exploratory"


def contrast_figure(contrasts: Contrasts, reference: ReferenceLabel, *, descriptive: Sequence[str] = ()) -> Figure:
    """Return pair (`a − b`: left of zero, a is better), kind, difference, low, high, text; declared contrasts first."""
    # Two arms without a common instance have no difference.
    known = compared_rows(contrasts, descriptive).filter(pl.col("difference").is_not_null())
    # Choose the differences by size, not by sign: a − b and b − a are equivalent.
    shown = known.sort(~pl.col("declared"), -pl.col("difference").abs(), "a", "b").head(MOST_PAIRS)
    left = known.height - shown.height
    known = shown.sort("declared", "difference", "a", "b", descending=[True, False, False, False])
    words = [
        signed(row["difference"]) + ("" if row["p_holm"] is None else f", Holm p {p_value(row['p_holm'])}")
        for row in known.iter_rows(named=True)
    ]
    return Figure(
        data=known.select(
            pair=pl.format("{} − {}", "a", "b"),
            kind=pl.when("declared").then(pl.lit(DECLARED)).otherwise(pl.lit(EXPLORATORY)),
            difference="difference",
            low="low",
            high="high",
            text=pl.Series(words, dtype=pl.String),
        ),
        title="Differences of mean scores: left of zero, the first arm is better",
        caption=f"{contrasts.caption()}; against {reference}{f'; {left:,} smaller ones in the table' if left else ''}",
        value_title="difference of mean scores (a − b)",
    )


def draw_contrasts(figure: Figure) -> Any:
    """Draw the forest of differences."""
    scale = alt.Scale(domain=[DECLARED, EXPLORATORY], range=["#0072B2", "#777777"])
    legend = alt.Legend(orient="bottom", title=None, symbolType="circle", symbolSize=90)
    kind = alt.Color("kind:N", scale=scale, legend=legend)
    tooltip = ["pair:N", "difference:Q", "low:Q", "high:Q", "kind:N"]
    layers = _forest(figure, "pair", "difference", {"color": kind}, tooltip)
    chart = alt.layer(zero_line("x", strokeDash=[4, 3]), *layers).properties(width=WIDTH, height={"step": 30})
    return titled(chart, figure.title, figure.caption, width=WIDTH + 160)


def rating_figure(ratings: Ratings) -> Figure:
    """Return arm, rating, low, high and text, the best first."""
    known = ratings.frame.filter(pl.col("rating").is_not_null())
    ends = [
        f"{row['rating']:.0f}" + ("" if row["low"] is None else f" [{row['low']:.0f}, {row['high']:.0f}]")
        for row in known.iter_rows(named=True)
    ]
    said = "; ".join(text for text in (ratings.unbounded, ratings.reason, ratings.caption()) if text)
    return Figure(
        data=known.select("arm", "rating", "low", "high", text=pl.Series(ends, dtype=pl.String)),
        title="Bradley-Terry ratings: further right is better",
        caption=said,
        value_title="rating (Elo scale)",
    )


def draw_ratings(figure: Figure, *, best: Sequence[str], arms: Sequence[str] = ()) -> Any:
    """Draw the forest; `best` names every arm."""
    return _draw_arms(figure, "arm", "rating", best, arms)
