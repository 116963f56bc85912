"""Figure metric-sensitivity, of a study or of a small built-in campaign."""

import hashlib
from typing import Any, NamedTuple

from gapline.campaign.campaign import Campaign
from gapline.references.snapshot import Snapshot
from gapline.report.drawing import alt, titled
from gapline.report.figures.complementarity import draw_segments, segment_figure
from gapline.report.figures.sensitivity import draw_shift, draw_slopes, shift_figure, slope_figure
from gapline.study.analyse import Analysis


def draw_sensitivity(analysis: Analysis, *, source: str) -> Any:
    """Draw the three panels one above the other; that of the references only where there are two."""
    labels = list(analysis.labels.items())
    # The pooled table of the paper is the post-fold one.
    name, folded = next(((name, label) for name, label in labels if label.policy == "analysis"), labels[-1])
    panels = [draw_slopes(slope_figure(analysis.metrics, name, folded), height=240)]
    if analysis.references is not None:
        kernel = analysis.metrics.pooled["kernel"][0]
        shift = shift_figure(analysis.references, labels[0][1], labels[-1][1], kernel=kernel)
        panels.append(draw_shift(shift))
    panels.append(draw_segments(segment_figure(analysis.complementarity, analysis.folded_scores)))
    # Arms, references and ends of pairs are coloured by other scales.
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


class Habit(NamedTuple):
    """How an arm behaves: first incumbent, opening gap, speed, gap it settles at."""

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
    """Return the published values that some of the runs go below."""
    values = {instance: _best(instance, size) for instance, _, size in _INSTANCES}
    return Snapshot.from_values(values, name="published", source=NAME, as_of="2026-01-31")


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
        # Three decimals: the digest of the campaign does not hang on the last bit of a sum.
        trace.append((round(time, 3), round(best * (1.0 + gap), 3), valid))
    return trace


def _best(instance: str, size: int) -> float:
    # Rounded, so that the printed value is the value that the runs are scored against.
    return round(100 * size * (0.8 + 0.4 * _unit("value", instance)), 1)


def _unit(*what: object) -> float:
    """Return a number in [0, 1) that depends on what it is for and on nothing else."""
    word = "/".join(map(str, what)).encode("utf-8")
    return int.from_bytes(hashlib.sha256(word).digest()[:6], "big") / 2**48
