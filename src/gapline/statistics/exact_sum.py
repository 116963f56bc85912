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
    upper = np.empty(min(len(values), _BLOCK))
    for low in range(0, len(values), _BLOCK):
        rest = values[low : low + _BLOCK]
        largest = max(float(rest.max()), -float(rest.min()))
        # NaN, infinities and what overflows: the same answer, or the same error.
        if not largest < _LARGEST:
            return math.fsum(values)
        spare, above = len(rest).bit_length() + 1, upper[: len(rest)]
        while largest:
            split = math.ldexp(1.0, math.frexp(largest)[1] + spare)
            np.add(rest, split, out=above)
            np.subtract(above, split, out=above)
            sums.append(float(above.sum()))
            rest = rest - above
            # What is left of a value is at most half of the last bit of what was split off, or nothing.
            largest = math.ldexp(split, -53) if rest.any() else 0.0
    return math.fsum(sums)
