"""Cutoff sweep: the scores and the order of the arms under logarithmic weights, over their mandatory cutoff.

`early-log:C` weighs 1/t from C on, `end-log:C` weighs 1/(Γ - t) until C before the horizon; without a cutoff neither
has an integral, so the cutoff is part of what is estimated (the paper's appendix on logarithmic time). With d the
difference of two arms' mean gap curves, the order at the cutoff C is the sign of ∫ d(x)/x dx from C to Γ, x being
elapsed or remaining time. It is piecewise linear in ln C, so the cutoffs at which two arms swap are exact if all
horizons are equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.names import parse_weight
from gapline.contract.result_table import Shown, as_document
from gapline.contract.tables import CUTOFF_FLIPS, CUTOFF_SCORES
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.native.compilation import compiled
from gapline.scoring.events import in_threads
from gapline.scoring.integral import integrate_envelopes
from gapline.scoring.kernels import Kernel, parse_kernel
from gapline.statistics.cells import CellIndex, sign
from gapline.study.horizon_sweep import HorizonSweep, SweepCurve, find_crossings

Floats = NDArray[np.float64]
KINDS = ("early-log", "end-log")
# The number of default cutoffs: powers of ten up to half of the horizon.
DECADES = 4
FINE = 61


@dataclass(frozen=True, slots=True)
class CutoffSwap:
    """A cutoff at which two arms change order: `below` is better at smaller cutoffs, `above` at larger ones."""

    kind: str
    cutoff: float
    below: str
    above: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CutoffSweep(Shown):
    """Scores by kind of weight, cutoff and arm; `contract/tables.py` defines the columns.

    `flips` are the pairs of ranked arms whose order at a cutoff of the grid differs from that under the declared
    weight. `swaps` are the exact cutoffs, from the smallest of the grid up to the horizon, at which two ranked arms
    swap; None if horizons differ, since there is no common curve then.
    """

    kernel: str
    weight: str
    weighting: str
    cutoffs: tuple[float, ...]
    horizon: float
    baseline: dict[str, float]
    scores: pl.DataFrame
    flips: pl.DataFrame
    swaps: tuple[CutoffSwap, ...] | None
    sweep: HorizonSweep
    compared: tuple[str, ...]

    def caption(self) -> str:
        """Return a description in one line."""
        return f"mean {self.kernel} score over {len(self.cutoffs)} cutoffs; {self.flips.height} flips"

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        return {name: value for name, value in as_document(self).items() if name != "sweep"}

    def fine(self) -> pl.DataFrame:
        """Return kind, cutoff, arm and score on a fine grid for drawing; without exact curves, on the cutoffs."""
        if self.sweep.relative or len(self.cutoffs) < 2:
            return self.scores
        grid = np.geomspace(self.cutoffs[0], self.cutoffs[-1], FINE).tolist()
        # The exact ends: ten to the power of a logarithm may miss a number by its last bit.
        grid[0], grid[-1] = self.cutoffs[0], self.cutoffs[-1]
        arms = list(self.sweep.curves)
        return _frame({kind: weighted_curves(self.sweep, arms, kind, grid) for kind in KINDS}, grid, arms)


def cutoff_sweep(
    envelopes: Envelopes,
    references: Floats,
    cells: CellIndex,
    sweep: HorizonSweep,
    /,
    *,
    kernel: str | Kernel,
    weight: str = "uniform",
    baseline: Floats,
    cutoffs: Sequence[float] | None = None,
    compared: Sequence[str] = (),
) -> CutoffSweep:
    """Score the arms under both logarithmic weights at each cutoff.

    Parameters
    ----------
    sweep
        The exact mean curves of the same runs under the same kernel, with the weighting.
    baseline
        The score of each arm under the declared weight.
    cutoffs
        Seconds below every horizon; by default powers of ten up to half of the shortest horizon.
    compared
        The arms whose order is compared.
    """
    shortest = float(envelopes.runs["horizon"].to_numpy().min())
    grid = check_cutoffs(cutoffs, shortest) if cutoffs else default_cutoffs(shortest)
    tables = {kind: log_weight_scores(envelopes, references, cells, sweep, kernel, kind, grid) for kind in KINDS}
    order = {arm: row for row, arm in enumerate(cells.arms)}
    pairs = list(combinations([arm for arm in cells.arms if arm in compared], 2))
    flips = [
        (kind, cutoff, a, b)
        for kind, table in tables.items()
        for cutoff, row in zip(grid, table, strict=True)
        for a, b in pairs
        if sign(row[order[a]] - row[order[b]]) * sign(baseline[order[a]] - baseline[order[b]]) < 0
    ]
    swaps = None
    if not sweep.relative:
        asked = [(sweep.curves[a], sweep.curves[b], kind) for kind in KINDS for a, b in pairs]
        found = in_threads(lambda one: find_cutoff_swaps(*one, sweep.horizon, grid[0]), asked)
        swaps = tuple(swap for some in found for swap in some)
    return CutoffSweep(
        kernel=sweep.kernel,
        weight=weight,
        weighting=sweep.weighting,
        cutoffs=tuple(grid),
        horizon=shortest,
        baseline=dict(zip(cells.arms, baseline.tolist(), strict=True)),
        scores=_frame(tables, grid, list(cells.arms)),
        flips=pl.DataFrame(flips, schema=CUTOFF_FLIPS, orient="row"),
        swaps=swaps,
        sweep=sweep,
        compared=tuple(compared),
    )


def log_weight_scores(
    envelopes: Envelopes,
    references: Floats,
    cells: CellIndex,
    sweep: HorizonSweep,
    kernel: str | Kernel,
    kind: str,
    cutoffs: Sequence[float],
) -> Floats:
    """Return, cutoffs × arms, the pooled scores under `early-log` or `end-log` weights.

    Computed from the mean curves in one pass; on relative time every run is integrated, since cutoffs are in seconds.
    """
    if not sweep.relative:
        return weighted_curves(sweep, cells.arms, kind, cutoffs)
    found = []
    for cutoff in cutoffs:
        weight = parse_weight(f"{kind}:{cutoff!r}")
        scores = integrate_envelopes(envelopes, references, kernels=[parse_kernel(kernel)], weight=weight)
        found.append(cells.pooled(cells.instance_means(scores[:, 0]), sweep.weighting))
    return np.array(found)


def weighted_curves(sweep: HorizonSweep, arms: Sequence[str], kind: str, cutoffs: Sequence[float]) -> Floats:
    """Return, cutoffs × arms, the scores of the mean curves under a logarithmic weight."""
    weigh = partial(SweepCurve.log_weighted, horizon=sweep.horizon, cutoffs=list(cutoffs), end=kind == "end-log")
    return np.array(in_threads(weigh, [sweep.curves[arm] for arm in arms])).T


def default_cutoffs(shortest: float) -> tuple[float, ...]:
    """Return the largest few powers of ten up to half of the shortest horizon.

    >>> default_cutoffs(30.0), default_cutoffs(3600.0)
    ((0.01, 0.1, 1.0, 10.0), (1.0, 10.0, 100.0, 1000.0))
    """
    top = int(np.floor(np.log10(shortest / 2)))
    return tuple(float(f"1e{power}") for power in range(top - DECADES + 1, top + 1))


def check_cutoffs(cutoffs: Sequence[float], shortest: float) -> tuple[float, ...]:
    """Return the sorted cutoffs without duplicates; refuse those that leave nothing of some run's horizon."""
    wrong = [cutoff for cutoff in cutoffs if not 0 < cutoff < shortest]
    if wrong:
        raise UsageError(
            f"cutoffs: expected positive ones below every horizon (the shortest is {shortest:g}), got {wrong[0]:g}"
        )
    return tuple(sorted(set(map(float, cutoffs))))


