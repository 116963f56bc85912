"""How many instances and seeds would resolve a given difference, judged from a pilot."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import UsageError
from gapline.model.tables import POWER
from gapline.scoring.reading import ReadTable
from gapline.scoring.scores import Scores
from gapline.summary.cells import Cells, build_cells

Floats = NDArray[np.float64]
DELTAS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
SEEDS = (1, 2, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class Spread:
    """Variance components of a paired difference, by panel: between its instances, and between seeds of an instance.

    `shares` is how the instances divide over the panels; `notes` say what was borrowed or could not be told apart.
    """

    between: tuple[float, ...]
    within: tuple[float, ...]
    shares: tuple[float, ...]
    seeds: int | None
    notes: tuple[str, ...]

    def variance(self, seeds: int) -> float:
        """Return n × the variance of the panel-equal difference over n instances with this many seeds each."""
        panels = len(self.shares)
        parts = zip(self.between, self.within, self.shares, strict=True)
        return sum((b + w / seeds) / (panels**2 * share) for b, w, share in parts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PowerTable(ReadTable):
    """One row per pair, difference and number of seeds: how many instances would show it, or why nobody can say."""

    power: float
    level: float

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return (
            f"instances, divided over the panels as in the pilot, at which a difference `delta` in mean "
            f"{self.reading.kernels[0]} score is shown with power {self.power:g} by a two-sided test at "
            f"{1 - self.level:g}; pilot: {self.reading.line()}"
        )


def power_table(
    scores: Scores,
    /,
    *,
    pairs: Sequence[tuple[str, str]],
    deltas: Sequence[float] = DELTAS,
    seeds: Sequence[int] = SEEDS,
    kernel: str | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> PowerTable:
    """Say how many instances and seeds would resolve each difference, from the spread seen in these runs.

    The variance of a panel-equal paired difference over n instances with s seeds is V(s)/n, with V(s) = Σ_p (σ_b² +
    σ_w²/s) / (P² f_p) over P panels with shares f_p of the instances; σ_b² is the variance between instances inside a
    panel (of which the part due to seeds is taken off), σ_w² the variance between seeds of both arms together. Then
    n = V(s) · ((z_{1-α/2} + z_power) / delta)², at least one instance per panel. A normal approximation: for a few
    instances it promises too much.
    """
    name = kernel or scores.kernels[0]
    if not 0 < power < 1 or not 0 < level < 1:
        raise UsageError(f"power and level: expected shares between 0 and 1, got {power} and {level}")
    if any(not (math.isfinite(delta) and delta > 0) for delta in deltas) or any(count < 1 for count in seeds):
        raise UsageError(f"power: expected positive differences and seeds, got {list(deltas)} and {list(seeds)}")
    cells = build_cells(scores.frame)
    values = scores.frame[name].fill_null(np.nan).to_numpy()
    normal = NormalDist()
    factor = normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)
    rows = []
    for a, b in pairs:
        spread = pilot_spread(cells, values, a, b)
        for delta in deltas:
            for count in seeds:
                needed, reason = _instances(spread, count, factor / delta)
                rows.append((a, b, float(delta), int(count), needed, reason))
    frame = pl.DataFrame(rows, schema=POWER, orient="row")
    return PowerTable(frame, replace(scores.reading, kernels=(name,), weighting="panel"), power, level)


def pilot_spread(cells: Cells, values: Floats, a: str, b: str) -> Spread | str:
    """Split the spread of the difference of two arms into instances and seeds; a string says why it cannot be done."""
    one, other = cells.arm_number(a), cells.arm_number(b)
    counts, means = cells.counts(), cells.instance_means(values)
    both = (counts[one] > 0) & (counts[other] > 0)
    if not both.any():
        return "no instance that both arms ran"
    if np.isnan(means[[one, other]][:, both]).any():
        return "some runs have no score under this kernel"
    variances = seed_variances(cells, values, means)
    # Variance of one run of `a` minus one run of `b`, and what it adds to the difference of instance means.
    within = variances[one] + variances[other]
    noise = np.zeros(len(both))
    noise[both] = (variances[one] / np.maximum(counts[one], 1) + variances[other] / np.maximum(counts[other], 1))[both]
    difference = means[one] - means[other]
    between_known: dict[int, float] = {}
    within_known: dict[int, float] = {}
    panels = np.unique(cells.panel[both])
    single = not np.isfinite(within[both]).any()
    for panel in panels.tolist():
        inside = both & (cells.panel == panel)
        if np.isfinite(within[inside]).any():
            within_known[panel] = float(np.nanmean(within[inside]))
        if inside.sum() > 1:
            seen = float(np.var(difference[inside], ddof=1))
            off = 0.0 if single else float(np.nanmean(noise[inside])) if np.isfinite(noise[inside]).any() else 0.0
            # What is seen between instances holds the noise of their seeds too; less than nothing is nothing.
            between_known[panel] = max(0.0, seen - off)
    if not between_known:
        return "every panel has one instance: the spread between instances cannot be seen"
    notes = []
    if len(between_known) < len(panels):
        notes.append(
            f"{len(panels) - len(between_known)} panels have one instance: their spread is the mean of the others"
        )
    if single:
        notes.append("one seed per instance: spread of seeds and of instances cannot be told apart")
    mean_between = float(np.mean(list(between_known.values())))
    mean_within = float(np.mean(list(within_known.values()))) if within_known else 0.0
    return Spread(
        between=tuple(between_known.get(panel, mean_between) for panel in panels.tolist()),
        within=tuple(within_known.get(panel, mean_within) for panel in panels.tolist()),
        shares=tuple(float(np.mean(cells.panel[both] == panel)) for panel in panels.tolist()),
        seeds=1 if single else None,
        notes=tuple(notes),
    )


def seed_variances(cells: Cells, values: Floats, means: Floats) -> Floats:
    """Return, arms × units, the variance between seeds (n - 1 below); NaN with fewer than two runs."""
    centred = values - means[cells.arm, cells.unit]
    counts = cells.counts()
    # Seeds of a cell that all agree have a spread of zero, not the rounding of their mean.
    total = cells.instance_means(centred**2) * counts
    out = np.full(counts.shape, np.nan)
    np.divide(total, counts - 1, out=out, where=counts > 1)
    return out


def _instances(spread: Spread | str, seeds: int, scale: float) -> tuple[int | None, str | None]:
    if isinstance(spread, str):
        return None, spread
    if spread.seeds is not None and seeds != spread.seeds:
        return None, "the pilot has one seed per instance: it cannot say what other numbers of seeds would give"
    # A quotient that is whole up to rounding must not cost one instance more.
    needed = math.ceil(spread.variance(seeds) * scale**2 * (1 - 1e-12))
    return max(needed, len(spread.shares)), "; ".join(spread.notes) or None
