"""Ratings with their intervals: the forest."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.analysis.neighbours.rating import Ratings
from gapline.report.drawing import Figure, arm_scales, load_altair, titled
from gapline.report.figures.intervals import forest, line_step, point_look
from gapline.report.looks import grey_words, leading


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


def draw_ratings(figure: Figure, *, best: Sequence[str], arms: Sequence[str] = (), width: int = 460) -> Any:
    """Draw the forest; of many arms the first of `best`, which names every arm, are in colour."""
    alt = load_altair()
    lead = leading(best, best)
    look = point_look(arm_scales(sorted(best), arms=arms, lead=lead))
    scale = alt.Scale(zero=False, padding=14)
    layers = forest(figure, "arm", "rating", look, ["arm:N", "rating:Q", "low:Q", "high:Q"], scale)
    chart = alt.layer(*layers).properties(width=width, height={"step": line_step(figure.data.height)})
    return titled(chart, figure.title, figure.caption + grey_words(best, lead), width=width + 160)
