"""Where a run ended and when it reached a goal: raw and squeezed final gap, hitting times."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapline.envelope.build import Envelopes
from gapline.model.compiled import compiled
from gapline.model.reading import TOLERANCE
from gapline.model.threads import in_slices
from gapline.scoring.kernels import raw_gap, squeezed_gap

Floats = NDArray[np.float64]


def final_gaps(envelopes: Envelopes, references: Floats) -> tuple[Floats, Floats]:
    """Return the raw final gap (NaN for an empty run) and the final squeezed gap (1 for an empty run)."""
    best = envelopes.runs["best"].fill_null(np.inf).to_numpy()
    empty = np.isinf(best)
    if not envelopes.scale.signed:
        return np.where(empty, np.nan, raw_gap(best, references)), squeezed_gap(best, references)
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = np.where(best == references, 0.0, (best - references) / np.abs(references))
    # Against a reference of 0 nothing but 0 has a relative distance; the squeezed gap needs positive values.
    return np.where(np.isfinite(raw), raw, np.nan), np.where(empty, 1.0, np.nan)


def hitting_times(envelopes: Envelopes, references: Floats, goals: ArrayLike, tolerance: float = TOLERANCE) -> Floats:
    """Return, runs × goals, the first time at which (z - z*) <= (goal + tolerance)·|z*|; infinite where it never is.

    The tolerance makes decimals count as they are read: 101 against 100 attains the goal 0.01, and so does 10.1
    against 10, although 10.1 - 10 is more than 0.01 · 10 in the last bit.
    """
    runs = envelopes.runs
    first, count = runs["first"].to_numpy(), runs["count"].to_numpy()
    allowed = np.asarray(goals, np.float64) + tolerance
    out = np.empty((len(first), len(allowed)))

    def work(low: int, high: int) -> None:
        _hit_slices(low, high, envelopes.time, envelopes.objective, first, count, references, allowed, out)

    in_slices(count + 1, work)
    return out


@compiled(nogil=True)
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
