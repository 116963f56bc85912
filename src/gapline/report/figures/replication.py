"""Differences of two arms in the original and the replication: two intervals for each pair."""

from typing import Any

import polars as pl

from gapline.report.drawing import Figure, alt, in_order, titled, zero_line
from gapline.report.tables.replication import HERE, THERE
from gapline.study.replication import Replicated

# A figure of more pairs is unreadable; the table has them all.
MOST_PAIRS = 40


def replication_figure(found: Replicated, /) -> Figure:
    """Return pair, where (there or here), difference, low, high, agreement; contradicted pairs first."""
    known = [one for one in found.conclusions if one.old.difference is not None and one.new.difference is not None]
    known.sort(key=lambda one: one not in found.contradicted)
    rows = [
        (f"{one.a} − {one.b}", where, side.difference, side.low, side.high, one.agreement.value)
        for one in known[:MOST_PAIRS]
        for where, side in ((THERE, one.old), (HERE, one.new))
    ]
    numbers = dict.fromkeys(("difference", "low", "high"), pl.Float64)
    left = f"; {len(known) - MOST_PAIRS} more pairs in the table" if len(known) > MOST_PAIRS else ""
    return Figure(
        data=pl.DataFrame(
            rows, schema={"pair": pl.String, "where": pl.String, **numbers, "agreement": pl.String}, orient="row"
        ),
        names=(THERE, HERE),
        title="The same differences, there and here: left of zero, the first arm is better",
        caption=f"{found.level:.0%} intervals of {found.kernel} scores; both {found.horizons}; {found.reading}{left}",
        value_title="difference of mean scores (a − b)",
    )


def draw_replication(figure: Figure, *, width: int = 460) -> Any:
    """Draw two intervals for each pair."""
    looks = [alt.Scale(domain=list(figure.names), range=two) for two in (["#E69F00", "#0072B2"], ["circle", "diamond"])]
    legend = alt.Legend(orient="bottom", title=None, symbolSize=100)
    pairs = figure.data["pair"]
    base = alt.Chart(figure.data).encode(
        y=alt.Y("pair:N", **in_order(pairs), title=None, axis=alt.Axis(labelLimit=320, grid=False)),
        yOffset=alt.YOffset("where:N", **in_order(figure.names)),
        color=alt.Color("where:N", scale=looks[0], legend=legend),
    )
    bars = base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=figure.value_title), x2="high:Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("difference:Q", title=figure.value_title),
        shape=alt.Shape("where:N", scale=looks[1], legend=legend),
        tooltip=["pair:N", "where:N", "difference:Q", "low:Q", "high:Q", "agreement:N"],
    )
    height = {"step": 34, "for": "position"}
    chart = alt.layer(zero_line("x", strokeDash=[4, 3]), bars, points).properties(width=width, height=height)
    return titled(chart, figure.title, figure.caption, width=width + 160)
