"""Metric and reference sensitivity: which orderings of arms another kernel or snapshot would reverse."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.result_table import Shown, as_document
from gapline.contract.tables import (
    METRIC_KERNEL_RATIOS,
    METRIC_POOLED,
    METRIC_RATIOS,
    METRIC_RUNS,
    REFERENCE_NEGATIVE,
    REFERENCE_SHIFT,
)
from gapline.scoring.kernels import KernelCode
from gapline.statistics.cells import TIE, finite_or_none, sign
from gapline.study.readings import Readings


@dataclass(frozen=True, slots=True)
class Angle:
    """One way to score the runs."""

    kernel: str
    reference: str


@dataclass(frozen=True, slots=True)
class Reversal:
    """Two arms whose order in a panel differs between two readings.

    `out_of_envelope` marks Berthold's gap where a run of the pair ended below its reference: shown, not counted.
    """

    panel: str
    a: str
    b: str
    before: Angle
    after: Angle
    out_of_envelope: bool

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        found = as_document(self)
        return {"from": found.pop("before"), "to": found.pop("after"), **found}


def panel_signs(readings: Readings, reference: int, kernel: int) -> NDArray[np.int8]:
    """Return, pairs of ranked arms × panels, which arm is better: -1 the first, 1 the second, 0 a tie."""
    means = readings.panel_means(reference, kernel)
    pairs = readings.pairs
    if not pairs:
        return np.zeros((0, means.shape[1]), np.int8)
    one, other = np.array(pairs).T
    return sign(means[one] - means[other])


def find_reversals(readings: Readings, before: tuple[int, int], after: tuple[int, int]) -> list[Reversal]:
    """List the pairs of ranked arms that change order in a panel between two (reference, kernel) readings."""
    old, new = (Angle(readings.kernels[kernel].name, readings.names[name]) for name, kernel in (before, after))
    return [
        Reversal(panel, a, b, old, new, marked)
        for panel, a, b, marked in reversed_pairs(readings, before, readings, after)
    ]


def reversed_pairs(
    one: Readings, before: tuple[int, int], other: Readings, after: tuple[int, int]
) -> list[tuple[str, str, str, bool]]:
    """List panel, a, b of the pairs that change order between two readings of the same cells.

    The last entry marks those that are out of a kernel's envelope.
    """
    # A product below zero needs two signs that are not 0: ties never reverse.
    flipped = panel_signs(one, *before) * panel_signs(other, *after) < 0
    outside = one.outside(*before) | other.outside(*after)
    cells = one.cells
    found = []
    for row, panel in np.argwhere(flipped).tolist():
        a, b = one.pairs[row]
        marked = bool(outside[a, panel] or outside[b, panel])
        found.append((cells.panels[panel], cells.arms[a], cells.arms[b], marked))
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MetricSensitivity(Shown):
    """Every run rescored under every kernel and reference; `contract/tables.py` defines the columns.

    `runs` counts, arm by arm, the runs that score THETA - 1 under `dimacs:THETA`, as an empty run does (`saturated`,
    null under a kernel without a threshold), and the runs by the sign of their score (zero within the tolerance);
    `saturated` and `signs` are its sums. A ratio is null unless both pooled means are positive: `ratios` has b over a
    under one kernel, `kernel_ratios` one kernel over the default one for an arm. `pairs` counts pairs of ranked arms ×
    panels that are not tied under the default kernel and the first reference. Reversals are against that kernel under
    the same reference, and against that reference under the same kernel.
    """

    pooled: pl.DataFrame
    runs: pl.DataFrame
    saturated: pl.DataFrame
    signs: pl.DataFrame
    ratios: pl.DataFrame
    kernel_ratios: pl.DataFrame
    pairs: int
    reversals: tuple[Reversal, ...]
    ranked: tuple[str, ...]
    weight: str
    weighting: str

    @property
    def lead(self) -> str:
        """The kernel that others are compared with."""
        return str(self.pooled["kernel"][0])

    def caption(self) -> str:
        """Return a description in one line."""
        found = f"{len(self.reversals)} reversals among {self.pairs} pairs against {self.lead}"
        return f"{found}; weight {self.weight}, {self.weighting}-equal"

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        negative = self.signs.select("kernel", "reference", runs=pl.col("negative"))
        found = as_document(self)
        # The reading already contains the ranked arms.
        del found["ranked"]
        return found | {"negative": negative.to_dicts()}


def metric_sensitivity(readings: Readings, /) -> MetricSensitivity:
    """Compare the kernels.

    Empty runs count with the kernel's value before the first incumbent. Berthold's gap under a beaten reference is
    shown and marked `out_of_envelope`, but not ranked.
    """
    pooled, counts, ratios, kernel_ratios = [], [], [], []
    cells, zero = readings.cells, readings.tolerance
    runs = readings.count(np.ones(len(cells.arm), np.bool_))
    tiers = [2 if arm in readings.tier_two else 1 for arm in cells.arms]
    for (r, reference), (k, kernel) in product(enumerate(readings.names), enumerate(readings.kernels)):
        angle = (kernel.name, reference)
        leading, means = readings.pooled(r, 0), readings.pooled(r, k)
        outside = np.any(readings.outside(r, k), axis=1).tolist()
        ranks = readings.ranks(r, k)
        values = readings.scores[r][:, k]
        signs = [readings.count(test) for test in (values < -zero, np.abs(values) <= zero, values > zero)]
        # Only a kernel with a threshold saturates: the score then ties with that of an empty run.
        saturated: Sequence[int | None] = [None] * len(cells.arms)
        if kernel.code is KernelCode.DIMACS:
            saturated = readings.count(np.abs(values - (kernel.parameter - 1.0)) <= TIE)
        for row, (arm, tier) in enumerate(zip(cells.arms, tiers, strict=True)):
            pooled.append((arm, tier, *angle, finite_or_none(means[row]), ranks.get(row), outside[row]))
            counts.append((arm, *angle, runs[row], saturated[row], *(number[row] for number in signs)))
            if k:
                kernel_ratios.append((arm, tier, *angle, mean_ratio(leading[row], means[row])))
        ratios += [(cells.arms[a], cells.arms[b], *angle, mean_ratio(means[a], means[b])) for a, b in readings.pairs]
    by_arm = pl.DataFrame(counts, schema=METRIC_RUNS, orient="row")
    whole = by_arm.group_by("kernel", "reference", maintain_order=True)
    return MetricSensitivity(
        pooled=pl.DataFrame(pooled, schema=METRIC_POOLED, orient="row"),
        runs=by_arm,
        # Without kernels that have no threshold: the sum of their nulls would be zero.
        saturated=by_arm.drop_nulls("saturated")
        .group_by("kernel", "reference", maintain_order=True)
        .agg(runs=pl.col("saturated").sum(), of=pl.col("runs").sum()),
        signs=whole.agg(pl.col("negative", "zero", "positive").sum(), of=pl.col("runs").sum()),
        ratios=pl.DataFrame(ratios, schema=METRIC_RATIOS, orient="row"),
        kernel_ratios=pl.DataFrame(kernel_ratios, schema=METRIC_KERNEL_RATIOS, orient="row"),
        pairs=int(np.count_nonzero(panel_signs(readings, 0, 0))),
        reversals=tuple(_reversals(readings)),
        ranked=readings.ranked,
        weight=readings.weight,
        weighting=readings.weighting,
    )


def mean_ratio(a: float | None, b: float | None) -> float | None:
    """Return b over a, None unless both means are positive: only then "how many times better" has a meaning.

    >>> mean_ratio(0.5, 2.0), mean_ratio(-0.5, 2.0)
    (4.0, None)
    """
    if a is None or b is None or not (a > 0 and b > 0):
        return None
    # Python's own floats: a ratio that overflows becomes infinite without a warning.
    ratio = float(b) / float(a)
    return ratio if math.isfinite(ratio) else None


def _reversals(readings: Readings) -> list[Reversal]:
    references, kernels = range(len(readings.names)), range(len(readings.kernels))
    other_kernels = [((r, 0), (r, k)) for r in references for k in kernels[1:]]
    other_references = [((0, k), (r, k)) for r in references[1:] for k in kernels]
    return [one for angles in (*other_kernels, *other_references) for one in find_reversals(readings, *angles)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReferenceSensitivity(Shown):
    """The first snapshot against another one: pooled scores and runs below zero under both, and the reversals.

    Of the `instances` of the campaign, `changed` have references that differ by more than the tolerance.
    """

    before: str
    after: str
    changed: int
    instances: int
    shift: pl.DataFrame
    negative: pl.DataFrame
    reversals: tuple[Reversal, ...]
    weight: str
    weighting: str

    def caption(self) -> str:
        """Return a description in one line."""
        changed = f"{self.changed} of {self.instances} references changed"
        return f"{self.before} to {self.after}: {changed}, {len(self.reversals)} reversals"

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        found = as_document(self)
        return {"from": found.pop("before"), "to": found.pop("after"), **found}


def reference_sensitivity(readings: Readings, /) -> ReferenceSensitivity:
    """Compare the first and the last snapshot."""
    before, after = 0, len(readings.names) - 1
    cells = readings.cells
    one, other = readings.references[before], readings.references[after]
    # Relative to the larger of the two, so that the count is the same in both directions.
    differs = np.abs(one - other) > readings.tolerance * np.maximum(np.abs(one), np.abs(other))
    shift, negative, reversals = [], [], []
    for k, kernel in enumerate(readings.kernels):
        old, new = readings.pooled(before, k), readings.pooled(after, k)
        below = [readings.count(readings.scores[r][:, k] < -readings.tolerance) for r in (before, after)]
        for row, arm in enumerate(cells.arms):
            values = (old[row], new[row], new[row] - old[row])
            shift.append((arm, kernel.name, *map(finite_or_none, values)))
            negative.append((arm, kernel.name, below[0][row], below[1][row]))
        reversals += find_reversals(readings, (before, k), (after, k)) if before != after else []
    return ReferenceSensitivity(
        before=readings.names[before],
        after=readings.names[after],
        changed=len(np.unique(cells.unit[differs])),
        instances=len(cells.units),
        shift=pl.DataFrame(shift, schema=REFERENCE_SHIFT, orient="row"),
        negative=pl.DataFrame(negative, schema=REFERENCE_NEGATIVE, orient="row"),
        reversals=tuple(reversals),
        weight=readings.weight,
        weighting=readings.weighting,
    )
