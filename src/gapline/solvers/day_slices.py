"""A day cut into equal slices, each with one mean travel time per arc: what solvers with time-stamped matrices take."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DaySlices:
    """Mean travel times by slice, origin and destination; `middles` are the moments in the middle of the slices."""

    middles: Floats
    times: npt.NDArray[np.float64]


def cut_day(loaded: Any, count: int) -> DaySlices:
    """Cut the day of a TDVRPTW instance, as mamut-routing-lib loads it, into slices of equal length."""
    begin, end = (float(moment) for moment in loaded.atfs.horizon)
    edges = np.linspace(begin, end, count + 1)
    size = loaded.instance.num_customers + 1
    times = np.zeros((count, size, size))
    for (i, j), function in loaded.atfs.arcs.items():
        times[:, i, j] = mean_travel(np.array(function.xs), np.array(function.ys), edges)
    return DaySlices((edges[1:] + edges[:-1]) / 2, times)


def mean_travel(leave: Floats, arrive: Floats, edges: Floats) -> Floats:
    """Return the mean of a travel time over each slice between two edges, exactly.

    >>> day, arrival = np.array([0.0, 4.0, 10.0]), np.array([2.0, 10.0, 12.0])
    >>> mean_travel(day, arrival, np.array([0.0, 4.0, 10.0])).tolist()
    [4.0, 4.0]
    >>> mean_travel(day, arrival, np.array([0.0, 2.0, 10.0])).tolist()
    [3.0, 4.25]
    """
    moments = np.union1d(leave, edges)
    travel = np.interp(moments, leave, arrive - leave)
    areas = np.concatenate([[0.0], np.cumsum((travel[1:] + travel[:-1]) / 2 * np.diff(moments))])
    at_edges = areas[np.searchsorted(moments, edges)]
    means: Floats = np.diff(at_edges) / np.diff(edges)
    return means
