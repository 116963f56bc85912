"""Performance profiles and data profiles: on which share of the instances an arm is near the best time."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.analysis.neighbours.ert import hits_and_horizons
from gapline.envelope.build import Envelopes
from gapline.model.reading import TOLERANCE
from gapline.model.result_table import ResultTable
from gapline.reference.snapshot import Snapshot
from gapline.summary.cells import Cells, build_cells

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profiles(ResultTable):
    """Step curves: arm, x (a ratio, or seconds), value: the share of instances solved within x."""

    goal: float
    instances: int
    kind: str

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return f"{self.kind} profile over {self.instances} instances, time to a raw gap of {self.goal:g}"


def instance_times(
    envelopes: Envelopes, snapshot: Snapshot, /, *, goal: float = 0.01, tolerance: float = TOLERANCE
) -> tuple[Cells, Floats]:
    """Return, arms × units, the expected running time to the goal on each instance; infinite if never attained."""
    hits, horizons = hits_and_horizons(envelopes, snapshot, [goal], tolerance)
    cells = build_cells(envelopes.runs)
    success = np.isfinite(hits[:, 0])
    counts = cells.counts()
    spent = np.where(counts > 0, cells.instance_means(np.where(success, hits[:, 0], horizons)) * counts, 0.0)
    successes = cells.counts(success)
    times = np.full(counts.shape, np.inf)
    np.divide(spent, successes, out=times, where=successes > 0)
    return cells, times


def performance_profile(
    envelopes: Envelopes, snapshot: Snapshot, /, *, goal: float = 0.01, tolerance: float = TOLERANCE
) -> Profiles:
    """Return, for each arm, the share of instances on which its time to the goal is at most x times the best arm's.

    The time of an arm on an instance is its expected running time over the seeds. Missing incumbents: an instance that
    an arm never solves has no ratio and stays in the denominator; one that no arm solves counts for none. Beaten
    references count as solved, whatever the distance. A best time of 0 leaves ratio 1 to those that match it and no
    finite ratio to the others. Adding an arm can change the curves of the others: ratios are to the best of this set.
    """
    cells, times = instance_times(envelopes, snapshot, goal=goal, tolerance=tolerance)
    best = times.min(axis=0)
    ratios = np.full(times.shape, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        np.divide(times, best, out=ratios, where=np.isfinite(times) & (best > 0))
    # Also where the best time is 0, which nothing can be divided by.
    ratios[np.isfinite(times) & (times == best)] = 1.0
    return Profiles(_steps(cells, ratios, start=1.0), goal, len(cells.units), "performance")


def data_profile(
    envelopes: Envelopes, snapshot: Snapshot, /, *, goal: float = 0.01, unit: float = 1.0, tolerance: float = TOLERANCE
) -> Profiles:
    """Return, for each arm, the share of instances solved within x units of time (`unit` seconds each).

    Missing incumbents and beaten references as in `performance_profile`; no arm's curve depends on another's.
    """
    cells, times = instance_times(envelopes, snapshot, goal=goal, tolerance=tolerance)
    return Profiles(_steps(cells, times / unit, start=0.0), goal, len(cells.units), "data")


def _steps(cells: Cells, values: Floats, *, start: float) -> pl.DataFrame:
    frames = []
    for row, arm in enumerate(cells.arms):
        finite = np.sort(values[row][np.isfinite(values[row])])
        x = np.unique(finite)
        share = np.searchsorted(finite, x, side="right") / len(cells.units)
        if not len(x) or x[0] > start:
            x, share = np.append(start, x), np.append(0.0, share)
        frames.append(pl.DataFrame({"x": x, "value": share}).with_columns(arm=pl.lit(arm)).select("arm", "x", "value"))
    return pl.concat(frames)
