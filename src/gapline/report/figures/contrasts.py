"""Paired differences of arms with their intervals: the forest."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.model.reading import ReferenceLabel
from gapline.report.drawing import Figure, load_altair, titled, zero_line
from gapline.report.figures.intervals import forest
from gapline.report.numbers import p_value, signed
from gapline.report.tables.contrasts import compared_rows
from gapline.summary.contrasts import Contrasts

# A figure of more lines than this is not read; the table has them all.
MOST_PAIRS = 40
DECLARED, EXPLORATORY = "declared", "exploratory"


def contrast_figure(contrasts: Contrasts, reference: ReferenceLabel, *, descriptive: Sequence[str] = ()) -> Figure:
    """Return pair (`a − b`: left of zero, a is better), kind, difference, low, high, text; declared contrasts first."""
    # Two arms without a common instance have no difference.
    known = compared_rows(contrasts, descriptive).filter(pl.col("difference").is_not_null())
    # Which differences are named is settled by their sizes, not by their signs: a − b and b − a say the same.
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


def draw_contrasts(figure: Figure, *, width: int = 460) -> Any:
    """Draw the forest of differences."""
    alt = load_altair()
    scale = alt.Scale(domain=[DECLARED, EXPLORATORY], range=["#0072B2", "#777777"])
    legend = alt.Legend(orient="bottom", title=None, symbolType="circle", symbolSize=90)
    kind = alt.Color("kind:N", scale=scale, legend=legend)
    tooltip = ["pair:N", "difference:Q", "low:Q", "high:Q", "kind:N"]
    layers = forest(figure, "pair", "difference", {"color": kind}, tooltip)
    chart = alt.layer(zero_line("x", strokeDash=[4, 3]), *layers).properties(width=width, height={"step": 30})
    return titled(chart, figure.title, figure.caption, width=width + 160)
