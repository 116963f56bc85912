"""Cluster bootstrap of means and paired differences: instances are drawn with their seeds, inside their panels.

All arms see the same draws, so a difference of two arms is paired by instance. The draws come from integers of PCG64
alone: the same seed gives the same draws on every machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import MixedScoresError, UsageError
from gapline.model.tables import ARM_INTERVALS
from gapline.scoring.reading import ReadTable
from gapline.scoring.scores import Scores
from gapline.scoring.weighting import Weighting, parse_weighting
from gapline.summary.cells import Cells, build_cells, finite_or_none
from gapline.summary.draws import draw_sums
from gapline.summary.intervals import (
    Method,
    acceleration,
    bca_interval,
    check_level,
    parse_method,
    percentile_intervals,
)
from gapline.summary.means import check_horizons

Floats = NDArray[np.float64]
DRAWS = 10_000
NOTHING_TO_DRAW = "every panel has one instance: no other instances can be drawn"


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A mean, or a difference of the means in `parts`, with its draws; `reason` says why there is no interval."""

    value: float
    parts: tuple[float, ...]
    draws: Floats
    influence: Floats
    strata: NDArray[np.int64]
    reason: str | None = None

    @property
    def instances(self) -> int:
        """How many instances it rests on."""
        return len(self.strata)

    def interval(self, *, method: str | Method = Method.PERCENTILE, level: float = 0.95) -> tuple[float, float] | None:
        """Return the two ends, or None where there is nothing to draw."""
        check_level(level)
        if self.reason is not None:
            return None
        if parse_method(method) is Method.BCA:
            return bca_interval(self.draws, self.value, acceleration(self.influence, self.strata), level=level)
        low, high = percentile_intervals(self.draws[:, None], level=level)
        return float(low[0]), float(high[0])


