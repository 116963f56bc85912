"""Compensated sums, for one run in compiled code and for many runs in NumPy, bit-identical."""

import numpy as np
from numpy.typing import NDArray

from gapline.native.compilation import compiled
from gapline.native.slices import rectangles

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@compiled(inline="always", keep=False)
def two_sum(a, b):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the rounded sum of two numbers and its exact rounding error (Knuth's TwoSum).

    >>> two_sum(1e16, 1.0)
    (1e+16, 1.0)
    """
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


# Independent partial sums, as in `scoring/integral.py`, so that additions do not wait for each other.
LANES = 4


def cumulate(start: Floats, terms: Floats) -> tuple[Floats, Floats]:
    """Return the cumulative sums from `start` on along the second axis, and the rounding error of each so far.

    NumPy accumulates strictly in order, like a loop.

    >>> totals, lost = cumulate(np.array([1e16]), np.array([[1.0, 1.0]]))
    >>> totals.tolist(), lost.tolist()
    ([[1e+16, 1e+16, 1e+16]], [[0.0, 1.0, 2.0]])
    """
    totals = np.add.accumulate(np.concatenate([start[:, None], terms], axis=1), axis=1)
    errors = np.zeros_like(totals)
    errors[:, 1:] = two_sum.py_func(totals[:, :-1], terms)[1]
    return totals, np.add.accumulate(errors, axis=1)


def compensated_sums(terms: Floats, starts: Integers, count: Integers, begin: Floats) -> Floats:
    """Return, for each run, begin + Σ of its `count` terms from `starts` on: Neumaier's sum in four lanes."""
    lanes = np.zeros((len(count), LANES))
    lanes[:, 0] = begin
    lost = np.zeros_like(lanes)
    whole = count // LANES
    for rows, positions in rectangles(whole):
        places = starts[rows, None, None] + LANES * positions[:, :, None] + np.arange(LANES)
        totals, errors = cumulate(lanes[rows], terms[places])
        lanes[rows], lost[rows] = totals[np.arange(len(rows)), whole[rows]], errors[np.arange(len(rows)), whole[rows]]
    total, error = lanes[:, 0], lost[:, 0]
    for rest in range(LANES - 1):
        rows = np.flatnonzero(count % LANES > rest)
        total[rows], more = two_sum.py_func(total[rows], terms[starts[rows] + LANES * whole[rows] + rest])
        error[rows] += more
    for lane in range(1, LANES):
        total, more = two_sum.py_func(total, lanes[:, lane])
        error = error + more
    return total + (((error + lost[:, 1]) + lost[:, 2]) + lost[:, 3])
