"""What another reference does to the scores: one arrow per arm."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.analysis.reference_sensitivity import ReferenceSensitivity
from gapline.model.reading import ReferenceLabel
from gapline.report.drawing import Figure, in_order, load_altair, titled
from gapline.report.figures.intervals import line_step


def shift_figure(
    sensitivity: ReferenceSensitivity,
    before: ReferenceLabel,
    after: ReferenceLabel,
    *,
    kernel: str,
    descriptive: Sequence[str] = (),
) -> Figure:
    """Return arm, from, to: the pooled scores under both references, which `names` has; compared arms first."""
    # A kernel without a value for some run has no mean to move.
    data = sensitivity.shift.filter((pl.col("kernel") == kernel) & pl.col("shift").is_not_null())
    flips = [r for r in sensitivity.reversals if r.before.kernel == kernel and not r.out_of_envelope]
    negative = sensitivity.negative.filter(pl.col("kernel") == kernel)
    return Figure(
        data=data.select("arm", "from", "to").sort(pl.col("arm").is_in(list(descriptive)), "from", "arm"),
        names=tuple(f"{label.name} ({label.policy})" for label in (before, after)),
        value_title=f"pooled {kernel} score",
        title="The same runs against another reference",
        caption=(
            f"pooled {kernel} scores, {sensitivity.weighting}-equal, weight {sensitivity.weight}, from {before} to "
            f"{after}; {sensitivity.changed} of {sensitivity.instances} references differ; "
            f"runs below zero: {int(negative['from'].sum()):,} before, "
            f"{int(negative['to'].sum()):,} after; {len(flips)} panel orderings reverse"
        ),
    )


def draw_shift(figure: Figure, *, width: int = 460) -> Any:
    """Draw a segment per arm, hollow where it starts and filled where it ends."""
    alt = load_altair()
    before, after = figure.names
    ends = figure.data.unpivot(["from", "to"], index="arm", variable_name="end", value_name="score").with_columns(
        reference=pl.when(pl.col("end") == "from").then(pl.lit(before)).otherwise(pl.lit(after))
    )
    y = alt.Y("arm:N", **in_order(figure.data["arm"]), title=None, axis=alt.Axis(labelLimit=260, grid=False))
    lines = alt.Chart(figure.data).mark_rule(strokeWidth=2, color="#999")
    lines = lines.encode(y=y, x=alt.X("from:Q", title=figure.value_title), x2="to:Q")
    legend = alt.Legend(orient="bottom", title=None, columns=1, symbolSize=100)
    looks = [alt.Scale(domain=[before, after], range=two) for two in (["#E69F00", "#0072B2"], ["circle", "diamond"])]
    points = alt.Chart(ends).mark_point(filled=True, size=100, opacity=1)
    points = points.encode(
        y=y,
        x=alt.X("score:Q", title=figure.value_title, scale=alt.Scale(zero=False, padding=14)),
        color=alt.Color("reference:N", scale=looks[0], legend=legend),
        shape=alt.Shape("reference:N", scale=looks[1], legend=legend),
        tooltip=["arm:N", "reference:N", alt.Tooltip("score:Q", format=".6f")],
    )
    chart = alt.layer(lines, points).properties(width=width, height={"step": line_step(figure.data.height)})
    return titled(chart, figure.title, figure.caption, width=width + 160)
