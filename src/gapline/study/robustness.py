"""Robustness of a contrast: the share of the choices under which it holds, and the choices that flip it.

The choices are varied one at a time around the declared reading, which is the baseline: kernel × reference, time weight
with its cutoff, weighting rule, horizon, goal level, declared transform.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.instance_set import instance_groups
from gapline.contract.names import TimeWeight, parse_weight
from gapline.contract.result_table import Shown
from gapline.contract.tables import ROBUSTNESS, ROBUSTNESS_VERDICTS
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import per_run
from gapline.errors import UsageError
from gapline.scoring.endpoints import hitting_times
from gapline.scoring.integral import integrate_envelopes
from gapline.scoring.weighting import Weighting
from gapline.statistics.cells import finite_or_none, sign
from gapline.study.cutoff_sweep import KINDS, log_weight_scores
from gapline.study.horizon_sweep import HorizonSweep
from gapline.study.readings import Readings

Floats = NDArray[np.float64]

GOALS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
# Cutoffs of the logarithmic weights are shares of the shortest horizon, so that every run keeps some weight.
CUTOFFS = (0.01, 0.1)
# Equidistant horizons at which the order is counted; the horizons in a sentence are the exact swaps.
HORIZONS = 20


@dataclass(frozen=True, slots=True, eq=False)
class VariedChoice:
    """One way to judge the arms: a pooled value per arm, of which less is better."""

    factor: str
    name: str
    pooled: Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Robustness(Shown):
    """One verdict per contrast and choice, and a line per contrast; `left_out` are choices that cannot be judged."""

    summary: pl.DataFrame
    verdicts: pl.DataFrame
    left_out: tuple[str, ...]

    def caption(self) -> str:
        """Return a description in one line."""
        return f"{self.summary.height} contrasts under {self.verdicts.height} choices"

    def document(self) -> list[dict[str, Any]]:
        """Return it for JSON: a row per contrast, with the choices that flip it."""
        rows = []
        for row in self.summary.iter_rows(named=True):
            mine = self.verdicts.filter((pl.col("a") == row["a"]) & (pl.col("b") == row["b"]))
            flips = mine.filter(pl.col("verdict") == "flips").select("factor", "choice", "difference")
            rows.append(row | {"flipped_by": flips.to_dicts(), "left_out": list(self.left_out)})
        return rows


def robustness(
    readings: Readings,
    /,
    *,
    contrasts: Sequence[tuple[str, str]],
    sweep: HorizonSweep,
    transforms: Sequence[VariedChoice] = (),
    left_out: Sequence[str] = (),
) -> Robustness:
    """Judge every contrast under every choice.

    The sweep is of the same arms against the first reference, that of the baseline. Berthold's gap under a beaten
    reference is left out. A tie neither holds nor flips. `transforms` are choices of other transforms, `left_out` those
    that cannot be judged. Arms that ran different instances are not judged.
    """
    choices, unable = _choices(readings, sweep)
    choices += transforms
    left_out = [*unable, *left_out]
    baseline = readings.pooled(0, 0)
    group = instance_groups(readings.envelopes.rows)
    # Under a kernel that ranks nothing there is no order that could hold.
    judged = [] if readings.unranked(0, 0) else [(a, b) for a, b in contrasts if group[a] == group[b]]
    # Every choice is a mean of an arm over the arm's own instances.
    left_out += [f"{a} and {b}: they ran other instances" for a, b in contrasts if group[a] != group[b]]
    summary, verdicts = [], []
    for a, b in judged:
        one, other = readings.cells.arm_number(a), readings.cells.arm_number(b)
        stands = int(sign(baseline[one] - baseline[other]))
        counts, flipped = {"holds": 0, "ties": 0, "flips": 0}, []
        for choice in choices:
            difference = choice.pooled[one] - choice.pooled[other]
            verdict = ("ties", "holds", "flips")[int(sign(difference)) * stands]
            counts[verdict] += 1
            verdicts.append((a, b, choice.factor, choice.name, finite_or_none(difference), verdict))
            flipped += [(choice.factor, choice.name)] if verdict == "flips" else []
        better = (None, b, a)[stands]
        share = counts["holds"] / len(choices) if stands else None
        text = describe(better, counts["holds"], len(choices), flipped, _horizon_words(sweep, a, b, better))
        summary.append((a, b, better, len(choices), *counts.values(), share, text))
    return Robustness(
        summary=pl.DataFrame(summary, schema=ROBUSTNESS, orient="row"),
        verdicts=pl.DataFrame(verdicts, schema=ROBUSTNESS_VERDICTS, orient="row"),
        left_out=tuple(left_out),
    )


def describe(better: str | None, holds: int, total: int, flips: Sequence[tuple[str, str]], horizons: list[str]) -> str:
    """Describe one contrast.

    >>> describe("a", 58, 60, [("horizon", "20 s"), ("horizon", "40 s")], ["horizon < 40 s"])
    'a has the lower mean; the same order under 58 of 60 choices; flips at horizon < 40 s'
    """
    if better is None:
        return "tied at the baseline"
    others = [name if factor != "kernel" else f"kernel {name}" for factor, name in flips if factor != "horizon"]
    words = horizons + others
    tail = f"; flips at {', '.join(words)}" if words else ""
    return f"{better} has the lower mean; the same order under {holds} of {total} choices{tail}"


def _choices(readings: Readings, sweep: HorizonSweep) -> tuple[list[VariedChoice], list[str]]:
    choices, left_out = [], []
    for r, name in enumerate(readings.names):
        for k, kernel in enumerate(readings.kernels):
            label = f"{kernel.name} against {name}"
            # Left out and not counted as a flip: a kernel that misreads improvements is no evidence either way.
            if readings.unranked(r, k):
                left_out.append(f"{label}: out of its envelope")
            elif np.isnan(readings.scores[r][:, k]).any():
                left_out.append(f"{label}: does not exist for every run")
            else:
                choices.append(VariedChoice("kernel", label, readings.pooled(r, k)))
    choices += _weight_choices(readings, sweep)
    others = [rule for rule in Weighting if rule != readings.weighting]
    choices += [VariedChoice("weighting", f"{rule}-equal", readings.pooled(0, 0, rule)) for rule in others]
    for step in range(1, HORIZONS):
        choices += _horizon_choice(readings, sweep, sweep.horizon * step / HORIZONS, left_out)
    hits = np.isfinite(hitting_times(readings.envelopes, readings.references[0], GOALS, readings.tolerance))
    for k, goal in enumerate(GOALS):
        # Less is better in every choice, so the goal is judged by the share that missed it.
        missed = 1.0 - hits[:, k].astype(np.float64)
        choices.append(VariedChoice("goal", f"attainment of {goal:g}", readings.pool(missed)))
    return choices, left_out


def _horizon_choice(readings: Readings, sweep: HorizonSweep, horizon: float, left_out: list[str]) -> list[VariedChoice]:
    """Judge the arms at a shorter horizon under the declared weight; for the uniform one the sweep is exact."""
    name = f"{horizon:g} {'of the horizon' if sweep.relative else 's'}"
    # The sweep is exact and already available; any other weight needs a new integral at each horizon.
    if readings.weight == "uniform":
        pooled = np.array([float(sweep.curves[arm].at(horizon)) for arm in readings.cells.arms])
        return [VariedChoice("horizon", name, pooled)]
    shortened = shorten(readings.envelopes, horizon, relative=sweep.relative)
    weight = parse_weight(readings.weight)
    try:
        weight.check_horizons(shortened.runs["horizon"].to_list())
    except UsageError:
        left_out.append(f"horizon {name}: no weight of {weight.name} is left before it")
        return []
    return [VariedChoice("horizon", name, _integrate(readings, shortened, weight))]


def _integrate(readings: Readings, envelopes: Envelopes, weight: TimeWeight) -> Floats:
    """Return the pooled score of each arm under another weight or horizon, everything else as declared."""
    references, kernels = readings.references[0], [readings.kernels[0]]
    return readings.pool(integrate_envelopes(envelopes, references, kernels=kernels, weight=weight)[:, 0])


def shorten(envelopes: Envelopes, horizon: float, *, relative: bool) -> Envelopes:
    """Return the envelopes cut at a shorter horizon, or at a share of each run's own."""
    runs = envelopes.runs
    ends = runs["horizon"].to_numpy() * horizon if relative else np.full(runs.height, horizon)
    counts = per_run(_steps_until, envelopes, ends)
    cut = runs.with_columns(horizon=pl.Series(ends), count=pl.Series(counts, dtype=pl.Int64))
    return replace(envelopes, runs=cut)


