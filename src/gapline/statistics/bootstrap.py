"""Pooled means and paired differences with their uncertainty over instances, with their seeds, inside their panels.

All arms share the same draws, so a difference of two arms is paired by instance. The draws use only integers of
PCG64: the same seed gives the same draws on every machine.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from gapline.contract.argument_checks import expect
from gapline.contract.result_table import Shown
from gapline.contract.tables import ARM_INTERVALS
from gapline.errors import MixedScoresError, UsageError
from gapline.native.arrays import Bools, Floats, Integers
from gapline.scoring.kernels import kernel_range
from gapline.scoring.run_references import ReadTable
from gapline.scoring.scores import Scores
from gapline.scoring.weighting import Weighting, parse_weighting
from gapline.statistics.cells import CellIndex, build_cells, finite_or_none, score_column, why_no_spread
from gapline.statistics.estimate import DEFAULT_METHOD, Estimate, Method, method_words, parse_method
from gapline.statistics.intervals import DrawnSums
from gapline.statistics.means import check_horizons
from gapline.statistics.student import panel_centred

DRAWS = 10_000
NO_INSTANCE = "no instance that all of these arms ran"


class Bootstrap(Shown):
    """Pooled means and paired differences of the arms of one reading; draws are made once, if a method needs them.

    Parameters
    ----------
    scores
        Per-run scores against one reference.
    kernel
        The kernel to average; by default the first of the scores.
    weighting
        `panel`, `instance` or `run`.
    draws, seed
        The number of draws, and the seed of the generator.

    An arm that lacks instances is drawn over those it has, a difference over those that both arms have.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": i, "seed": 1, "horizon": 10, "trace": [(t, 30.0)]}
    ...         for arm, shift in (("a", 0), ("b", 1)) for i, t in (("i", 2 + shift), ("j", 6 + shift))]
    >>> snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 10.0}, name="mine")
    >>> boot = Bootstrap(gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot), draws=100)
    >>> round(boot.difference("b", "a").value, 12), boot.mean("a").interval(method="percentile")
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
        expect(scores, Scores, "bootstrap")
        if draws < 1:
            raise UsageError(f"draws: expected at least 1, got {draws}")
        check_horizons(scores.frame)
        self.kernel, values = score_column(scores, kernel)
        self.cells: CellIndex = build_cells(scores.frame)
        self.weighting = parse_weighting(weighting)
        self.draws, self.seed = draws, seed
        self.reading = replace(scores.reading, kernels=(self.kernel,), weighting=self.weighting.value)
        self.counts = self.cells.counts()
        self.means = self.cells.instance_means(values)
        self.why_unranked = scores.why_unranked(self.kernel)
        self._sums: DrawnSums | None = None
        self._drawn: dict[bytes, Floats] = {}

    def to_polars(self) -> pl.DataFrame:
        """Return the pooled mean of every arm; for intervals and tests see `arm_intervals` and `contrasts`."""
        arms = list(self.cells.arms)
        return pl.DataFrame({"arm": arms, "mean": [finite_or_none(self.mean(arm).value) for arm in arms]})

    def caption(self) -> str:
        """Return a description in one line."""
        return f"{self.draws:,} draws of the instances, seed {self.seed}, of mean {self.reading.line()}"

    @property
    def compared(self) -> tuple[str, ...]:
        """The arms that ran the same instances; the others are shown, but not ranked."""
        return tuple(arm for arm in self.cells.arms if self.reading.instance_set.ranked(arm))

    def mean(self, arm: str, /) -> Estimate:
        """Return the pooled mean of one arm."""
        row = self.cells.arm_number(arm)
        return replace(self._estimate(self.counts[row] > 0, [(1.0, row)]), limits=kernel_range(self.kernel))

    def difference(self, a: str, b: str, /, *, among: Bools | None = None) -> Estimate:
        """Return the pooled mean of `a` minus that of `b`, over the instances both have; negative: `a` is better.

        `among` marks the instances to use; by default all.
        """
        one, other = self.cells.arm_number(a), self.cells.arm_number(b)
        both = (self.counts[one] > 0) & (self.counts[other] > 0)
        return self._estimate(both if among is None else both & among, [(1.0, one), (-1.0, other)])

    def panel_difference(self, a: str, b: str, panel: str, /) -> Estimate:
        """Return the difference inside one panel."""
        return self.difference(a, b, among=self.cells.panel == self.cells.panels.index(panel))

    def replicates(self) -> Floats:
        """Return draws × arms, paired; every arm needs every instance."""
        if not bool(np.all(self.counts > 0)):
            raise MixedScoresError(
                "bootstrap: expected every arm on every instance, got some missing",
                hint="compare two arms at a time: a difference is over the instances that both have",
            )
        return self.draws_on(np.ones(len(self.cells.units), np.bool_))

    def draws_on(self, chosen: Bools) -> Floats:
        """Return draws × arms: the pooled mean over draws of the chosen instances; an arm needs all of them."""
        key = chosen.tobytes()
        if key not in self._drawn:
            self._drawn[key] = self._draw(chosen)
        return self._drawn[key]

    def _draw(self, chosen: Bools) -> Floats:
        by_run = self.weighting is Weighting.RUN
        if self._sums is None:
            # Never used for an instance that the arm lacks: any number will do.
            means = np.where(self.counts > 0, self.means, 0.0)
            # With different numbers of runs per instance, the total weight of a draw varies.
            values = np.concatenate([self.counts * means, self.counts]) if by_run else means
            self._sums = DrawnSums(self.cells.panel, np.ascontiguousarray(values.T), draws=self.draws, seed=self.seed)
        size = np.bincount(self.cells.panel, weights=chosen, minlength=len(self.cells.panels))
        sums = self._sums.over(chosen)
        if by_run:
            total = sum(sums, start=np.zeros(sums[0].shape))
            arms = len(self.cells.arms)
            return np.divide(
                total[:, :arms], total[:, arms:], where=total[:, arms:] > 0, out=np.zeros_like(total[:, :arms])
            )
        panel = self.weighting is Weighting.PANEL
        drawn = np.zeros(sums[0].shape)
        for n, part in zip(size.tolist(), sums, strict=True):
            if n:
                drawn += part / (n * np.count_nonzero(size) if panel else size.sum())
        return drawn

    def _estimate(self, chosen: Bools, parts: list[tuple[float, int]]) -> Estimate:
        strata = self.cells.panel[chosen]
        rows = [row for _, row in parts]
        factors = np.array([factor for factor, _ in parts])
        if not len(strata):
            none = np.empty(0)
            return Estimate(np.nan, (np.nan,) * len(parts), none, none, none, strata, lambda: none, reason=NO_INSTANCE)
        weights = self.cells.unit_weights(self.weighting, self.counts[rows] * chosen)[:, chosen]
        means = self.means[rows][:, chosen]
        pooled = np.array([math.fsum(row) for row in weights * means])
        return Estimate(
            value=float(factors @ pooled),
            parts=tuple(pooled.tolist()),
            shares=factors @ (weights * means),
            weights=weights.mean(axis=0),
            pull=factors @ self._pull(weights, means, pooled, strata),
            strata=strata,
            drawn=lambda: self.draws_on(chosen)[:, rows] @ factors,
            draw_count=self.draws,
            seed=self.seed,
            reason=(self.why_unranked if len(parts) > 1 else None) or why_no_spread(self.cells.panels, strata),
        )

    def _pull(self, weights: Floats, means: Floats, pooled: Floats, strata: Integers) -> Floats:
        """Return, rows × units, w_i · (x_i - mean of its panel): how far each instance pulls the pooled mean."""
        # A mean of runs is a ratio: an instance pulls numerator and denominator, so it is centred on the mean first.
        by_run = self.weighting is Weighting.RUN
        centred = means - pooled[:, None] if by_run else panel_centred(means.T, strata).T
        return panel_centred((weights * centred).T, strata).T


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JudgedTable(ReadTable):
    """A table with intervals or p-values, and the method that computed them."""

    level: float
    draws: int
    seed: int
    method: str

    @property
    def how(self) -> str:
        """The method, as text."""
        return method_words(self.method, self.draws, self.seed)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArmIntervals(JudgedTable):
    """One row per arm: instances, mean, low, high, and the reason if there is no interval."""

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        interval = f"{self.level:.0%} interval by {self.how}"
        return f"mean {self.reading.kernels[0]} score, {interval}; {self.reading.line()}"


def arm_intervals(
    boot: Bootstrap, /, *, arms: Sequence[str] | None = None, method: str | Method = DEFAULT_METHOD, level: float = 0.95
) -> ArmIntervals:
    """Tabulate the mean of every arm with its interval."""
    chosen = list(boot.cells.arms if arms is None else arms)
    rows = []
    for arm in chosen:
        estimate = boot.mean(arm)
        found = estimate.judge(method=method, level=level)
        rows.append((arm, estimate.instances, finite_or_none(estimate.value), found.low, found.high, found.reason))
    frame = pl.DataFrame(rows, schema=ARM_INTERVALS, orient="row")
    return ArmIntervals(frame, boot.reading, level, boot.draws, boot.seed, parse_method(method).value)
