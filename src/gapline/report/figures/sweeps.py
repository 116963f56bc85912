"""Scores over the horizon, or over the cutoff of a logarithmic weight, with the points where arms swap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.report.canvas import log_words
from gapline.report.curve_figure import MOST_ROWS, ending_best, leaders_last
from gapline.report.drawing import Figure, alt, line_look, small_title, titled
from gapline.report.looks import grey_words, leading
from gapline.scoring.moments import axis_moments
from gapline.study.cutoff_sweep import KINDS, CutoffSweep
from gapline.study.horizon_sweep import HorizonSweep

_TITLES = {"early-log": "early-log: 1/t from the cutoff on", "end-log": "end-log: 1/(time left) until the cutoff"}

# If there are more rules than this, they are shortened.
MOST_RULES = 12


@dataclass(frozen=True, slots=True)
class CutoffFigure(Figure):
    """`data`: kind, cutoff, arm, score; `baseline`: arm, score (declared weight); `swaps`: kind, cutoff, pair."""

    baseline: pl.DataFrame = field(kw_only=True)
    swaps: pl.DataFrame = field(kw_only=True)


def cutoff_figure(found: CutoffSweep, reference: ReferenceLabel, *, unit: str = "s") -> CutoffFigure:
    """Return the curves on a fine grid, the scores under the declared weight, and every swap within the grid."""
    inside = [swap for swap in found.swaps or () if swap.cutoff <= found.cutoffs[-1]]
    rows = [(s.kind, s.cutoff, f"{s.below} better below, {s.above} above") for s in inside]
    schema = {"kind": pl.String, "cutoff": pl.Float64, "pair": pl.String}
    exact = "exact swaps of two arms, marked by rules" if found.swaps is not None else "horizons differ: at the cutoffs"
    return CutoffFigure(
        data=found.fine(),
        baseline=pl.DataFrame({"arm": list(found.baseline), "score": list(found.baseline.values())}),
        swaps=pl.DataFrame(rows, schema=schema, orient="row"),
        title="The mean score under logarithmic weights, by their cutoff: smaller is better",
        caption=(
            f"mean {found.kernel} score, {found.weighting}-equal, against {reference}; thin: weight {found.weight}; "
            f"{exact}: {len(rows) if found.swaps is not None else len(found.cutoffs)}"
        ),
        time_title=f"cutoff ({unit}), logarithmic",
        value_title=f"mean {found.kernel} score",
    )


def cutoff_lines(data: pl.DataFrame, baseline: pl.DataFrame, *, arm: str, title: str, value: str, look: Any) -> Any:
    """Draw score over cutoff for each arm on a logarithmic axis, and as dashed lines the scores without a cutoff."""
    # Ticks at powers of ten only: Vega would draw all nine ticks between two of them.
    low, high = (math.log10(float(end)) for end in (data["cutoff"].to_numpy().min(), data["cutoff"].to_numpy().max()))
    ticks = [10.0**power for power in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]
    axis = alt.Axis(values=ticks, format="~g") if len(ticks) > 1 else alt.Axis(format="~g", tickCount=3)
    x = alt.X("cutoff:Q", title=title, scale=alt.Scale(type="log", nice=False), axis=axis)
    lines = alt.Chart(data).mark_line(strokeWidth=2)
    lines = lines.encode(x=x, y=alt.Y("score:Q", title=value), tooltip=[f"{arm}:N", "cutoff:Q", "score:Q"], **look)
    rules = alt.Chart(baseline).mark_rule(strokeDash=[2, 3], strokeWidth=1)
    return alt.layer(rules.encode(y="score:Q", color=look["color"]), lines)


def draw_cutoffs(figure: CutoffFigure, *, best: Sequence[str] = (), arms: Sequence[str] = ()) -> Any:
    """Draw both kinds side by side, with a rule at each swap; of many arms, the first of `best` are coloured."""
    names = sorted(figure.baseline["arm"].to_list())
    lead = leading(names, best or names)
    look = line_look("arm", names, arms=arms, lead=lead)
    panels = []
    for kind in KINDS:
        lines = cutoff_lines(
            figure.data.filter(pl.col("kind") == kind), figure.baseline, arm="arm", title=figure.time_title,
            value=figure.value_title, look=look,
        )  # fmt: skip
        swaps = alt.Chart(figure.swaps.filter(pl.col("kind") == kind))
        if figure.swaps.height > MOST_RULES:
            # Many rules would hide the curves: draw short ones at the bottom of the plot.
            marks = swaps.mark_tick(color="#000", opacity=0.5, thickness=1, size=10, yOffset=-5)
            marks = marks.encode(y=alt.value("height"))
        else:
            marks = swaps.mark_rule(color="#000", opacity=0.5)
        marks = marks.encode(x="cutoff:Q", tooltip=["pair:N", "cutoff:Q"])
        chart = alt.layer(lines, marks).properties(width=270, height=240)
        panels.append(chart.properties(title=small_title(_TITLES[kind])))
    both = alt.hconcat(*panels, spacing=30).resolve_scale(y="shared")
    return titled(both, figure.title, figure.caption + grey_words(names, lead))


POINTS = 400
# More crosses would hide the curves.
MOST_CROSSES = 25


@dataclass(frozen=True, slots=True)
class SweepFigure(Figure):
    """`data`: arm, horizon, score; `swaps`: horizon, score, after, before, pair; logarithmic if it has a start."""

    swaps: pl.DataFrame = field(kw_only=True)
    start: float | None = None


def sweep_figure(
    sweep: HorizonSweep, reference: ReferenceLabel, *, descriptive: Sequence[str] = (), start: float | None = None
) -> SweepFigure:
    """Return the exact curves on a fine grid, and every swap of two compared arms at its horizon."""
    # Keep the rows of all arms together below Altair's limit.
    points = max(2, min(POINTS, MOST_ROWS // max(1, len(sweep.curves))))
    # There is no score up to a horizon of 0, so drop that point of a linear axis.
    moments = axis_moments(start, sweep.horizon, points)
    grid = np.append(moments[1:] if start is None else moments, sweep.horizon)
    points = len(grid)
    data = pl.concat(
        pl.DataFrame({"arm": [arm] * points, "horizon": grid, "score": curve.at(grid)})
        for arm, curve in sweep.curves.items()
    )
    rows = [
        (swap.horizon, float(sweep.curves[swap.after].at(swap.horizon)), swap.after, swap.before)
        for swaps in sweep.swaps.values()
        for swap in swaps
        if swap.before not in descriptive and swap.after not in descriptive
    ]
    early = sum(row[0] < (start or 0.0) for row in rows)
    schema = {"horizon": pl.Float64, "score": pl.Float64, "after": pl.String, "before": pl.String}
    swaps = pl.DataFrame(rows, schema=schema, orient="row")
    unit = "shares of each run's horizon" if sweep.relative else "seconds"
    return SweepFigure(
        data=data,
        swaps=swaps.with_columns(pair=pl.format("{} passes {}", "after", "before")).sort("horizon", "pair"),
        title="The mean score at every horizon: smaller is better",
        caption=(
            f"mean {sweep.kernel} score, {sweep.weighting}-equal, against {reference}; horizons in {unit}; swaps of "
            f"two arms, marked by crosses: {len(rows)}{f', {early} of them before the axis begins' if early else ''}"
            "; the solvers were told the full horizon"
            + log_words(start, "of the horizon" if sweep.relative else "s").partition(",")[0]
        ),
        time_title=("horizon H/Γ" if sweep.relative else "horizon H (s)") + ("" if start is None else ", logarithmic"),
        value_title=f"mean {sweep.kernel} score up to H",
        start=start,
    )


def draw_sweep(figure: SweepFigure, *, best: Sequence[str] = (), arms: Sequence[str] = ()) -> Any:
    """Draw the curves, with a cross at each swap; of many arms, the first of `best` are coloured."""
    names = sorted(figure.data["arm"].unique().to_list())
    lead = leading(names, best or ending_best(figure.data, "arm", "score"))
    x = alt.X("horizon:Q", title=figure.time_title, scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=8))
    if figure.start is not None:
        scale = alt.Scale(type="log", nice=False, domain=[figure.start, figure.data["horizon"].max()])
        x = alt.X("horizon:Q", title=figure.time_title, scale=scale, axis=alt.Axis(format="~g", tickCount=6))
    lines = alt.Chart(leaders_last(figure.data, "arm", lead)).mark_line(strokeWidth=2)
    lines = lines.encode(
        x=x,
        y=alt.Y("score:Q", title=figure.value_title),
        tooltip=["arm:N", "horizon:Q", alt.Tooltip("score:Q", format=".6f")],
        **line_look("arm", names, arms=arms, lead=lead),
    )
    # Hundreds of crosses would hide the curves: of many arms, mark only swaps between coloured ones.
    shown = figure.swaps.filter(pl.col("after").is_in(lead) & pl.col("before").is_in(lead)) if lead else figure.swaps
    shown = shown.filter(pl.col("horizon") >= (figure.start or 0.0))
    crosses = ", crosses among these alone" if lead else ""
    if shown.height > MOST_CROSSES:
        crosses += f", those of the {MOST_CROSSES} last ones alone"
        shown = shown.tail(MOST_CROSSES)
    swaps = alt.Chart(shown).mark_point(shape="cross", size=70, filled=True, color="#000", angle=45, opacity=1)
    swaps = swaps.encode(x=x, y="score:Q", tooltip=["pair:N", "horizon:Q"])
    chart = alt.layer(lines, swaps).properties(width=620, height=300)
    return titled(chart, figure.title, figure.caption + grey_words(names, lead) + crosses)
