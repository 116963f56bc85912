"""The difference of two step curves, in one walk through the breakpoints of both."""

import numpy as np
from numpy.typing import NDArray

from gapline.model.compiled import compiled
from gapline.model.scratch import scratch_array

Floats = NDArray[np.float64]


def steps_apart(one: tuple[Floats, Floats], other: tuple[Floats, Floats], /) -> tuple[Floats, Floats]:
    """Return the breakpoints of two step curves (times, values; the first time 0 in both), and one minus other there.

    >>> one, other = (np.array([0.0, 4.0]), np.array([1.0, 0.0])), (np.array([0.0, 1.0]), np.array([1.0, 0.5]))
    >>> times, apart = steps_apart(one, other)
    >>> times.tolist(), apart.tolist()
    ([0.0, 1.0, 4.0], [0.0, 0.5, -0.5])
    """
    time, apart = (scratch_array(len(one[0]) + len(other[0])) for _ in range(2))
    size = _merge(*one, *other, time, apart)
    return time[:size], apart[:size]


@compiled(nogil=True)
def _merge(time_a, value_a, time_b, value_b, out_time, out_apart):  # type: ignore[no-untyped-def] # pragma: no cover
    i, j, size = 0, 0, 0
    while i < len(time_a) or j < len(time_b):
        # Equal times are one breakpoint.
        now = time_b[j] if i == len(time_a) or (j < len(time_b) and time_b[j] < time_a[i]) else time_a[i]
        i += i < len(time_a) and time_a[i] == now
        j += j < len(time_b) and time_b[j] == now
        out_time[size], out_apart[size] = now, value_a[i - 1] - value_b[j - 1]
        size += 1
    return size
