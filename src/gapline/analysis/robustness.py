"""Robustness of a contrast: under which share of the choices it holds, and which choices flip it.

The choices are varied one at a time around the declared reading, which is the baseline: kernel × reference, time weight
with its cutoff, weighting rule, horizon, goal level.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.analysis.events import in_threads
from gapline.analysis.horizon_sweep import HorizonSweep, SweepCurve, horizon_sweep
from gapline.analysis.readings import Readings
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.model.names import parse_weight
from gapline.model.tables import ROBUSTNESS, ROBUSTNESS_VERDICTS
from gapline.scoring.endpoints import hitting_times
from gapline.scoring.integral import integrate_envelopes
from gapline.scoring.weighting import Weighting
from gapline.summary.cells import finite_or_none, sign

Floats = NDArray[np.float64]

GOALS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
CUTOFFS = (0.01, 0.1)
HORIZONS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One way to judge the arms: a pooled value per arm of which less is better."""

    factor: str
    name: str
    pooled: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Robustness:
    """One verdict per contrast and choice, and a line per contrast.

    `summary`: a, b, better (at the baseline), choices, holds, ties, flips, share, text. `verdicts`: a, b, factor,
    choice, difference, verdict.
    """

    summary: pl.DataFrame
    verdicts: pl.DataFrame
    left_out: tuple[str, ...]

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
    contrasts: Sequence[tuple[str, str]] | None = None,
    sweep: HorizonSweep | None = None,
    reference: int = 0,
    goals: Sequence[float] = GOALS,
    cutoffs: Sequence[float] = CUTOFFS,
    horizons: int = HORIZONS,
) -> Robustness:
    """Judge every contrast under every choice.

    Parameters
    ----------
    contrasts
        Pairs of arms; every pair of tier-1 arms where not given.
    sweep
        A horizon sweep of the same arms, where it was made already.
    reference
        The number of the reference of the baseline, the declared one by default.
    cutoffs
        Cutoffs of the logarithmic weights, as shares of the shortest horizon.
    horizons
        How many equal steps of the horizon are judged; the swaps that are named are exact.

    Berthold's gap under a beaten reference is left out. A tie neither holds nor flips.
    """
    pairs = list(contrasts) if contrasts is not None else _all_pairs(readings)
    if sweep is None:
        kernel = readings.kernels[0]
        sweep = horizon_sweep(
            readings.envelopes,
            readings.snapshots[reference],
            kernel=kernel,
            weighting=readings.weighting,
            tolerance=readings.tolerance,
        )
    choices, left_out = _choices(readings, sweep, reference, goals=goals, cutoffs=cutoffs, horizons=horizons)
    baseline = readings.pooled(reference, 0)
    summary, verdicts = [], []
    for a, b in pairs:
        one, other = readings.cells.arm_number(a), readings.cells.arm_number(b)
        stands = int(sign(baseline[one] - baseline[other]))
        counts = {"holds": 0, "ties": 0, "flips": 0}
        for choice in choices:
            difference = choice.pooled[one] - choice.pooled[other]
            found = int(sign(difference)) * stands
            verdict = "holds" if found > 0 else "flips" if found < 0 else "ties"
            counts[verdict] += 1
            verdicts.append((a, b, choice.factor, choice.name, finite_or_none(difference), verdict))
        better = None if stands == 0 else a if stands < 0 else b
        flipped = [(v[2], v[3]) for v in verdicts if v[:2] == (a, b) and v[5] == "flips"]
        share = counts["holds"] / len(choices) if stands else None
        text = describe(better, counts["holds"], len(choices), flipped, _horizon_words(sweep, a, b, better))
        summary.append((a, b, better, len(choices), *counts.values(), share, text))
    return Robustness(
        summary=pl.DataFrame(summary, schema=ROBUSTNESS, orient="row"),
        verdicts=pl.DataFrame(verdicts, schema=ROBUSTNESS_VERDICTS, orient="row"),
        left_out=tuple(left_out),
    )


def describe(better: str | None, holds: int, total: int, flips: Sequence[tuple[str, str]], horizons: list[str]) -> str:
    """Word one contrast.

    >>> describe("a", 58, 60, [("horizon", "20 s"), ("horizon", "40 s")], ["horizon < 40 s"])
    'a is better; robust under 58 of 60; flips at horizon < 40 s'
    """
    if better is None:
        return "tied at the baseline: there is nothing to flip"
    others = [name if factor != "kernel" else f"kernel {name}" for factor, name in flips if factor != "horizon"]
    words = horizons + others
    tail = f"; flips at {', '.join(words)}" if words else ""
    return f"{better} is better; robust under {holds} of {total}{tail}"


def _all_pairs(readings: Readings) -> list[tuple[str, str]]:
    return [(readings.cells.arms[one], readings.cells.arms[other]) for one, other in readings.pairs]


