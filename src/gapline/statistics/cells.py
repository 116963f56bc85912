"""Runs as cells: the arm and the instance of each run, and means over seeds, instances and panels.

Every comparison averages the seeds of an instance first, then instances, then panels (the paper's equation 6). In
these arrays NaN stands for a cell without runs; it never reaches a table.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import MixedScoresError, UsageError, listing
from gapline.native.arrays import Bools, Floats, Integers
from gapline.scoring.scores import Scores
from gapline.scoring.weighting import Weighting, parse_weighting
from gapline.text import meant

Pair = tuple[str, str]

# Two means that differ by less than this are tied.
TIE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class CellIndex:
    """The numbers of arm and unit (an instance of a panel) of each run of a table, and of the panel of each unit."""

    arms: tuple[str, ...]
    panels: tuple[str, ...]
    units: tuple[tuple[str, str], ...]
    arm: Integers
    unit: Integers
    panel: Integers

    def counts(self, where: Bools | None = None) -> Floats:
        """Return, arms × units, the number of runs (of those marked by `where`)."""
        return self._bins(None if where is None else where.astype(np.float64))

    def instance_means(self, values: Floats, where: Bools | None = None) -> Floats:
        """Return, arms × units, the mean over seeds (of the runs marked by `where`); NaN without runs."""
        if where is not None:
            values = np.where(where, values, 0.0)
        total, count = self._bins(values), self.counts(where)
        return _ratio(total, count, blank=np.nan)

    def panel_means(self, means: Floats) -> Floats:
        """Return, arms × panels, the mean over the instances of each panel that have a value; NaN if none has."""
        member = self.panel[:, None] == np.arange(len(self.panels))[None, :]
        known = ~np.isnan(means)
        total, count = np.where(known, means, 0.0) @ member, known @ member.astype(np.float64)
        return _ratio(total, count, blank=np.nan)

    def unit_weights(self, weighting: str | Weighting, counts: Floats) -> Floats:
        """Return, arms × units, the weight of an instance in the mean of an arm; rows sum to one."""
        rule = parse_weighting(weighting)
        present = counts > 0
        if rule is Weighting.RUN:
            raw = counts
        elif rule is Weighting.INSTANCE:
            raw = present.astype(np.float64)
        else:
            member = (self.panel[:, None] == np.arange(len(self.panels))[None, :]).astype(np.float64)
            instances = (present @ member)[:, self.panel]
            raw = np.divide(1.0, instances, out=np.zeros(counts.shape), where=present)
        # Rows sum to one over the instances of the arm: those missing shift weight to the others, which a note reports.
        total = np.array([[math.fsum(row)] for row in raw]).reshape(-1, 1)
        return _ratio(raw, np.broadcast_to(total, raw.shape), blank=0.0)

    def pooled(
        self, means: Floats, weighting: str | Weighting = Weighting.PANEL, counts: Floats | None = None
    ) -> Floats:
        """Return the pooled mean of each arm over the cells that have a value; NaN for an arm without any."""
        known = ~np.isnan(means)
        given = self.counts() if counts is None else counts
        weights = self.unit_weights(weighting, np.where(known, given, 0.0))
        pooled = np.sum(weights * np.where(known, means, 0.0), axis=1)
        return np.where(known.any(axis=1), pooled, np.nan)

    def arm_number(self, name: str) -> int:
        """Return the number of an arm; the error for an unknown name suggests a similar one."""
        if name not in self.arms:
            raise UsageError(f"arm {name!r}: matches no run", hint=meant(name, self.arms, show=True))
        return self.arms.index(name)

    def _bins(self, weights: Floats | None) -> Floats:
        shape = (len(self.arms), len(self.units))
        flat = np.bincount(self.arm * shape[1] + self.unit, weights=weights, minlength=shape[0] * shape[1])
        return flat.astype(np.float64).reshape(shape)


def build_cells(runs: pl.DataFrame) -> CellIndex:
    """Number the cells of a runs table; arms, panels and instances in the order of their names.

    >>> runs = pl.DataFrame({"arm": ["b", "a", "a"], "panel": ["p"] * 3, "instance": ["i", "i", "i"]})
    >>> cells = build_cells(runs)
    >>> cells.arms, cells.instance_means(np.array([3.0, 1.0, 2.0])).tolist()
    (('a', 'b'), [[1.5], [3.0]])
    """
    arms = runs["arm"].unique().sort()
    # A unit is an instance of a panel: two panels may have instances of the same name.
    units = runs.select("panel", "instance").unique().sort("panel", "instance")
    panels = units["panel"].unique().sort()
    numbered = units.with_row_index("_unit")
    unit = runs.select("panel", "instance").join(numbered, on=["panel", "instance"], how="left", maintain_order="left")[
        "_unit"
    ]
    return CellIndex(
        arms=tuple(arms.to_list()),
        panels=tuple(panels.to_list()),
        units=tuple(units.iter_rows()),
        arm=_numbers(runs["arm"], arms),
        unit=unit.to_numpy().astype(np.int64),
        panel=_numbers(units["panel"], panels),
    )


def score_column(scores: Scores, kernel: str | None) -> tuple[str, Floats]:
    """Return the kernel to average (by default the first) and its score of every run; missing scores are refused."""
    name = kernel or scores.kernels[0]
    if name not in scores.kernels:
        raise UsageError(f"kernel: expected one of the scores ({', '.join(scores.kernels)}), got {name!r}")
    column = scores.frame[name]
    if column.null_count():
        raise MixedScoresError(
            f"kernel {name}: expected a score of every run, got none for {column.null_count():,}",
            hint="raw exists only where a run is feasible at time 0; use a bounded kernel",
        )
    return name, column.to_numpy()


def remaining_pairs(declared: Sequence[Pair], arms: Sequence[str]) -> list[Pair]:
    """Return the pairs of these arms that were not declared, in either order.

    >>> remaining_pairs([("b", "a")], ["a", "b", "c"])
    [('a', 'c'), ('b', 'c')]
    """
    taken = {frozenset(pair) for pair in declared}
    return [pair for pair in combinations(arms, 2) if frozenset(pair) not in taken]


def check_arms(names: Iterable[str], tier_two: Collection[str], what: str = "pair") -> None:
    """Refuse to compare arms of tier 2, which are descriptive."""
    for name in names:
        if name in tier_two:
            raise UsageError(f"{what}: expected arms of tier 1, got {name!r} of tier 2, which is descriptive")


def no_variation_reason(instances: int) -> str:
    """Say why instances that do not differ give no interval."""
    return f"the {instances} instances are all alike: no spread to judge by"


def single_instance_panels(strata: Integers) -> Integers:
    """Return the numbers of the panels with one instance, whose spread cannot be estimated."""
    return np.flatnonzero(np.bincount(strata) == 1)


def why_no_spread(panels: Sequence[str], strata: Integers) -> str | None:
    """Name the panels with one instance, whose spread cannot be estimated; None if every panel has more.

    >>> why_no_spread(["p", "q"], np.array([0, 1, 1]))
    'p has one instance: the spread of such a panel cannot be seen'
    """
    alone = [panels[number] for number in single_instance_panels(strata)]
    if not alone:
        return None
    if len(alone) == len(np.unique(strata)):
        return "every panel has one instance" if len(alone) > 1 else "one instance alone"
    verb = "has" if len(alone) == 1 else "have"
    return f"{listing(alone, most=3)} {verb} one instance: the spread of such a panel cannot be seen"


def _numbers(names: pl.Series, known: pl.Series) -> Integers:
    if not len(known):
        return np.empty(0, np.int64)
    return names.replace_strict(known, list(range(len(known))), return_dtype=pl.Int64).to_numpy()


def _ratio(total: Floats, count: Floats, *, blank: float) -> Floats:
    out = np.full(count.shape, blank)
    np.divide(total, count, out=out, where=count > 0)
    return out


def sign(difference: Floats) -> NDArray[np.int8]:
    """Return -1, 0 or 1 for each difference; 0 if it is below the tie tolerance or NaN.

    >>> sign(np.array([-1.0, 1e-13, np.nan, 2.0])).tolist()
    [-1, 0, 0, 1]
    """
    with np.errstate(invalid="ignore"):
        return (np.where(difference > TIE, 1, 0) - np.where(difference < -TIE, 1, 0)).astype(np.int8)


def finite_or_none(value: float) -> float | None:
    """Return a float for a table, None if the quantity does not exist or overflows."""
    return float(value) if np.isfinite(value) else None
