"""The static routing problem for a solver: CVRP, VRPTW, or slices of the day of TDVRPTW."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gapline.checkers.routing_files import RoutingInstance, read_cvrp, read_vrptw
from gapline.errors import EnvironmentLacksError
from gapline.solvers.protocol import Task
from gapline.solvers.simplified_models import problem_of

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DaySlices:
    """Mean travel times by slice, origin and destination; `middles` are the midpoints of the slices."""

    middles: Floats
    times: Floats


def load_day(path: Path) -> Any:
    """Load a TDVRPTW instance with its travel-time functions by mamut-routing-lib."""
    try:
        from mamut_routing_lib.td import load_td_instance
    except ImportError:
        raise EnvironmentLacksError.for_extra("mamut-routing-lib", "routing") from None
    # The runner verifies the digest once, before the run: here it would be charged to the solver.
    return load_td_instance(path, verify_sha256=False)


def windows_of(instance: Any) -> list[tuple[float, float]]:
    """Return the windows of the depot and the customers; without windows, each has the whole day."""
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
    """Return the exact mean of a travel time over each slice between two edges.

    >>> day, arrival = np.array([0.0, 4.0, 10.0]), np.array([2.0, 10.0, 12.0])
    >>> mean_travel(day, arrival, np.array([0.0, 4.0, 10.0])).tolist()
    [4.0, 4.0]
    >>> mean_travel(day, arrival, np.array([0.0, 2.0, 10.0])).tolist()
    [3.0, 4.25]
    """
    # The function is linear between two neighbouring points, so that the trapezoid rule is exact.
    moments = np.union1d(leave, edges)
    travel = np.interp(moments, leave, arrive - leave)
    areas = np.concatenate([[0.0], np.cumsum((travel[1:] + travel[:-1]) / 2 * np.diff(moments))])
    at_edges = areas[np.searchsorted(moments, edges)]
    means: Floats = np.diff(at_edges) / np.diff(edges)
    return means


PROBLEMS = ("tdvrptw", "vrptw", "cvrp")
SLICES = ("min", "mean", "mid", "max")
# Travel times of a slice are integers in tenths of the instance's unit.
SCALE = 10


@dataclass(frozen=True, slots=True)
class StaticModel:
    """A routing problem in integers, and whether duration or distance is minimised."""

    instance: RoutingInstance
    minimise_duration: bool = False

    @property
    def vehicles(self) -> int:
        """The number of vehicles: that of the customers if the instance sets no limit."""
        return self.instance.vehicles or self.instance.customers


def read_model(task: Task) -> StaticModel:
    """Read the task's instance; the option `problem` overrides the problem suggested by the file name."""
    problem = task.option("problem", problem_of(task.options, task.instance), among=PROBLEMS)
    if problem == "cvrp":
        return StaticModel(read_cvrp(task.instance))
    if problem == "vrptw":
        return StaticModel(read_vrptw(task.instance))
    return StaticModel(read_slice(task.instance, task.option("slice", "mean", among=SLICES)), minimise_duration=True)


def read_slice(path: Path, which: str) -> RoutingInstance:
    """Read a TDVRPTW instance with one number per travel time."""
    loaded = load_day(path)
    instance = loaded.instance
    size = instance.num_customers + 1
    times = np.zeros((size, size), dtype=np.int64)
    for (i, j), function in loaded.atfs.arcs.items():
        times[i, j] = slice_travel(np.array(function.xs), np.array(function.ys), which)
    return RoutingInstance(
        name=instance.instance_name,
        distances=times,
        demands=list(instance.demands),
        capacity=instance.vehicle_capacity,
        scale=SCALE,
        vehicles=instance.num_vehicles,
        # Round windows inwards to whole tenths.
        windows=[(math.ceil(SCALE * ready), math.floor(SCALE * due)) for ready, due in windows_of(instance)],
        services=[round(SCALE * service) for service in instance.service_times],
        coordinates=tuple((float(x), float(y)) for x, y in instance.coordinates),
    )


def slice_travel(leave: npt.NDArray[np.float64], arrive: npt.NDArray[np.float64], which: str) -> int:
    """Return the minimum, mean, midday value or maximum of a travel time over the day, in tenths.

    >>> day, arrival = np.array([0.0, 4.0, 10.0]), np.array([2.0, 10.0, 12.0])
    >>> [slice_travel(day, arrival, which) for which in SLICES]
    [20, 40, 53, 60]
    """
    travel = arrive - leave
    if which == "min":
        return math.floor(SCALE * float(travel.min()))
    if which == "max":
        return math.ceil(SCALE * float(travel.max()))
    if which == "mid":
        return round(SCALE * float(np.interp((leave[0] + leave[-1]) / 2, leave, travel)))
    return round(SCALE * float(mean_travel(leave, arrive, leave[[0, -1]])[0]))
