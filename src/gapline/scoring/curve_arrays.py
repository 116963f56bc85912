"""The events of a mean curve and their sums in NumPy, for so few that compiled code is not worth loading."""

import numpy as np
from numpy.typing import NDArray

from gapline.scoring.compensated import cumulate

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def fill_event_arrays(
    first: Integers, count: Integers, time: Floats, gaps: Floats, before: float, weights: Floats, scale: Floats,
    out_time: Floats, out_delta: Floats,
) -> None:  # fmt: skip
    """Fill in when each run of runs that lie one after the other changes the sum, and by how much."""
    previous = np.append(before, gaps)[: len(gaps)]
    previous[first[count > 0]] = before
    out_time[:] = time / np.repeat(scale, count)
    out_delta[:] = np.repeat(weights, count) * (gaps - previous)


def cumulate_arrays(time: Floats, delta: Floats, start: float, out_time: Floats, out_value: Floats) -> int:
    """Fill in the breakpoints, 0 first, and the sum from each on; equal times are one, summed by size."""
    if len(time) > 1 and (time[1:] == time[:-1]).any():
        delta = delta[np.lexsort((delta, time))]
    totals, lost = cumulate(np.array([start]), delta[None, :])
    value = (totals + lost)[0]
    last = np.append(time[1:] != time[:-1], True)[: len(time)]
    moments, sums = time[last], value[1:][last]
    out_time[0], out_value[0] = 0.0, start
    # What happens at 0 is in the value there.
    if len(moments) and not moments[0] > 0.0:
        out_value[0], moments, sums = sums[0], moments[1:], sums[1:]
    out_time[1 : len(moments) + 1] = moments
    out_value[1 : len(moments) + 1] = sums
    return len(moments) + 1
