"""Figure two-regime: the same trajectories under a frozen and an analysis reference."""

from typing import Any

import polars as pl

from gapline.envelope.build import Envelopes
from gapline.report.curve_figure import mean_curve_figure
from gapline.report.drawing import Figure, alt, line_look, small_title, step_lines, titled, zero_line
from gapline.scoring.curve import mean_curve
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.scores import score
from gapline.study import Study

# The axis ends here where the curves start at 1: what the reference changes is near zero.
HIGHEST = 0.25


def regime_figure(study: Study, *, source: str, envelopes: Envelopes | None = None) -> Figure:
    """Return the mean curves of every arm against the first and the last snapshot of a study; `source` names it.

    `envelopes` are the runs to show, where these are not all. Columns regime, series, time, value; `names` are the
    regimes in the order they are drawn.
    """
    kernel = study.kernels[0] if parse_kernel(study.kernels[0]).before is not None else "squeezed"
    shown = study.envelopes if envelopes is None else envelopes
    parts, negative = {}, []
    # With one reference there is one panel.
    places = sorted({0, len(study.references) - 1})
    for entry in (study.references[place] for place in places):
        choices: dict[str, Any] = {"weighting": study.weighting, "relative": study.relative, "policy": entry.policy}
        figure = mean_curve_figure(mean_curve(shown, entry.snapshot, kernel=kernel, **choices))
        name = f"{entry.policy} reference: {entry.snapshot.name}"
        parts[name] = figure.data.with_columns(regime=pl.lit(name))
        scores = score(shown, entry.snapshot, kernels=[kernel], policy=entry.policy).frame[kernel]
        negative.append(int((scores < 0).sum()))
    digests = "; ".join(str(study.scores[place].reference) for place in places)
    return Figure(
        data=pl.concat(parts.values()),
        title="The same trajectories under two reference policies",
        names=tuple(parts),
        caption=(
            f"{source}: mean {kernel} gap, {study.weighting}-equal, of the same runs against {digests}; runs with "
            f"a negative score: {', '.join(map(str, negative))}; values above {HIGHEST:g} are cut off; no "
            "comparison of solvers is meant"
        ),
        time_title=figure.time_title,
        value_title=figure.value_title,
    )


def draw_regimes(figure: Figure, *, width: int = 360, height: int = 260) -> Any:
    """Draw one panel per reference on a common scale, shaded below zero."""
    look = line_look("series", sorted(figure.data["series"].unique().to_list()), width=2 * width)
    lowest = figure.data["value"].min()
    # Room below zero even where nothing goes there: that nothing does is what the second panel shows.
    low = min(-0.02, 1.15 * lowest) if isinstance(lowest, float) else -0.02
    x = alt.X("time:Q", title=figure.time_title, scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=6))
    y = alt.Y("value:Q", title=figure.value_title, scale=alt.Scale(domain=[low, HIGHEST], nice=False))
    below = alt.Chart(alt.Data(values=[{"low": low, "zero": 0}])).mark_rect(color="#0072B2", opacity=0.07)
    below = below.encode(y=alt.Y("low:Q", title=figure.value_title), y2="zero:Q")
    panels = []
    for letter, regime in zip("ab", figure.names, strict=False):
        lines = step_lines(figure.data.filter(pl.col("regime") == regime), clip=True, x=x, y=y, **look)
        heading = small_title(f"({letter}) {regime}")
        panels.append(alt.layer(below, zero_line(), lines).properties(width=width, height=height, title=heading))
    return titled(alt.hconcat(*panels, spacing=30), figure.title, figure.caption, width=2 * width + 60)
