"""Figures two-regime and metric-sensitivity, of a study or of a small built-in campaign."""

import hashlib
from typing import Any, NamedTuple

import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.envelope.build import Envelopes
from gapline.references.snapshot import Snapshot
from gapline.report.curve_figure import mean_curve_figure
from gapline.report.drawing import Figure, alt, line_look, small_title, step_lines, titled, zero_line
from gapline.report.figures.complementarity import draw_segments, segment_figure
from gapline.report.figures.sensitivity import draw_shift, draw_slopes, shift_figure, slope_figure
from gapline.scoring.curve import mean_curve
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.scores import score
from gapline.study import Study, open_study
from gapline.study.analyse import Analysis

# The axis ends here although curves start at 1: the effect of the reference is near zero.
HIGHEST = 0.25


def regime_figure(study: Study, *, source: str, envelopes: Envelopes | None = None) -> Figure:
    """Return the mean curves of every arm against the first and the last snapshot of a study; `source` names it.

    `envelopes` are the runs to show, if not all of them. Columns regime, series, time, value; `names` are the regimes
    in drawing order.
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
    # Room below zero even if no curve goes there, which is what the second panel shows.
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


def draw_sensitivity(analysis: Analysis, *, source: str) -> Any:
    """Draw the three panels below each other; that of the references only if there are two."""
    labels = list(analysis.labels.items())
    # The pooled table of the paper uses the post-fold reference.
    name, folded = next(((name, label) for name, label in labels if label.policy == "analysis"), labels[-1])
    panels = [draw_slopes(slope_figure(analysis.metrics, name, folded), height=240)]
    if analysis.references is not None:
        kernel = analysis.metrics.pooled["kernel"][0]
        shift = shift_figure(analysis.references, labels[0][1], labels[-1][1], kernel=kernel)
        panels.append(draw_shift(shift))
    panels.append(draw_segments(segment_figure(analysis.complementarity, analysis.folded_scores)))
    # Arms, references and ends of pairs have different colour scales.
    chart = alt.vconcat(*panels, spacing=34).resolve_scale(
        color="independent", shape="independent", strokeDash="independent"
    )
    return titled(chart, "Sensitivity to kernel, reference and companion view", source, width=660)


HORIZON = 60.0
# Name, panel and size of each.
_INSTANCES = [(f"{panel}-{k}", panel, size) for panel, size in (("small", 25), ("large", 100)) for k in range(1, 5)]
SEEDS = (1, 2, 3)
STEPS = 24
NAME = "synthetic campaign"
SYNTHETIC = f"{NAME} made by gapline, no solver ran"


class Habit(NamedTuple):
    """The behaviour of an arm: first incumbent, opening gap, speed, final gap."""

    first: float
    opening: float
    speed: float
    floor: float


ARMS = {
    "early": Habit(first=0.2, opening=0.45, speed=0.5, floor=0.012),
    "late": Habit(first=0.9, opening=0.90, speed=0.5, floor=-0.085),
    "steady": Habit(first=0.6, opening=0.50, speed=0.36, floor=-0.004),
    "sliced": Habit(first=1.2, opening=0.70, speed=0.5, floor=-0.012),
}
TIER_TWO = ("sliced",)


def synthetic_campaign() -> Campaign:
    """Return four arms on eight instances in two panels, three seeds each."""
    runs = [
        {"arm": arm, "instance": instance, "panel": panel, "seed": seed, "horizon": HORIZON, "status": "time-limit",
         "trace": _trace(arm, habit, instance, size, seed)}
        for arm, habit in ARMS.items() for instance, panel, size in _INSTANCES for seed in SEEDS
    ]  # fmt: skip
    return Campaign.from_runs(runs)


def synthetic_snapshot() -> Snapshot:
    """Return the published values; some of the runs go below them."""
    values = {instance: _best(instance, size) for instance, _, size in _INSTANCES}
    return Snapshot.from_values(values, name="published", source=NAME, as_of="2026-01-31")


def synthetic_study() -> Study:
    """Return the built-in campaign, read against its published values and against the analysis reference."""
    return open_study(synthetic_campaign(), snapshots=[synthetic_snapshot()], tier_two=TIER_TWO, title=NAME, draws=1000)


def _trace(arm: str, habit: Habit, instance: str, size: int, seed: int) -> list[tuple[Any, ...]]:
    def unit(*what: object) -> float:
        return _unit(arm, instance, seed, *what)

    if arm in TIER_TWO and unit("empty") < 0.15:
        return [(round(5 + 10 * k, 3), round(_best(instance, size) * 1.3, 3), False) for k in range(3)]
    best = _best(instance, size)
    slow = 1.0 + size / 200
    trace: list[tuple[Any, ...]] = []
    for k in range(STEPS):
        share = (k + 0.6 * unit("time", k)) / STEPS
        time = habit.first * slow * (0.7 + 0.6 * unit("first")) + (HORIZON - 6) * share * share
        settled = habit.floor * (0.6 + 0.8 * unit("floor")) + 0.01 * (size / 100) * unit("luck")
        since = time - habit.first * 0.7
        gap = settled + habit.opening * (0.8 + 0.4 * unit("gap")) / (1.0 + habit.speed * since * (1.0 + since / 8))
        valid = not (arm in TIER_TWO and unit("valid", k) < 0.3)
        # Three decimals: the digest of the campaign must not depend on the last bit of a sum.
        trace.append((round(time, 3), round(best * (1.0 + gap), 3), valid))
    return trace


def _best(instance: str, size: int) -> float:
    # Rounded, so that the runs are scored against the printed value.
    return round(100 * size * (0.8 + 0.4 * _unit("value", instance)), 1)


def _unit(*what: object) -> float:
    """Return a number in [0, 1) that depends only on its purpose."""
    word = "/".join(map(str, what)).encode("utf-8")
    return int.from_bytes(hashlib.sha256(word).digest()[:6], "big") / 2**48
