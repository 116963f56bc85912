"""The sum of many numbers, rounded once: what `math.fsum` returns, in passes over whole arrays."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# As many as stay in the cache of a core between the passes.
_BLOCK = 1 << 14
# Beyond it, the power of two that splits a block might overflow.
_LARGEST = 2.0**1000


def exact_sum(values: Floats, /) -> float:
    """Return the exact sum of the values, rounded to the nearest double.

    Each value is split at one bit for all of a block: the upper parts are multiples of one power of two, few enough
    bits long that adding them up rounds nothing, in whatever order; the lower parts are split again.

    >>> exact_sum(np.array([1e16, 1.0, -1e16, 0.1])), float(np.sum([1e16, 1.0, -1e16, 0.1]))
    (1.1, 0.1)
    """
    sums: list[float] = []
    for low in range(0, len(values), _BLOCK):
        rest = values[low : low + _BLOCK]
        largest = _magnitude(rest)
        # NaN, infinities and what overflows: the same answer, or the same error.
        if not largest < _LARGEST:
            return math.fsum(values)
        spare = len(rest).bit_length() + 1
        while largest:
            split = math.ldexp(1.0, math.frexp(largest)[1] + spare)
            upper = rest + split
            upper -= split
            sums.append(float(upper.sum()))
            rest = rest - upper
            largest = _magnitude(rest)
    return math.fsum(sums)


def _magnitude(values: Floats) -> float:
    return max(float(values.max()), -float(values.min()))
