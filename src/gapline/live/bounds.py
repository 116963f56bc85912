"""Bounds on the score of an open run, under the kernels, weight and references of its study."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.campaign.scale import Scale
from gapline.contract.contract import Contract
from gapline.contract.names import KernelCode, TimeWeight
from gapline.errors import GaplineError, UsageError
from gapline.references.choice import stored_snapshots
from gapline.references.resolve import resolve_references
from gapline.references.snapshot import Snapshot
from gapline.scoring.integral import integrate
from gapline.scoring.kernels import Kernel, parse_kernel
from gapline.scoring.user_functions import as_weight
from gapline.solvers import simplified_arms
from gapline.statistics.means import weighted_mean
from gapline.study import declared_choices

Floats = NDArray[np.float64]

# The smallest positive double: with it, every bounded kernel is exactly at its lower end.
LEAST = 5e-324
# Bound on the rounding difference of two sums, for scores of about 1.
ROUNDING = 1e-14


class OpenRun(NamedTuple):
    """A run as far as it is known: its accepted steps up to `known`, on the scored scale.

    `best` is the best possible value, None if it is unknown; without `checked`, the steps are claims.
    """

    time: Floats
    objective: Floats
    known: float
    horizon: float
    reference: float
    best: float | None
    checked: bool = True


@dataclass(frozen=True, slots=True)
class ScoreBounds:
    """The ends between which a score lies; `held` is the score if the incumbent stays until the horizon.

    `to_reference` is the score if the run reaches the reference now; `so_far` is the score at the horizon `known`.
    `claimed` are the ends if all claims are true, for candidates that wait for verdicts. None if there is no value.
    """

    low: float | None
    high: float | None
    held: float | None = None
    to_reference: float | None = None
    so_far: float | None = None
    claimed: tuple[float, float] | None = None

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        claimed = None if self.claimed is None else {"low": self.claimed[0], "high": self.claimed[1]}
        names = ("low", "high", "held", "to_reference", "so_far")
        return {name: getattr(self, name) for name in names} | {"claimed": claimed}


def has_ends(kernel: Kernel) -> bool:
    """Whether the gap of a kernel lies between two known values."""
    return kernel.code is not KernelCode.CUSTOM and kernel.before is not None


def bound_runs(runs: Sequence[OpenRun], *, kernels: Sequence[Kernel], weight: TimeWeight) -> list[list[ScoreBounds]]:
    """Return the bounds of each run under each kernel."""
    if not runs:
        return []
    held = _scores(runs, kernels, weight)
    reached = _scores([_jump(run, run.known, run.reference) for run in runs], kernels, weight)
    least = _scores([_jump(run, run.known, _best(run)) for run in runs], kernels, weight)
    so_far = _scores_so_far(runs, kernels, weight)
    # Only for claims: most runs have none.
    claims = [row for row, run in enumerate(runs) if not run.checked]
    empty, at_once = np.full(held.shape, np.nan), np.full(held.shape, np.nan)
    if claims:
        empty[claims] = _scores([_emptied(runs[row]) for row in claims], kernels, weight)
        at_once[claims] = _scores([_jump_at_first(runs[row]) for row in claims], kernels, weight)
    found = []
    for row, run in enumerate(runs):
        each = []
        for place, kernel in enumerate(kernels):
            stays, jumps, until = (_number(scores[row, place]) for scores in (held, reached, so_far))
            if not has_ends(kernel):
                each.append(ScoreBounds(None, None, stays, jumps, until))
                continue
            ends = [held[row, place], least[row, place]]
            if kernel.code is KernelCode.BERTHOLD:
                ends.append(reached[row, place])
            low, high = _outward(min(ends), max(ends))
            claimed = None
            if not run.checked:
                claimed = (low, high)
                open_ends = [*ends, empty[row, place], at_once[row, place]]
                if kernel.code is KernelCode.BERTHOLD:
                    open_ends.append(0.0)
                low, high = _outward(min(open_ends), max(open_ends))
            each.append(ScoreBounds(low, high, stays, jumps, until, claimed))
        found.append(each)
    return found


def bound_unbegun(best: float | None, reference: float, kernel: Kernel) -> tuple[float, float] | None:
    """Return the ends of the score of a run that has not begun: its gap may be at either end from the start."""
    if not has_ends(kernel):
        return None
    assert kernel.before is not None
    ends = [float(kernel(LEAST if best is None or best <= 0 else best, reference)), kernel.before]
    if kernel.code is KernelCode.BERTHOLD:
        ends.append(0.0)
    return min(ends), max(ends)


def bound_means(low: Floats, high: Floats, weights: Floats) -> tuple[float, float]:
    """Return the ends of a weighted mean, given the ends of each number."""
    if bool(np.array_equal(low, high)):
        mean = weighted_mean(low, weights)
        return mean, mean
    return _outward(weighted_mean(low, weights), weighted_mean(high, weights))


def is_decided(a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Whether open runs can no longer change which of two means is smaller.

    >>> is_decided((0.1, 0.2), (0.3, 0.4)), is_decided((0.1, 0.3), (0.2, 0.4))
    (True, False)
    """
    return a[1] < b[0] or b[1] < a[0]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _outward(low: float, high: float) -> tuple[float, float]:
    return float(low) - ROUNDING, float(high) + ROUNDING