def find_cutoff_swaps(
    one: SweepCurve, other: SweepCurve, kind: str, horizon: float, least: float
) -> tuple[CutoffSwap, ...]:
    """Find the exact cutoffs, from the least one on, at which the order of two arms changes; ties do not count."""
    found = find_crossings(_cutoff_swaps, one, other, horizon, least, kind == "end-log")
    # The walk finds them in decreasing order.
    return tuple(CutoffSwap(kind, at, below, above) for at, below, above in reversed(found))


@compiled(nogil=True)
def _cutoff_swaps(times, apart, horizon, least, end, tie, out_at, out_side):  # type: ignore[no-untyped-def] # pragma: no cover
    """Walk down from the horizon, in elapsed or remaining time; `side` is the leader below a swap."""
    size = len(times)
    while size > 0 and times[size - 1] >= horizon:
        size -= 1
    total, leader, found = 0.0, 0, 0
    for step in range(size):
        k = step if end else size - 1 - step
        low, high = times[k], times[k + 1] if k + 1 < size else horizon
        if end:
            low, high = horizon - high, horizon - low
        # Below the least cutoff nothing has any weight.
        low, high = max(low, least), max(high, least)
        width = np.log(high / low)
        above = total
        # The integral from each edge up to the horizon decides the order at a cutoff there.
        total += apart[k] * width
        whole = np.log(horizon / low)
        side = 1 if total > tie * whole else (-1 if total < -tie * whole else 0)
        # A tie keeps the leader: two arms that meet and separate again have not swapped.
        if width > 0.0 and side != 0:
            if leader * side < 0:
                if found < len(out_at):
                    crossing = high * np.exp(above / apart[k])
                    out_at[found], out_side[found] = min(max(crossing, low), high), side
                found += 1
            leader = side
    return found


def _frame(tables: dict[str, Floats], cutoffs: Sequence[float], arms: Sequence[str]) -> pl.DataFrame:
    rows = [
        (kind, cutoff, arm, float(score))
        for kind, table in tables.items()
        for cutoff, row in zip(cutoffs, table, strict=True)
        for arm, score in zip(arms, row, strict=True)
    ]
    return pl.DataFrame(rows, schema=CUTOFF_SCORES, orient="row")