def _choices(
    readings: Readings,
    sweep: HorizonSweep,
    reference: int,
    *,
    goals: Sequence[float],
    cutoffs: Sequence[float],
    horizons: int,
) -> tuple[list[Choice], list[str]]:
    cells, envelopes = readings.cells, readings.envelopes
    choices, left_out = [], []
    for r, name in enumerate(readings.names):
        for k, kernel in enumerate(readings.kernels):
            label = f"{kernel.name} against {name}"
            if readings.outside(r, k).any():
                left_out.append(f"{label}: out of its envelope")
            elif np.isnan(readings.scores[r][:, k]).any():
                left_out.append(f"{label}: does not exist for every run")
            else:
                choices.append(Choice("kernel", label, readings.pooled(r, k)))
    references = readings.references[reference]
    choices += _weight_choices(readings, sweep, references, cutoffs)
    for rule in Weighting:
        if rule != readings.weighting:
            choices.append(Choice("weighting", f"{rule}-equal", readings.pooled(reference, 0, rule)))
    for step in range(1, horizons):
        choices += _horizon_choice(readings, sweep, references, sweep.horizon * step / horizons, left_out)
    hits = np.isfinite(hitting_times(envelopes, references, goals, readings.tolerance))
    for k, goal in enumerate(goals):
        # Less is better in every choice, so the goal is judged by the share that missed it.
        missed = 1.0 - hits[:, k].astype(np.float64)
        pooled = cells.pooled(cells.instance_means(missed), readings.weighting)
        choices.append(Choice("goal", f"attainment of {goal:g}", pooled))
    return choices, left_out


def _horizon_choice(
    readings: Readings, sweep: HorizonSweep, references: Floats, horizon: float, left_out: list[str]
) -> list[Choice]:
    """Judge the arms at a shorter horizon under the declared weight; the sweep knows the uniform one exactly."""
    name = f"{horizon:g} {'of the horizon' if sweep.relative else 's'}"
    if readings.weight == "uniform":
        pooled = np.array([float(sweep.curves[arm].at(horizon)) for arm in readings.cells.arms])
        return [Choice("horizon", name, pooled)]
    shortened = shorten(readings.envelopes, horizon, relative=sweep.relative)
    weight = parse_weight(readings.weight)
    try:
        weight.check_horizons(shortened.runs["horizon"].to_list())
    except UsageError:
        left_out.append(f"horizon {name}: no weight of {weight.name} is left before it")
        return []
    scores = integrate_envelopes(shortened, references, kernels=[readings.kernels[0]], weight=weight)[:, 0]
    return [Choice("horizon", name, readings.cells.pooled(readings.cells.instance_means(scores), readings.weighting))]


def shorten(envelopes: Envelopes, horizon: float, *, relative: bool) -> Envelopes:
    """Return the envelopes cut at a shorter horizon, or at a share of each run's own."""
    runs = envelopes.runs
    ends = runs["horizon"].to_numpy() * horizon if relative else np.full(runs.height, horizon)
    slices = zip(runs["first"].to_list(), runs["count"].to_list(), ends.tolist(), strict=True)
    counts = [int(np.searchsorted(envelopes.time[f : f + c], end, side="right")) for f, c, end in slices]
    cut = runs.with_columns(horizon=pl.Series(ends), count=pl.Series(counts, dtype=pl.Int64))
    return replace(envelopes, runs=cut)


def _weight_choices(
    readings: Readings, sweep: HorizonSweep, references: Floats, cutoffs: Sequence[float]
) -> list[Choice]:
    """Judge the arms under logarithmic time; on relative time every run is integrated, as a cutoff is in seconds."""
    cells, envelopes = readings.cells, readings.envelopes
    shortest = float(envelopes.runs["horizon"].to_numpy().min())
    choices = []
    if readings.weight != "uniform":
        scores = integrate_envelopes(
            envelopes, references, kernels=[readings.kernels[0]], weight=parse_weight("uniform")
        )[:, 0]
        choices.append(Choice("weight", "uniform", cells.pooled(cells.instance_means(scores), readings.weighting)))
    for head in ("early-log", "end-log"):
        weights = [parse_weight(f"{head}:{cutoff * shortest:g}") for cutoff in cutoffs]
        seconds = [weight.cutoff for weight in weights]
        if sweep.relative:
            pooled = []
            for weight in weights:
                scores = integrate_envelopes(envelopes, references, kernels=[readings.kernels[0]], weight=weight)[:, 0]
                pooled.append(cells.pooled(cells.instance_means(scores), readings.weighting))
        else:
            curves = [sweep.curves[arm] for arm in cells.arms]
            weigh = partial(SweepCurve.log_weighted, horizon=sweep.horizon, cutoffs=seconds, end=head == "end-log")
            pooled = list(np.array(in_threads(weigh, curves)).T)
        choices += [Choice("weight", weight.name, row) for weight, row in zip(weights, pooled, strict=True)]
    return choices


def _horizon_words(sweep: HorizonSweep, a: str, b: str, better: str | None) -> list[str]:
    """Name the horizons below the full one at which the other arm leads, exactly."""
    swaps = sweep.swaps_of(a, b)
    if better is None or not swaps:
        return []
    unit = "of the horizon" if sweep.relative else "s"
    words = []
    low = 0.0
    for swap in swaps:
        if swap.before != better:
            start = f"{low:.6g} < " if low > 0 else ""
            words.append(f"{start}horizon < {swap.horizon:.6g} {unit}")
        low = swap.horizon
    return words
