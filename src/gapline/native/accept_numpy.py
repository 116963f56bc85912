"""The pass over candidates in NumPy, bit-identical, for data too small to justify loading compiled code."""

import numpy as np
from numpy.typing import NDArray

from gapline.contract.tables import VerdictCode
from gapline.native.slices import rectangles, step_places

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


def accept_arrays(
    low: int, high: int, out: int, first: Integers, count: Integers, horizon: Floats, time: Floats, objective: Floats,
    verdict: NDArray[np.int8], count_unchecked: bool, above: float, out_time: Floats, out_objective: Floats,
    out_first: Integers, captured: Integers, rejected: Integers, unchecked: Integers, late: Integers, steps: Integers,
    terminal: NDArray[np.int8], best_index: Integers, best_objective: Floats, best_time: Floats, suspect: Booleans,
) -> int:  # fmt: skip
    """Build the envelopes of runs low:high into the output from position `out` on; return the number of steps."""
    first, count, limit = first[low:high], count[low:high], horizon[low:high]
    own, starts = step_places(first, count)
    t, z, code = time[own], objective[own], verdict[own]
    run = np.repeat(np.arange(high - low), count)
    position = np.arange(len(t)) - starts[run]

    def per_run(chosen: Booleans) -> Integers:
        return np.bincount(run[chosen], minlength=high - low)

    def last_of(chosen: Booleans) -> Integers:
        # With repeated indices NumPy keeps the last value, and candidates are in the order of their times.
        places = np.full(high - low, -1, np.int64)
        places[run[chosen]] = np.flatnonzero(chosen)
        return places

    inside = position < _first_beyond(t, starts, count, limit)[run]
    valid = (code == VerdictCode.VALID) | (count_unchecked & (code == VerdictCode.UNCHECKED))
    backwards = np.zeros(len(t), np.bool_)
    backwards[1:] = ~(t[:-1] <= t[1:])
    # The first candidate of a run has no predecessor; it is wrong if its time is negative.
    backwards = np.where(position == 0, t < 0.0, backwards)
    unusable = valid & np.where(inside, ~((z > above) & (z < np.inf)), np.isnan(t))
    over = ~inside & (t > limit[run]) & (code != VerdictCode.BOUND)
    kept = places_of_steps(t, np.where(valid & inside, z, np.inf), run, starts, count)
    out_time[out : out + len(kept)] = t[kept]
    out_objective[out : out + len(kept)] = z[kept]
    made = np.bincount(run[kept], minlength=high - low)
    out_first[low:high] = out + np.cumsum(made) - made

    final = last_of(inside & (code != VerdictCode.BOUND))
    codes = np.append(np.where(valid, VerdictCode.VALID, code), -1)
    terminal[low:high] = codes[final]
    best = np.full(high - low, -1, np.int64)
    best[run[kept]] = kept
    best_index[low:high] = np.where(best >= 0, first + best - starts, -1)
    best_objective[low:high] = np.append(z, np.inf)[best]
    best_time[low:high] = np.append(t, np.nan)[best]
    suspect[low:high] = per_run(backwards | unusable) > 0
    captured[low:high] = count - per_run(code == VerdictCode.BOUND)
    rejected[low:high] = per_run(code == VerdictCode.INVALID)
    unchecked[low:high] = per_run(code == VerdictCode.UNCHECKED)
    late[low:high] = per_run(over)
    steps[low:high] = made
    return len(kept)


def places_of_steps(time: Floats, objective: Floats, run: Integers, starts: Integers, count: Integers) -> Integers:
    """Return the indices of steps: candidates below all previous ones of their run; NaN counts as infinite."""
    kept = np.flatnonzero(_improves(np.where(np.isnan(objective), np.inf, objective), starts, count))
    # Of steps with equal times keep the last, which is the best.
    again = (time[kept[1:]] == time[kept[:-1]]) & (run[kept[1:]] == run[kept[:-1]])
    return kept[np.append(~again, True)] if len(kept) else kept


def _first_beyond(time: Floats, starts: Integers, count: Integers, limit: Floats) -> Integers:
    """Return, for each run, the first position whose time is not at most the limit, bisecting all runs together."""
    low, high = np.zeros_like(count), count.copy()
    filled = np.flatnonzero(count > 0)
    none = filled[time[(starts + count - 1)[filled]] <= limit[filled]]
    low[none] = count[none]
    while (open_ := low < high).any():
        middle = (low + high) // 2
        reached = np.zeros(len(count), np.bool_)
        reached[open_] = time[(starts + middle)[open_]] <= limit[open_]
        low = np.where(open_ & reached, middle + 1, low)
        high = np.where(open_ & ~reached, middle, high)
    return low


def _improves(objective: Floats, starts: Integers, count: Integers) -> Booleans:
    """Return a mask of the candidates that are below all previous ones of their run."""
    better = np.empty(len(objective), np.bool_)
    for rows, positions in rectangles(count):
        places = starts[rows, None] + positions
        here = objective[places]
        before = np.full_like(here, np.inf)
        np.minimum.accumulate(here[:, :-1], axis=1, out=before[:, 1:])
        # A shorter row repeats its last candidate; only the first occurrence is correct.
        filled = np.arange(places.shape[1]) < count[rows, None]
        better[places[filled]] = (here < before)[filled]
    return better
