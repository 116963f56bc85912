"""Endpoints of runs: final gaps, the time at which a goal is reached, and the columns named after goals."""

import numpy as np
from numpy.typing import ArrayLike

from gapline.campaign.threads import in_slices
from gapline.contract.reading import TOLERANCE
from gapline.contract.transforms import shortest
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import per_run_at_once
from gapline.native.arrays import Floats, Integers
from gapline.native.compilation import compiled
from gapline.scoring.kernels import raw_gap, squeezed_gap


def final_gaps(envelopes: Envelopes, references: Floats) -> tuple[Floats, Floats]:
    """Return the raw final gap (NaN for an empty run) and the final squeezed gap (1 for an empty run)."""
    column = envelopes.runs["best"]
    best = column.fill_null(np.inf).to_numpy()
    if not envelopes.scale.signed:
        raw = raw_gap(best, references)
        return np.where(np.isinf(best), np.nan, raw) if column.null_count() else raw, squeezed_gap(best, references)
    empty = np.isinf(best)
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = np.where(best == references, 0.0, (best - references) / np.abs(references))
    # Against a reference of 0 nothing but 0 has a relative distance; the squeezed gap needs positive values.
    return np.where(np.isfinite(raw), raw, np.nan), np.where(empty, 1.0, np.nan)


def hitting_times(envelopes: Envelopes, references: Floats, goals: ArrayLike, tolerance: float = TOLERANCE) -> Floats:
    """Return, runs × goals, the first time at which (z - z*) <= (goal + tolerance)·|z*|; infinite where it never is.

    The tolerance makes decimals count as they are read: 101 against 100 attains the goal 0.01, and so does 10.1
    against 10, although 10.1 - 10 is more than 0.01 · 10 in the last bit.
    """
    allowed = np.asarray(goals, np.float64) + tolerance
    found: Floats = per_run_at_once(_hits, envelopes, references, allowed=allowed)
    return found


def first_steps(envelopes: Envelopes, *, positive: bool = False) -> Floats:
    """Return the time of each run's first step, or of its first `positive` time; NaN for none."""
    found: Floats = per_run_at_once(_first_steps, envelopes, positive=positive)
    return found


def _first_steps(envelopes: Envelopes, *, positive: bool) -> Floats:
    first, count = envelopes.runs["first"].to_numpy(), envelopes.runs["count"].to_numpy()
    out = np.full(len(first), np.nan)
    out[count > 0] = envelopes.time[first[count > 0]]
    if positive:
        # Times rise strictly within a run: where the first step is at 0, the second is not.
        at_zero = np.flatnonzero(out == 0)
        second = at_zero[count[at_zero] > 1]
        out[at_zero] = np.nan
        out[second] = envelopes.time[first[second] + 1]
    return out


def _hits(envelopes: Envelopes, references: Floats, *, allowed: Floats) -> Floats:
    first, count = envelopes.runs["first"].to_numpy(), envelopes.runs["count"].to_numpy()
    out = np.empty((len(first), len(allowed)))

    def work(low: int, high: int) -> None:
        _hit_slices(low, high, envelopes.time, envelopes.objective, first, count, references, allowed, out)

    in_slices(count, work, each=1)
    return out


def _hit_arrays(
    low: int, high: int, time: Floats, objective: Floats, first: Integers, count: Integers, references: Floats,
    allowed: Floats, out: Floats,
) -> None:  # fmt: skip
    """Do the bisection of `_hit_slices` for all runs and goals at once."""
    reference = references[low:high, None]
    least = np.abs(reference) * allowed
    begin = np.broadcast_to(first[low:high, None], least.shape)
    stop = begin + count[low:high, None]
    low_step, high_step = begin.copy(), stop.copy()
    while (apart := low_step < high_step).any():
        middle = (low_step + high_step) // 2
        attained = np.zeros_like(apart)
        attained[apart] = (objective[np.where(apart, middle, 0)] - reference <= least)[apart]
        high_step = np.where(apart & attained, middle, high_step)
        low_step = np.where(apart & ~attained, middle + 1, low_step)
    out[low:high] = np.inf
    found = low_step < stop
    out[low:high][found] = time[low_step[found]]


@compiled(nogil=True, small=_hit_arrays)
def _hit_slices(low, high, time, objective, first, count, references, allowed, out):  # type: ignore[no-untyped-def] # pragma: no cover
    for run in range(low, high):
        begin, stop, reference = first[run], first[run] + count[run], references[run]
        for g in range(len(allowed)):
            # Objectives fall along the steps, so the first step that attains the goal is found by bisection.
            low_step, high_step = begin, stop
            while low_step < high_step:
                middle = (low_step + high_step) // 2
                if objective[middle] - reference <= allowed[g] * abs(reference):
                    high_step = middle
                else:
                    low_step = middle + 1
            out[run, g] = time[low_step] if low_step < stop else np.inf


def attainment_name(goal: float) -> str:
    """Return the column that holds the share of runs that attained a goal.

    >>> attainment_name(0.01), attainment_name(0.01234567)
    ('attainment:0.01', 'attainment:0.01234567')
    """
    return f"attainment:{shortest(goal)}"
