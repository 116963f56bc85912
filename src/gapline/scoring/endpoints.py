"""Endpoints of runs: final gaps, the time at which a goal is reached, and the columns named after goals."""

import numpy as np
from numpy.typing import ArrayLike

from gapline.contract.reading import TOLERANCE
from gapline.contract.transforms import shortest
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import per_run_at_once
from gapline.native.arrays import Floats
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
    # No objective but 0 has a relative distance to a reference of 0; the squeezed gap needs positive values.
    return np.where(np.isfinite(raw), raw, np.nan), np.where(empty, 1.0, np.nan)


def hitting_times(envelopes: Envelopes, references: Floats, goals: ArrayLike, tolerance: float = TOLERANCE) -> Floats:
    """Return, runs × goals, the first time at which (z - z*) <= (goal + tolerance)·|z*|; infinite if there is none.

    The tolerance makes decimals count as written: 101 against 100 attains the goal 0.01, and so does 10.1
    against 10, although 10.1 - 10 is more than 0.01 · 10 in the last bit.
    """
    allowed = np.asarray(goals, np.float64) + tolerance
    found: Floats = per_run_at_once(_hits, envelopes, references, allowed=allowed)
    return found


def first_steps(envelopes: Envelopes, *, positive: bool = False) -> Floats:
    """Return the time of each run's first step, or first step after 0 if `positive`; NaN if there is none."""
    found: Floats = per_run_at_once(_first_steps, envelopes, positive=positive)
    return found


def _first_steps(envelopes: Envelopes, *, positive: bool) -> Floats:
    first, count = envelopes.runs["first"].to_numpy(), envelopes.runs["count"].to_numpy()
    out = np.full(len(first), np.nan)
    out[count > 0] = envelopes.time[first[count > 0]]
    if positive:
        # Times increase strictly within a run: if the first step is at 0, the second is not.
        at_zero = np.flatnonzero(out == 0)
        second = at_zero[count[at_zero] > 1]
        out[at_zero] = np.nan
        out[second] = envelopes.time[first[second] + 1]
    return out


def _hits(envelopes: Envelopes, references: Floats, *, allowed: Floats) -> Floats:
    first, count = envelopes.runs["first"].to_numpy(), envelopes.runs["count"].to_numpy()
    out = np.full((len(first), len(allowed)), np.inf)
    for goal, share in enumerate(allowed.tolist()):
        with np.errstate(over="ignore", invalid="ignore"):
            least = share * np.abs(references)
        # Objectives decrease along the steps, so bisection finds the first step that attains the goal.
        low, high = first.copy(), first + count
        while len(apart := np.flatnonzero(low < high)):
            middle = (low[apart] + high[apart]) // 2
            attained = envelopes.objective[middle] - references[apart] <= least[apart]
            high[apart[attained]] = middle[attained]
            low[apart[~attained]] = middle[~attained] + 1
        found = low < first + count
        out[found, goal] = envelopes.time[low[found]]
    return out


def attainment_name(goal: float) -> str:
    """Return the column that holds the share of runs that attained a goal.

    >>> attainment_name(0.01), attainment_name(0.01234567)
    ('attainment:0.01', 'attainment:0.01234567')
    """
    return f"attainment:{shortest(goal)}"