def _best(run: OpenRun) -> float:
    return LEAST if run.best is None or run.best <= 0 else run.best


def _jump(run: OpenRun, moment: float, value: float) -> OpenRun:
    """Return the run with a value from a moment on, unless it already has a better one."""
    if moment >= run.horizon or (len(run.objective) and run.objective[-1] <= value):
        return run
    before = run.time < moment
    return run._replace(time=np.append(run.time[before], moment), objective=np.append(run.objective[before], value))


def _jump_at_first(run: OpenRun) -> OpenRun:
    """Return the run as if its first candidate had been the best possible one."""
    first = float(run.time[0]) if len(run.time) else run.known
    return _jump(_emptied(run), first, _best(run))


def _emptied(run: OpenRun) -> OpenRun:
    return run._replace(time=run.time[:0], objective=run.objective[:0])


def _scores_so_far(runs: Sequence[OpenRun], kernels: Sequence[Kernel], weight: TimeWeight) -> Floats:
    """Return the scores at the horizon up to which each run is known; NaN if the weight is not defined there."""
    found = np.full((len(runs), len(kernels)), np.nan)
    # A weight function is integrated for each horizon, which is too slow for a number that changes all the time.
    known = [] if weight.function is not None else [row for row, run in enumerate(runs) if _weighs(weight, run.known)]
    if known:
        cut = [runs[row]._replace(horizon=min(runs[row].known, runs[row].horizon)) for row in known]
        found[known] = _scores(cut, kernels, weight)
    return found


def _weighs(weight: TimeWeight, horizon: float) -> bool:
    try:
        weight.check_horizons([horizon])
    except UsageError:
        return False
    return horizon > 0


def _scores(runs: Sequence[OpenRun], kernels: Sequence[Kernel], weight: TimeWeight) -> Floats:
    steps = [run.time <= run.horizon for run in runs]
    count = np.array([int(np.count_nonzero(some)) for some in steps], np.int64)
    first = np.concatenate(([0], np.cumsum(count)[:-1])).astype(np.int64)
    pairs = list(zip(runs, steps, strict=True))
    return integrate(
        np.concatenate([run.time[some] for run, some in pairs]),
        np.concatenate([run.objective[some] for run, some in pairs]),
        first,
        count,
        np.array([run.horizon for run in runs]),
        np.array([run.reference for run in runs]),
        kernels=kernels,
        weight=weight,
    )


class LiveReading:
    """The choices of a contract: kernels (the first one leads), weight, and the snapshot that it names.

    Arms of simplified models are of tier 2. `problem` says which of the choices cannot be used.
    """

    def __init__(self, study: Path, contract: Contract) -> None:
        stated = declared_choices(contract)
        self.tolerance = stated["tolerance"]
        self.weighting = stated["weighting"]
        self.tier_two = (*stated["tier_two"], *simplified_arms(contract))
        self.scaled_time = bool(stated["time_scale"])
        self.problem: str | None = None
        self.kernels: list[Kernel] = []
        self.weight: TimeWeight | None = None
        self.snapshot: Snapshot | None = None
        self._sizes = {one.name: float(one.size) for one in contract.instances if one.size is not None}
        self._known: dict[str, float | None] = {}
        try:
            self.kernels = [parse_kernel(name, tolerance=self.tolerance) for name in stated["kernels"]]
            self.weight = as_weight(stated["weight"])
            self.use(next(iter(stored_snapshots([str(study)], study, contract, None, ())), None))
        except GaplineError as error:
            self.problem = error.message

    def use(self, snapshot: Snapshot | None) -> None:
        """Use another snapshot from now on."""
        if snapshot is not self.snapshot:
            self.snapshot, self._known = snapshot, {}

    def reference(self, instance: str, scale: Scale) -> float | None:
        """Return the reference of an instance on the scored scale; None if there is no usable one."""
        if instance not in self._known:
            self._known[instance] = self._resolve(instance, scale)
        return self._known[instance]

    def _resolve(self, instance: str, scale: Scale) -> float | None:
        if self.snapshot is None:
            return None
        try:
            value = float(resolve_references(self.snapshot, [instance], scale=scale, sizes=self._sizes)[0])
        except GaplineError:
            return None
        return value if np.isfinite(value) else None
