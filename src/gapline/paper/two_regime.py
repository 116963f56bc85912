"""Figure two-regime: the same trajectories under a frozen and an analysis reference."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.report.curve_figure import mean_curve_figure
from gapline.report.drawing import arm_legend, arm_scales, load_altair, titled
from gapline.scoring.curve import mean_curve
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.scores import score
from gapline.study import Study
from gapline.summary.means import summarise

# The axis ends here where the curves start at 1: what the reference changes is near zero.
HIGHEST = 0.25


@dataclass(frozen=True, slots=True)
class RegimeFigure:
    """`data`: regime, series, time, value; `scores`: regime, arm, score; `regimes` in the order they are drawn."""

    data: pl.DataFrame
    scores: pl.DataFrame
    regimes: tuple[str, ...]
    caption: str
    time_title: str
    value_title: str


def regime_figure(study: Study, *, source: str) -> RegimeFigure:
    """Return the mean curves of every arm against the first and the last snapshot of a study; `source` names it."""
    kernel = study.kernels[0] if parse_kernel(study.kernels[0]).before is not None else "squeezed"
    places = [0, len(study.references) - 1] if len(study.references) > 1 else [0]
    parts, scores, names, negative = [], [], [], []
    for place in places:
        entry = study.references[place]
        name = f"{entry.policy} reference: {entry.snapshot.name}"
        curves = mean_curve(
            study.envelopes,
            entry.snapshot,
            kernel=kernel,
            weighting=study.weighting,
            relative=study.relative,
            policy=entry.policy,
        )
        figure = mean_curve_figure(curves)
        parts.append(figure.data.with_columns(regime=pl.lit(name)))
        reading = score(study.envelopes, entry.snapshot, kernels=[kernel], policy=entry.policy)
        means = summarise(reading, weighting=study.weighting).frame
        scores += [(name, arm, mean) for arm, mean in means.select("arm", kernel).iter_rows()]
        negative.append(int((reading.frame[kernel] < 0).sum()))
        names.append(name)
    digests = "; ".join(str(study.scores[place].reference) for place in places)
    return RegimeFigure(
        data=pl.concat(parts),
        scores=pl.DataFrame(scores, schema={"regime": pl.String, "arm": pl.String, "score": pl.Float64}, orient="row"),
        regimes=tuple(names),
        caption=(
            f"{source}: mean {kernel} gap, {study.weighting}-equal, of the same runs against {digests}; runs with "
            f"a negative score: {', '.join(map(str, negative))}; values above {HIGHEST:g} are cut off; no "
            "comparison of solvers is meant"
        ),
        time_title=figure.time_title,
        value_title=figure.value_title,
    )


def draw_regimes(figure: RegimeFigure, *, width: int = 360, height: int = 260) -> Any:
    """Draw one panel per reference on a common scale, shaded below zero."""
    alt = load_altair()
    names = sorted(figure.data["series"].unique().to_list())
    colour, dash = arm_scales(names)
    legend = arm_legend(names, width=2 * width, symbolType="stroke", symbolStrokeWidth=3)
    lowest = figure.data["value"].min()
    low = min(-0.02, 1.15 * lowest) if isinstance(lowest, float) else -0.02
    panels = []
    for letter, regime in zip("ab", figure.regimes, strict=False):
        mine = figure.data.filter(pl.col("regime") == regime)
        y = alt.Y("value:Q", title=figure.value_title, scale=alt.Scale(domain=[low, HIGHEST], nice=False))
        below = (
            alt.Chart(alt.Data(values=[{"low": low, "zero": 0}]))
            .mark_rect(color="#0072B2", opacity=0.07)
            .encode(y=alt.Y("low:Q", title=figure.value_title), y2="zero:Q")
        )
        zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color="#444").encode(y="zero:Q")
        lines = (
            alt.Chart(mine)
            .mark_line(interpolate="step-after", strokeWidth=2, clip=True)
            .encode(
                x=alt.X("time:Q", title=figure.time_title, scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=6)),
                y=y,
                color=alt.Color("series:N", scale=colour, title=None, legend=legend),
                strokeDash=alt.StrokeDash("series:N", scale=dash, title=None, legend=legend),
            )
        )
        heading = alt.TitleParams(f"({letter}) {regime}", fontSize=12, fontWeight="normal", anchor="start", limit=width)
        panels.append(alt.layer(below, zero, lines).properties(width=width, height=height, title=heading))
    return titled(
        alt.hconcat(*panels, spacing=30),
        "The same trajectories under two reference policies",
        figure.caption,
        width=2 * width + 60,
    )
