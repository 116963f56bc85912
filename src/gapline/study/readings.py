"""Scores of the same runs under every kernel and reference, with their cell means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gapline.contract.instance_set import decide_instance_set
from gapline.contract.names import parse_weight
from gapline.contract.reading import TOLERANCE
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.native.kernel_formulas import check_tolerance, is_beaten
from gapline.references.snapshot import Snapshot
from gapline.scoring.integral import integrate_envelopes
from gapline.scoring.kernels import PAPER_KERNELS, Kernel, KernelCode, parse_kernel
from gapline.scoring.run_references import descriptive_arms, reference_column
from gapline.statistics.cells import CellIndex, build_cells
from gapline.statistics.means import check_horizons
from gapline.statistics.ranking import rank_means

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """Scores, runs × kernels, against every reference; the first kernel is the one that others are compared with.

    `references[r]` is the reference of each run, `beaten[r]` marks runs that ended below it by more than the tolerance.
    """

    envelopes: Envelopes
    cells: CellIndex
    names: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    references: tuple[Floats, ...]
    scores: tuple[Floats, ...]
    beaten: tuple[NDArray[np.bool_], ...]
    tier_two: tuple[str, ...]
    ranked: tuple[str, ...]
    weight: str
    weighting: str
    tolerance: float

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The numbers of every pair of ranked arms."""
        rows = [self.cells.arms.index(arm) for arm in self.ranked]
        return list(combinations(rows, 2))

    def instance_means(self, reference: int, kernel: int) -> Floats:
        """Return, arms × units, the means over seeds."""
        return self.cells.instance_means(self.scores[reference][:, kernel])

    def panel_means(self, reference: int, kernel: int) -> Floats:
        """Return, arms × panels, the means over the instances of a panel."""
        return self.cells.panel_means(self.instance_means(reference, kernel))

    def pool(self, values: Floats) -> Floats:
        """Return the pooled mean of each arm over a value of each run, by the declared weighting."""
        return self.cells.pooled(self.cells.instance_means(values), self.weighting)

    def pooled(self, reference: int, kernel: int, weighting: str | None = None) -> Floats:
        """Return the pooled mean of each arm, by the declared weighting unless another is given."""
        return self.cells.pooled(self.instance_means(reference, kernel), weighting or self.weighting)

    def outside(self, reference: int, kernel: int) -> NDArray[np.bool_]:
        """Mark, arms × panels, where a kernel is out of its envelope: Berthold's gap with a run below its reference."""
        found = np.zeros((len(self.cells.arms), len(self.cells.panels)), np.bool_)
        if self.kernels[kernel].code is KernelCode.BERTHOLD:
            beaten = self.beaten[reference]
            found[self.cells.arm[beaten], self.cells.panel[self.cells.unit[beaten]]] = True
        return found

    def count(self, marked: NDArray[np.bool_]) -> list[int]:
        """Return how many of each arm's runs are marked."""
        return [int(number) for number in np.bincount(self.cells.arm[marked], minlength=len(self.cells.arms))]

    def unranked(self, reference: int, kernel: int) -> bool:
        """Return whether a kernel ranks no arms, by the rule of `Scores.why_unranked`."""
        rows = [self.cells.arms.index(arm) for arm in self.ranked]
        return bool(self.outside(reference, kernel)[rows].any())

    def ranks(self, reference: int, kernel: int) -> dict[int, int]:
        """Return the rank of each ranked arm that has a mean, by the number of the arm."""
        means = self.pooled(reference, kernel)
        known = [row for row, arm in enumerate(self.cells.arms) if arm in self.ranked and not np.isnan(means[row])]
        if not known or self.unranked(reference, kernel):
            return {}
        return dict(zip(known, rank_means(means[known]).tolist(), strict=True))


def build_readings(
    envelopes: Envelopes,
    snapshots: Mapping[str, Snapshot],
    /,
    *,
    kernels: Sequence[str | Kernel] = PAPER_KERNELS,
    weight: str = "uniform",
    weighting: str = "panel",
    tolerance: float = TOLERANCE,
    tier_two: Sequence[str] | None = None,
    ranked: Sequence[str] | None = None,
) -> Readings:
    """Score every run under every kernel and every named snapshot.

    `tier_two` are the arms that are described and not compared; by default those that the runs mark. `ranked` are the
    arms whose order is compared; by default those that ran the same instances.
    """
    if not snapshots:
        raise UsageError("analyse: expected at least one snapshot, got none")
    if not len(envelopes):
        raise UsageError("analyse: expected runs, got none")
    # Checked here, because every analysis averages over the seeds of an instance.
    check_horizons(envelopes.runs)
    check_tolerance(tolerance)
    parsed = [parse_kernel(kernel, tolerance=tolerance) for kernel in kernels]
    if len({kernel.name for kernel in parsed}) < len(parsed) or not parsed:
        raise UsageError(f"kernels: expected each once, got {[kernel.name for kernel in parsed]}")
    declared = parse_weight(weight)
    descriptive = descriptive_arms(envelopes.runs) if tier_two is None else tuple(tier_two)
    references = tuple(reference_column(snapshot, envelopes) for snapshot in snapshots.values())
    return Readings(
        envelopes=envelopes,
        cells=build_cells(envelopes.runs),
        names=tuple(snapshots),
        kernels=tuple(parsed),
        references=references,
        scores=tuple(integrate_envelopes(envelopes, one, kernels=parsed, weight=declared) for one in references),
        beaten=tuple(is_beaten(envelopes.worst_best, one, tolerance) for one in references),
        tier_two=descriptive,
        ranked=decide_instance_set(envelopes.rows, tier_two=descriptive).arms if ranked is None else tuple(ranked),
        weight=weight,
        weighting=weighting,
        tolerance=tolerance,
    )
