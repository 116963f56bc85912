"""A day cut into equal slices, each with one mean travel time per arc: what solvers with time-stamped matrices take."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gapline.errors import EnvironmentLacksError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DaySlices:
    """Mean travel times by slice, origin and destination; `middles` are the moments in the middle of the slices."""

    middles: Floats
    times: Floats


def load_day(path: Path) -> Any:
    """Load a TDVRPTW instance with its travel-time functions, as mamut-routing-lib holds them."""
    try:
        from mamut_routing_lib.td import load_td_instance
    except ImportError:
        raise EnvironmentLacksError.for_extra("mamut-routing-lib", "routing") from None
    # The digest is the runner's to verify, once, before the run: here it would be charged to the solver.
    return load_td_instance(path, verify_sha256=False)


def windows_of(instance: Any) -> list[tuple[float, float]]:
    """Return the windows of the depot and the customers; one without windows has the whole day for each."""
    return getattr(instance, "time_windows", None) or [instance.horizon] * (instance.num_customers + 1)


def cut_day(loaded: Any, count: int) -> DaySlices:
    """Cut the day of a loaded instance into slices of equal length."""
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
    # Between two neighbouring moments the function is straight, so that the trapezoid is exact.
    moments = np.union1d(leave, edges)
    travel = np.interp(moments, leave, arrive - leave)
    areas = np.concatenate([[0.0], np.cumsum((travel[1:] + travel[:-1]) / 2 * np.diff(moments))])
    at_edges = areas[np.searchsorted(moments, edges)]
    means: Floats = np.diff(at_edges) / np.diff(edges)
    return means