class Bootstrap:
    """The draws of every arm of one reading, made once and shared.

    Parameters
    ----------
    scores
        Per-run scores against one reference.
    kernel
        The kernel to average; the first of the scores where not given.
    weighting
        `panel`, `instance` or `run`.
    draws, seed
        How many draws, and the seed of the generator.

    An arm that lacks instances is drawn over those it has, and a difference over those that both arms have.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": i, "seed": 1, "horizon": 10, "trace": [(t, 30.0)]}
    ...         for arm, shift in (("a", 0), ("b", 1)) for i, t in (("i", 2 + shift), ("j", 6 + shift))]
    >>> snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 10.0}, name="mine")
    >>> boot = Bootstrap(gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot), draws=100)
    >>> round(boot.difference("b", "a").value, 12), boot.mean("a").interval()
    (0.05, (0.6, 0.8))
    """

    def __init__(
        self,
        scores: Scores,
        /,
        *,
        kernel: str | None = None,
        weighting: str | Weighting = Weighting.PANEL,
        draws: int = DRAWS,
        seed: int = 1,
    ) -> None:
        if draws < 1:
            raise UsageError(f"draws: expected at least 1, got {draws}")
        check_horizons(scores.frame)
        self.kernel = kernel or scores.kernels[0]
        if self.kernel not in scores.kernels:
            raise UsageError(f"kernel: expected one of the scores ({', '.join(scores.kernels)}), got {self.kernel!r}")
        column = scores.frame[self.kernel]
        if column.null_count():
            raise MixedScoresError(
                f"kernel {self.kernel}: expected a score of every run, got none for {column.null_count():,}",
                hint="raw exists only where a run is feasible at time 0; use a bounded kernel",
            )
        self.cells: Cells = build_cells(scores.frame)
        self.weighting = parse_weighting(weighting)
        self.draws, self.seed = draws, seed
        self.reading = replace(scores.reading, kernels=(self.kernel,), weighting=self.weighting.value)
        self.counts = self.cells.counts()
        self.means = self.cells.instance_means(column.to_numpy())
        self._whole: Floats | None = None
        # Where every arm has every instance, one set of draws serves all means and differences.
        if bool(np.all(self.counts > 0)):
            everything = np.ones(len(self.cells.units), np.bool_)
            weights = self.cells.unit_weights(self.weighting, self.counts)
            self._whole = self._replicates(everything, weights, self.means)

    @property
    def compared(self) -> tuple[str, ...]:
        """The arms of tier 1: the others are described, never ranked or tested."""
        return tuple(arm for arm in self.cells.arms if arm not in self.reading.tier_two)

    def mean(self, arm: str, /) -> Estimate:
        """Return the pooled mean of one arm."""
        row = self.cells.arm_number(arm)
        return self._estimate(self.counts[row] > 0, [(1.0, row)])

    def difference(self, a: str, b: str, /) -> Estimate:
        """Return the pooled mean of `a` minus that of `b`, over the instances both have; negative: `a` is better."""
        one, other = self.cells.arm_number(a), self.cells.arm_number(b)
        return self._estimate((self.counts[one] > 0) & (self.counts[other] > 0), [(1.0, one), (-1.0, other)])

    def panel_difference(self, a: str, b: str, panel: str, /) -> Estimate:
        """Return the difference inside one panel."""
        one, other = self.cells.arm_number(a), self.cells.arm_number(b)
        inside = self.cells.panel == self.cells.panels.index(panel)
        return self._estimate(inside & (self.counts[one] > 0) & (self.counts[other] > 0), [(1.0, one), (-1.0, other)])

    def replicates(self) -> Floats:
        """Return draws × arms, paired; every arm has to have every instance."""
        if self._whole is None:
            raise MixedScoresError(
                "bootstrap: expected every arm on every instance, got some missing",
                hint="compare two arms at a time: a difference is over the instances that both have",
            )
        return self._whole

    def pooled_on(self, rows: Sequence[int], chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return the pooled means of some arms over the chosen instances, and their draws (draws × arms)."""
        weights = self.cells.unit_weights(self.weighting, self.counts[list(rows)] * chosen)[:, chosen]
        means = self.means[list(rows)][:, chosen]
        pooled = np.sum(weights * means, axis=1)
        if self._whole is not None and bool(chosen.all()):
            return pooled, self._whole[:, list(rows)]
        return pooled, self._replicates(chosen, weights, means)

    def _replicates(self, chosen: NDArray[np.bool_], weights: Floats, means: Floats) -> Floats:
        """Return draws × rows: the pooled mean of each row of instance means under each draw."""
        parts = weights * means
        if self.weighting is Weighting.RUN:
            # Instances with other numbers of runs change the total weight of a draw.
            parts = np.concatenate([parts, weights])
        sums = draw_sums(self.cells.panel[chosen], parts.T, draws=self.draws, seed=self.seed)
        return sums[:, : len(means)] / sums[:, len(means) :] if self.weighting is Weighting.RUN else sums

    def _estimate(self, chosen: NDArray[np.bool_], parts: list[tuple[float, int]]) -> Estimate:
        strata = self.cells.panel[chosen]
        if not len(strata):
            nothing = np.empty(0)
            reason = "no instance that all of these arms ran"
            return Estimate(np.nan, (np.nan,) * len(parts), nothing, nothing, strata, reason)
        rows = [row for _, row in parts]
        factors = np.array([factor for factor, _ in parts])
        pooled, drawn = self.pooled_on(rows, chosen)
        value, draws = float(factors @ pooled), drawn @ factors
        weights = self.cells.unit_weights(self.weighting, self.counts[rows] * chosen)[:, chosen]
        means = self.means[rows][:, chosen]
        size = np.bincount(strata)[strata]
        influence = self._influence(weights, means, pooled, strata, factors)
        # Strata of one instance give the same draw every time: an interval from them would be a point.
        fixed = NOTHING_TO_DRAW if np.all(size == 1) else None
        return Estimate(value, tuple(pooled.tolist()), draws, influence, strata, fixed)

    def _influence(
        self, weights: Floats, means: Floats, pooled: Floats, strata: NDArray[np.int64], factors: Floats
    ) -> Floats:
        """Return n_p · w_i · (x_i - mean of its stratum) per unit: the influence values of the pooled mean."""
        size = np.bincount(strata)[strata]
        if self.weighting is Weighting.RUN:
            # A mean of runs is a ratio: an instance pulls numerator and denominator, so it is centred on the mean.
            pull = weights * (means - pooled[:, None])
            totals = np.stack([np.bincount(strata, weights=row)[strata] for row in pull])
            return np.asarray(factors @ (size * pull - totals))
        sums = np.stack([np.bincount(strata, weights=row)[strata] for row in means])
        return np.asarray(factors @ (size * weights * (means - sums / size)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DrawnTable(ReadTable):
    """A table that rests on draws of instances, and which draws these were."""

    level: float
    draws: int
    seed: int

    @property
    def drawn(self) -> str:
        """The draws in words."""
        return f"{self.draws:,} draws of instances (seed {self.seed})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArmIntervals(DrawnTable):
    """One row per arm: instances, mean, low, high, and the reason where there is no interval."""

    method: str

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        interval = f"{self.level:.0%} {self.method} interval from {self.drawn}"
        return f"mean {self.reading.kernels[0]} score, {interval}; {self.reading.line()}"


def arm_intervals(
    boot: Bootstrap, /, *, arms: Sequence[str] | None = None, method: str | Method = "percentile", level: float = 0.95
) -> ArmIntervals:
    """Tabulate the mean of every arm with its interval."""
    chosen = list(boot.cells.arms if arms is None else arms)
    rows = []
    for arm in chosen:
        estimate = boot.mean(arm)
        low, high = estimate.interval(method=method, level=level) or (None, None)
        rows.append((arm, estimate.instances, finite_or_none(estimate.value), low, high, estimate.reason))
    frame = pl.DataFrame(rows, schema=ARM_INTERVALS, orient="row")
    return ArmIntervals(frame, boot.reading, level, boot.draws, boot.seed, parse_method(method).value)
