"""Input of the classical comparisons: the ranked arms, and their mean score on every instance."""

from dataclasses import dataclass, replace

import numpy as np

from gapline.contract.reading import Reading
from gapline.native.arrays import Bools, Floats, Integers
from gapline.scoring.run_references import ReadTable
from gapline.scoring.scores import Scores
from gapline.statistics.cells import CellIndex, build_cells, check_arms, score_column
from gapline.statistics.means import check_horizons
from gapline.statistics.tails import t_quantile

# Draws of equal instances differ in the last digits of their fit.
_ROUNDING = 1e-10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IntervalTable(ReadTable):
    """A table with intervals from draws of instances, and the level, number and seed of the draws."""

    level: float
    draws: int
    seed: int

    @property
    def drawn(self) -> str:
        """The method of its intervals: draws give the standard error, Student's t the width."""
        return f"Student's t with the standard error of {self.draws:,} draws of instances (seed {self.seed})"


def bootstrap_ends(draws: Floats, value: Floats, strata: Integers, *, level: float) -> tuple[Floats, Floats]:
    """Return value ± t · error for columns of draws; NaN if a panel has one instance, or there is only one draw.

    Also NaN if draws differ only by rounding: without spread there is no interval.

    Draws of n instances have (n - 1)/n of the variance of other instances, and n - 1 degrees of freedom: with few
    instances, their percentiles would be far too close.

    >>> low, high = bootstrap_ends(np.array([[1.0], [3.0]]), np.array([2.0]), np.array([0, 0]), level=0.5)
    >>> round(float(high[0]), 12)
    4.0
    """
    size = np.bincount(strata)
    panels, units = np.count_nonzero(size), len(strata)
    if np.any(size == 1) or len(draws) < 2:
        return np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    error = draws.std(axis=0, ddof=1) * np.sqrt(units / (units - panels))
    error[error <= _ROUNDING * np.maximum(1.0, np.abs(value))] = np.nan
    reach = t_quantile((1 + level) / 2, units - panels) * error
    return value - reach, value + reach


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Scores of one kernel as cells.

    `values` is the score of each run, `means` (arms × units) the mean over the seeds of an instance, NaN where an arm
    has no run. An instance is a unit, whatever its panel: rank methods use no weights.
    """

    reading: Reading
    cells: CellIndex
    values: Floats
    means: Floats

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that ran the same instances; the others are shown, but not ranked."""
        return tuple(arm for arm in self.cells.arms if self.reading.instance_set.ranked(arm))

    def common(self) -> tuple[Floats, Bools]:
        """Return the means of these arms on their common instances, and which instances these are."""
        rows = self.means[[self.cells.arm_number(arm) for arm in self.arms]]
        chosen: Bools = np.all(~np.isnan(rows), axis=0)
        return rows[:, chosen], chosen

    def pair(self, a: str, b: str) -> tuple[Floats, Floats, Bools]:
        """Return the means of two arms on the instances that both ran, and which instances these are."""
        check_arms((a, b), self.reading.tier_two)
        one, other = (self.means[self.cells.arm_number(name)] for name in (a, b))
        chosen = ~(np.isnan(one) | np.isnan(other))
        return one[chosen], other[chosen], chosen


def compare_cells(scores: Scores, /, *, kernel: str | None = None) -> Compared:
    """Arrange the scores of one kernel in cells; a run without a score is refused."""
    check_horizons(scores.frame)
    name, values = score_column(scores, kernel)
    cells = build_cells(scores.frame)
    return Compared(replace(scores.reading, kernels=(name,)), cells, values, cells.instance_means(values))
