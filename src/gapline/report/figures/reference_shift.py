"""What another reference does to the scores: one arrow per arm."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.analysis.reference_sensitivity import ReferenceSensitivity
from gapline.model.reading import ReferenceLabel
from gapline.report.drawing import load_altair, titled


@dataclass(frozen=True, slots=True)
class ShiftFigure:
    """Columns arm, from, to; compared arms by their score, then descriptive ones."""

    data: pl.DataFrame
    before: str
    after: str
    kernel: str
    title: str
    caption: str


def shift_figure(
    sensitivity: ReferenceSensitivity,
    before: ReferenceLabel,
    after: ReferenceLabel,
    *,
    kernel: str,
    descriptive: Sequence[str] = (),
) -> ShiftFigure:
    """Return the pooled scores under both references."""
    data = sensitivity.shift.filter((pl.col("kernel") == kernel) & pl.col("shift").is_not_null())
    flips = [r for r in sensitivity.reversals if r.before.kernel == kernel and not r.out_of_envelope]
    negative = sensitivity.negative.filter(pl.col("kernel") == kernel)
    return ShiftFigure(
        data=data.select("arm", "from", "to").sort(pl.col("arm").is_in(list(descriptive)), "from", "arm"),
        before=f"{before.name} ({before.policy})",
        after=f"{after.name} ({after.policy})",
        kernel=kernel,
        title="The same runs against another reference",
        caption=(
            f"pooled {kernel} scores, {sensitivity.weighting}-equal, weight {sensitivity.weight}, from {before} to "
            f"{after}; {sensitivity.changed} of {sensitivity.instances} references differ; "
            f"runs below zero: {int(negative['from'].sum()):,} before, "
            f"{int(negative['to'].sum()):,} after; {len(flips)} panel orderings reverse"
        ),
    )


def draw_shift(figure: ShiftFigure, *, width: int = 460) -> Any:
    """Draw a segment per arm, hollow where it starts and filled where it ends."""
    alt = load_altair()
    order = figure.data["arm"].to_list()
    ends = figure.data.unpivot(["from", "to"], index="arm", variable_name="end", value_name="score").with_columns(
        reference=pl.when(pl.col("end") == "from").then(pl.lit(figure.before)).otherwise(pl.lit(figure.after))
    )
    y = alt.Y("arm:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, grid=False))
    title = f"pooled {figure.kernel} score"
    lines = (
        alt.Chart(figure.data)
        .mark_rule(strokeWidth=2, color="#999")
        .encode(y=y, x=alt.X("from:Q", title=title), x2="to:Q")
    )
    points = (
        alt.Chart(ends)
        .mark_point(filled=True, size=100, opacity=1)
        .encode(
            y=y,
            x=alt.X("score:Q", title=title, scale=alt.Scale(zero=False, padding=14)),
            color=alt.Color(
                "reference:N",
                scale=alt.Scale(domain=[figure.before, figure.after], range=["#E69F00", "#0072B2"]),
                legend=alt.Legend(orient="bottom", title=None, columns=1, symbolSize=100),
            ),
            shape=alt.Shape(
                "reference:N",
                scale=alt.Scale(domain=[figure.before, figure.after], range=["circle", "diamond"]),
                legend=alt.Legend(orient="bottom", title=None, columns=1, symbolSize=100),
            ),
            tooltip=["arm:N", "reference:N", alt.Tooltip("score:Q", format=".6f")],
        )
    )
    chart = alt.layer(lines, points).properties(width=width, height={"step": 34})
    return titled(chart, figure.title, figure.caption, width=width + 160)
