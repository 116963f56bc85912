"""Probability of improvement, interquartile mean and shifted geometric mean of scores, with intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.tables import ARM_AVERAGES
from gapline.errors import UsageError
from gapline.measures.compared_arms import Compared, IntervalTable, bootstrap_ends, compare_cells
from gapline.native.arrays import Floats, Integers
from gapline.native.compilation import compiled
from gapline.scoring.events import in_threads
from gapline.scoring.kernels import kernel_range
from gapline.scoring.scores import Scores
from gapline.scoring.weighting import Weighting, parse_weighting
from gapline.statistics.cells import TIE, finite_or_none
from gapline.statistics.estimate import of_shares
from gapline.statistics.intervals import draw_counts

# For display, not for tests: fewer draws than a contrast needs.
DRAWS = 2000
# Draws that are processed together, so that their data stay in the fastest cache.
_BLOCK = 128


class Improvement(NamedTuple):
    """A probability of improvement with the ends of its interval; None if it does not exist."""

    value: float | None
    low: float | None
    high: float | None


def probability_of_improvement(
    compared: Compared,
    pairs: Sequence[tuple[str, str]],
    /,
    *,
    weighting: str | Weighting = Weighting.PANEL,
    level: float = 0.95,
) -> list[Improvement]:
    """Return, for each pair (a, b), P(a run of a scores below a run of b) + half of P(they tie), over instances.

    On an instance every run of one arm is compared with every run of the other; instances are averaged panel-equal, or
    all equally (`weighting="instance"`: rliable's). At 0.5 neither is better. It says how often, not by how much. The
    interval is over other instances of the same panels, by Student's t guarded against skewness, as for a mean; rliable
    draws other runs on the same tasks. There is no interval if some panel has one instance.

    Missing incumbents: an empty run has its kernel's score and loses to any that found something. Beaten references:
    only the order of scores matters. Unbalanced cells: an instance with more runs does not count more; one that only
    one of the two ran is left out.
    """
    cells = compared.cells
    chances = improvement_chances(compared)
    # One probability per instance: run-equal weighting has no runs to count here.
    rule = parse_weighting(weighting)
    rule = Weighting.INSTANCE if rule is Weighting.RUN else rule
    found = []
    for a, b in pairs:
        chosen = compared.pair(a, b)[2]
        if not chosen.any():
            found.append(Improvement(None, None, None))
            continue
        weights = cells.unit_weights(rule, chosen[None, :].astype(np.float64))[0][chosen]
        parts = weights * chances[cells.arm_number(a), cells.arm_number(b)][chosen]
        strata, value = cells.panel[chosen], min(float(parts.sum()), 1.0)
        ends: tuple[float, float] | None = None
        if np.bincount(strata)[strata].min() > 1:
            # Judged by the distance from 0.5, so that instances which all agree do not count as certain.
            ends = of_shares(parts - 0.5 * weights, weights, strata, draws=0).interval(level=level)
        low, high = (None, None) if ends is None else (max(0.0, 0.5 + ends[0]), min(1.0, 0.5 + ends[1]))
        found.append(Improvement(value, low, high))
    return found


def improvement_chances(compared: Compared, /) -> Floats:
    """Return, arms × arms × units, the share of pairs of runs in which the first scores less, ties half; NaN: none."""
    cells = compared.cells
    order = np.lexsort((compared.values, cells.unit))
    starts = np.searchsorted(cells.unit[order], np.arange(len(cells.units) + 1))
    shape = (len(cells.arms), len(cells.arms), len(cells.units))
    wins = np.zeros(shape)
    _meet(starts, cells.arm[order], compared.values[order], TIE, wins)
    counts = cells.counts()
    met = counts[:, None, :] * counts[None, :, :]
    out = np.full(shape, np.nan)
    np.divide(wins, met, out=out, where=met > 0)
    return out


@compiled(nogil=True)
def _meet(starts, arm, values, tie, wins):  # type: ignore[no-untyped-def] # pragma: no cover
    """Compare every run of a unit with every other; values are sorted, so wins and losses are counted on the way."""
    arms = len(wins)
    runs, worse, level = np.zeros(arms), np.zeros(arms), np.zeros(arms)
    for unit in range(len(starts) - 1):
        begin, end = starts[unit], starts[unit + 1]
        runs[:], worse[:], level[:] = 0.0, 0.0, 0.0
        for j in range(begin, end):
            runs[arm[j]] += 1.0
        # The run loses to those before `low` and wins from `high` on; `worse` and `level` count the runs before each.
        low, high = begin, begin
        for i in range(begin, end):
            while low < end and not values[i] - values[low] <= tie:
                worse[arm[low]] += 1.0
                low += 1
            while high < end and not values[i] - values[high] < -tie:
                level[arm[high]] += 1.0
                high += 1
            for other in range(arms):
                # Halves and integers: every sum is exact.
                wins[arm[i], other, unit] += runs[other] - level[other] + 0.5 * (level[other] - worse[other])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArmAverages(IntervalTable):
    """One row per arm: interquartile mean of the scores with its interval, and their shifted geometric mean."""

    shift: float

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return (
            f"interquartile mean of {self.reading.kernels[0]} scores, every run alike, {self.level:.0%} interval "
            f"by {self.drawn}; geometric mean of score + {self.shift:g}, minus {self.shift:g}; "
            f"{self.reading.line()}"
        )


def arm_averages(
    scores: Scores | Compared,
    /,
    *,
    weighting: str | Weighting = Weighting.PANEL,
    shift: float = 1.0,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 1,
) -> ArmAverages:
    """Tabulate averages of the scores of every arm that are less sensitive to outliers than the mean.

    `iqm` is the mean after cutting off a quarter of all runs × instances (rounded down) at each end, as in rliable; its
    interval draws instances with their runs inside their panels. `geometric_score` is
    exp(Σ w ln(score + shift)) - shift, with the weights of the mean; None if a score is -shift or below.

    Missing incumbents: an empty run has its kernel's score; up to a quarter of such runs can drop out of the IQM, so it
    is shown next to the mean and not instead of it. Beaten references: negative scores are kept. Unbalanced cells: in
    the IQM every run counts equally, so an instance with more runs counts more.
    """
    if not (math.isfinite(shift) and shift > 0):
        raise UsageError(f"shift: expected a positive number, got {shift}")
    compared = scores if isinstance(scores, Compared) else compare_cells(scores)
    cells = compared.cells
    unit_weights = cells.unit_weights(weighting, cells.counts())
    rows = []
    for number, arm in enumerate(cells.arms):
        mine = cells.arm == number
        values, unit = compared.values[mine], cells.unit[mine]
        weights = unit_weights[number][unit] / cells.counts()[number][unit]
        geometric = None
        if values.min() > -shift:
            geometric = finite_or_none(math.exp(math.fsum(np.log(values + shift) * weights)) - shift)
        present, place = np.unique(unit, return_inverse=True)
        strata = cells.panel[present]
        ends: tuple[float | None, float | None] = (None, None)
        middle = interquartile_mean(values)
        if np.bincount(strata)[strata].min() > 1:
            drawn = interquartile_means(values, draw_counts(strata, draws=draws, seed=seed), place)
            found = bootstrap_ends(drawn[:, None], np.array([middle]), strata, level=level)
            low, high = np.clip([end[0] for end in found], *kernel_range(compared.reading.kernels[0]))
            ends = finite_or_none(low), finite_or_none(high)
        rows.append((arm, middle, *ends, geometric))
    frame = pl.DataFrame(rows, schema=ARM_AVERAGES, orient="row")
    reading = replace(compared.reading, weighting=parse_weighting(weighting).value)
    return ArmAverages(frame, reading, level, draws, seed, shift)


def interquartile_mean(values: Floats, /) -> float:
    """Return the mean after cutting off a quarter of the values, rounded down, at each end.

    >>> interquartile_mean(np.array([1.0, 2.0, 4.0, 100.0, 3.0]))
    3.0
    """
    return float(interquartile_means(values, np.ones((1, 1)), np.zeros(len(values), np.int64))[0])


def interquartile_means(values: Floats, counts: NDArray[Any], unit: Integers) -> Floats:
    """Return the interquartile mean for each row of `counts`, which say how often the unit of a value was drawn."""
    order = np.argsort(values, kind="stable")
    values, place = values[order], unit[order]
    runs = np.bincount(unit, minlength=counts.shape[1]).astype(np.float64)
    out = np.empty(len(counts))

    def work(low: int) -> None:
        # Draws side by side: a value is looked up once, and the loop over draws is vectorised.
        block = np.ascontiguousarray(counts[low : low + _BLOCK].T, np.float64)
        _trim(block, runs, values, place, out[low : low + _BLOCK])

    in_threads(work, range(0, len(counts), _BLOCK))
    return out


@compiled(nogil=True)
def _trim(counts, runs, values, unit, out):  # type: ignore[no-untyped-def] # pragma: no cover
    """Walk through the sorted values of some draws and add up those between the quarters."""
    draws = counts.shape[1]
    total, seen, kept = np.zeros(draws), np.zeros(draws), np.zeros(draws)
    for place in range(len(runs)):
        for draw in range(draws):
            total[draw] += counts[place, draw] * runs[place]
    cut = np.floor(total / 4)
    top = total - cut
    for k in range(len(values)):
        value, drawn = values[k], counts[unit[k]]
        for draw in range(draws):
            before = seen[draw]
            seen[draw] = before + drawn[draw]
            inside = min(seen[draw], top[draw]) - max(before, cut[draw])
            kept[draw] += inside * value if inside > 0.0 else 0.0
    for draw in range(draws):
        out[draw] = kept[draw] / (total[draw] - 2 * cut[draw])
