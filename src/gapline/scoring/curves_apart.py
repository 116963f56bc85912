"""Mean curves of many groups of runs at the same moments: one for each instance, say, and there may be 100,000."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gapline.model.compiled import compiled
from gapline.model.scratch import piece_size
from gapline.model.threads import in_slices
from gapline.scoring.curve import CurveSum, cumulate_at, evaluate_steps
from gapline.scoring.curve_arrays import cumulate_arrays

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def curves_apart(total: CurveSum, run_ends: Integers, step_ends: Integers, moments: Floats) -> Floats:
    """Return, groups × moments, the mean of each group of runs alone, to the bit as in a curve of its own.

    `run_ends` and `step_ends` say behind which run and which step of the sum a group ends; groups follow each other.

    >>> total = CurveSum(1.0, np.ones(2), np.array([1.0, 3.0]), np.array([-0.5, -0.25]), 4.0)
    >>> curves_apart(total, np.array([1, 2]), np.array([1, 2]), np.array([0.0, 2.0, 4.0])).tolist()
    [[1.0, 0.5, 0.5], [1.0, 1.0, 0.75]]
    """
    weights = [total.weights[low:high] for low, high in pairwise([0, *run_ends.tolist()])]
    weight = np.array([math.fsum(own) for own in weights])
    edges = np.concatenate(([0], step_ends)).astype(np.int64)
    sizes = np.diff(edges)
    most, out = piece_size(), np.empty((len(weights), len(moments)))

    def fill(low: int, high: int) -> None:
        start = total.before * weight[low:high]
        _fill_each(edges[low : high + 1], total.time, total.delta, start, moments, most, out[low:high])

    in_slices(sizes, fill, each=1)
    out /= weight[:, None]
    # What is too long to be held is sorted in parts.
    for long in np.flatnonzero(sizes > most):
        own = slice(int(edges[long]), int(edges[long + 1]))
        alone = replace(total, weights=weights[long], time=total.time[own], delta=total.delta[own])
        out[long] = alone.curve_at(moments)[0]
    return out


def _fill_each_arrays(
    edges: Integers, time: Floats, delta: Floats, start: Floats, moments: Floats, most: int, out: Floats
) -> None:
    for group, (low, high) in enumerate(pairwise(edges.tolist())):
        if high - low > most:
            continue
        order = np.argsort(time[low:high], kind="stable")
        times, values = np.empty(high - low + 1), np.empty(high - low + 1)
        size = cumulate_arrays(time[low:high][order], delta[low:high][order], start[group], times, values)
        out[group] = evaluate_steps(times[:size], values[:size], moments)


@compiled(nogil=True, small=_fill_each_arrays)
def _fill_each(edges, time, delta, start, moments, most, out):  # type: ignore[no-untyped-def] # pragma: no cover
    """Fill in the sums of the groups that are no longer than `most` at the moments."""
    for group in range(len(out)):
        low, high = edges[group], edges[group + 1]
        if high - low > most:
            continue
        order = np.argsort(time[low:high], kind="mergesort")
        cumulate_at(time[low:high][order], delta[low:high][order], start[group], moments, moments[-1], out[group])