def _steps_until(envelopes: Envelopes, ends: Floats) -> NDArray[np.int64]:
    slices = zip(envelopes.runs["first"].to_list(), envelopes.runs["count"].to_list(), ends.tolist(), strict=True)
    counts = [int(np.searchsorted(envelopes.time[f : f + c], end, side="right")) for f, c, end in slices]
    return np.array(counts, np.int64)


def _weight_choices(readings: Readings, sweep: HorizonSweep) -> list[VariedChoice]:
    """Judge the arms under logarithmic time."""
    envelopes = readings.envelopes
    shortest = float(envelopes.runs["horizon"].to_numpy().min())
    choices = []
    if readings.weight != "uniform":
        choices.append(VariedChoice("weight", "uniform", _integrate(readings, envelopes, parse_weight("uniform"))))
    for kind in KINDS:
        weights = [parse_weight(f"{kind}:{cutoff * shortest:g}") for cutoff in CUTOFFS]
        seconds = [weight.cutoff for weight in weights]
        pooled = log_weight_scores(
            envelopes, readings.references[0], readings.cells, sweep, readings.kernels[0], kind, seconds
        )
        choices += [VariedChoice("weight", weight.name, row) for weight, row in zip(weights, pooled, strict=True)]
    return choices


def _horizon_words(sweep: HorizonSweep, a: str, b: str, better: str | None) -> list[str]:
    """Name the exact ranges of horizons below the full one in which the other arm leads."""
    swaps = sweep.swaps_of(a, b)
    if better is None:
        return []
    unit = "of the horizon" if sweep.relative else "s"
    ends = [0.0, *(swap.horizon for swap in swaps)]
    # Each range in which the other arm leads extends up to the swap that ends it.
    return [
        (f"{low:.6g} < " if low > 0 else "") + f"horizon < {swap.horizon:.6g} {unit}"
        for low, swap in zip(ends, swaps, strict=False)
        if swap.before != better
    ]
