"""The effect of another kernel or reference: slopes per kernel, arrows per reference."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.report.curve_figure import ending_best, leaders_last
from gapline.report.drawing import Figure, alt, arm_legend, in_order, look_channels, name_axis, titled
from gapline.report.figures.intervals import line_step
from gapline.report.looks import grey_words, leading
from gapline.study.sensitivity import MetricSensitivity, ReferenceSensitivity

# Use a logarithmic axis if all means are positive and their ratio reaches this.
LOG_SPREAD = 10.0


def slope_figure(sensitivity: MetricSensitivity, name: str, reference: ReferenceLabel) -> Figure:
    """Return arm, kernel, pooled score and envelope against the reference with this `name` in the analysis."""
    mine = sensitivity.pooled.filter((pl.col("reference") == name) & pl.col("score").is_not_null())
    # Reversals between references belong to another figure.
    flips = [r for r in sensitivity.reversals if r.before.reference == r.after.reference == name]
    counted = [r for r in flips if not r.out_of_envelope]
    envelope = pl.when("out_of_envelope").then(pl.lit("out of its envelope")).otherwise(pl.lit("inside"))
    data = mine.select("arm", "kernel", "score", envelope=envelope)
    outside = f", {len(flips) - len(counted)} more out of a kernel's envelope" if len(flips) > len(counted) else ""
    return Figure(
        data=data,
        names=tuple(dict.fromkeys(data["kernel"].to_list())),
        title="The same runs under other kernels",
        caption=(
            f"pooled scores, {sensitivity.weighting}-equal, weight {sensitivity.weight}, against {reference}; compare "
            f"arms within a kernel, not magnitudes between kernels; {len(counted)} reversals in {sensitivity.pairs} "
            f"panel orderings × {data['kernel'].n_unique() - 1} other kernels{outside}"
        ),
    )


def draw_slopes(figure: Figure, *, best: Sequence[str] = (), arms: Sequence[str] = (), height: int = 300) -> Any:
    """Draw a line per arm across the kernels, hollow outside its envelope; of many, only the first `best` in colour."""
    names = sorted(figure.data["arm"].unique().to_list())
    lead = leading(names, best or ending_best(figure.data, "arm", "score"))
    looks: dict[str, Any] = {"arms": arms, "lead": lead}
    legend = arm_legend(list(lead) or names, width=520, symbolSize=90)
    scores = figure.data["score"].to_list()
    spread = bool(scores) and min(scores) > 0 and max(scores) / min(scores) >= LOG_SPREAD
    scale = alt.Scale(type="log", nice=False, padding=12) if spread else alt.Scale(zero=False)
    base = alt.Chart(leaders_last(figure.data, "arm", lead)).encode(
        x=alt.X("kernel:N", **in_order(figure.names, padding=0.6), title=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("score:Q", title="pooled score", scale=scale, axis=alt.Axis(format="~g", tickCount=6)),
    )
    line = look_channels("arm", names, "color", "strokeDash", legend=None, **looks)
    lines = base.mark_line(strokeWidth=2).encode(**line)
    points = base.mark_point(size=70, opacity=1, strokeWidth=2).encode(
        fillOpacity=alt.condition("datum.envelope == 'inside'", alt.value(1), alt.value(0)),
        tooltip=["arm:N", "kernel:N", alt.Tooltip("score:Q", format=".6f"), "envelope:N"],
        **look_channels("arm", names, "color", "fill", "shape", legend=legend, **looks),
    )
    # The points have their own legend: a line's dash around a symbol would hide its shape.
    own = dict.fromkeys(("color", "fill", "shape"), "independent")
    chart = alt.layer(lines, points).resolve_scale(**own).properties(width=520, height=height)
    return titled(chart, figure.title, figure.caption + grey_words(names, lead), width=520)


def shift_figure(
    sensitivity: ReferenceSensitivity,
    before: ReferenceLabel,
    after: ReferenceLabel,
    *,
    kernel: str,
    descriptive: Sequence[str] = (),
) -> Figure:
    """Return arm, from, to: the pooled scores under both references in `names`; compared arms first."""
    # A kernel without a value for some run has no mean.
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


def draw_shift(figure: Figure) -> Any:
    """Draw a segment per arm, hollow where it starts and filled where it ends."""
    before, after = figure.names
    ends = figure.data.unpivot(["from", "to"], index="arm", variable_name="end", value_name="score").with_columns(
        reference=pl.when(pl.col("end") == "from").then(pl.lit(before)).otherwise(pl.lit(after))
    )
    y = name_axis("arm", figure.data["arm"], limit=260)
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
    chart = alt.layer(lines, points).properties(width=460, height={"step": line_step(figure.data.height)})
    return titled(chart, figure.title, figure.caption, width=620)
