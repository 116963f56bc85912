"""Pairs of arms with similar scores that reach the goal at different rates: one segment per pair."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.report.drawing import Figure, alt, arm_legend, look_channels, name_axis, titled
from gapline.report.looks import MOST_LOOKS
from gapline.report.numbers import goal_words
from gapline.scoring.endpoints import attainment_name
from gapline.scoring.scores import Scores
from gapline.statistics.means import summarise
from gapline.study.complementarity import Complementarity

# More segments than this are unreadable; the table has them all.
MOST_PAIRS = 25


def segment_figure(found: Complementarity, scores: Scores) -> Figure:
    """Return columns pair, arm, attainment: two rows per selected pair, closest scores first."""
    rates = {
        (row["arm"], row["panel"]): row[attainment_name(found.goal)]
        for row in summarise(scores, by=["arm", "panel"], weighting="instance").frame.iter_rows(named=True)
    }
    chosen = found.contrasts.head(MOST_PAIRS)
    rows = [
        (f"{panel}: {a}, {b}", arm, rates[arm, panel])
        for panel, a, b in chosen.select("panel", "a", "b").iter_rows()
        for arm in (a, b)
    ]
    left = found.contrasts.height - chosen.height
    return Figure(
        data=pl.DataFrame(rows, schema={"pair": pl.String, "arm": pl.String, "attainment": pl.Float64}, orient="row"),
        names=tuple(sorted(scores.frame["arm"].unique().to_list())),
        value_title=f"share of runs within {goal_words(found.goal)} of the reference",
        title="Similar scores that hide different attainment",
        caption=(
            f"{found.contrasts.height} of {found.pairs.height} pairs of arms within a panel have {found.kernel} scores "
            f"that are close but differ in final gap or in attainment of {goal_words(found.goal)}; against "
            f"{scores.reference}; an exploratory screen{f'; {left} more in the table' if left > 0 else ''}"
        ),
    )


def draw_segments(figure: Figure, *, arms: Sequence[str] = ()) -> Any:
    """Draw one segment per pair, its ends in the colours of the arms."""
    names, pairs = list(figure.names), list(dict.fromkeys(figure.data["pair"].to_list()))
    data = figure.data.with_columns(end=pl.Series(["the arm named first", "the arm named second"] * len(pairs)))
    # A legend of many arms is unreadable: then each end only says which of the two names of its line it is.
    end = "arm" if data["arm"].n_unique() <= MOST_LOOKS else "end"
    ends = names if end == "arm" else data["end"].unique(maintain_order=True).to_list()
    shown = set(data[end])
    legend = arm_legend([name for name in ends if name in shown], width=600, symbolSize=100)
    base = alt.Chart(data).encode(
        y=name_axis("pair", pairs),
        x=alt.X("attainment:Q", title=figure.value_title).scale(domain=[0, 1]).axis(format="%", tickCount=5),
    )
    lines = base.mark_line(color="#999", strokeWidth=2).encode(detail="pair:N")
    points = base.mark_point(filled=True, size=100, opacity=1).encode(
        tooltip=["pair:N", "arm:N", alt.Tooltip("attainment:Q", format=".1%")],
        **look_channels(end, ends, "color", "shape", arms=arms, legend=legend, title=None),
    )
    chart = alt.layer(lines, points).properties(width=400, height={"step": 24})
    # That no pair was found is a result: say it in words instead of showing an empty frame.
    if not pairs:
        nothing = alt.Chart(alt.Data(values=[{"text": "no pair is selected"}])).mark_text(fontSize=12, color="#555")
        chart = nothing.encode(text="text:N").properties(width=400, height=60)
    return titled(chart, figure.title, figure.caption, width=600)
