"""What a solver of static routing problems is given: CVRP and VRPTW as they are, TDVRPTW as one slice of the day.

A slice replaces each travel-time function by one number: its minimum, mean, value at midday or maximum. Its solutions
may well break the windows of the true problem, which is for the checker to say: such arms are of tier 2
(`simplified_models`).
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gapline.check.routing_files import RoutingInstance, read_cvrp, read_vrptw
from gapline.solvers.day_slices import load_day, mean_travel, windows_of
from gapline.solvers.protocol import Task
from gapline.solvers.simplified_models import guess_problem

PROBLEMS = ("tdvrptw", "vrptw", "cvrp")
SLICES = ("min", "mean", "mid", "max")
# Travel times of a slice are whole numbers of a tenth of the instance's unit.
SCALE = 10


@dataclass(frozen=True, slots=True)
class StaticModel:
    """A routing problem in whole numbers, and whether duration or distance is minimised."""

    instance: RoutingInstance
    minimise_duration: bool = False

    @property
    def vehicles(self) -> int:
        """Vehicles to offer: as many as there are customers where the instance sets no limit."""
        return self.instance.vehicles or self.instance.customers


def read_model(task: Task) -> StaticModel:
    """Read the task's instance; the option `problem` says what it is where the file's name does not."""
    problem = task.option("problem", guess_problem(task.instance), among=PROBLEMS)
    if problem == "cvrp":
        return StaticModel(read_cvrp(task.instance))
    if problem == "vrptw":
        return StaticModel(read_vrptw(task.instance))
    return StaticModel(read_slice(task.instance, task.option("slice", "mean", among=SLICES)), minimise_duration=True)


def read_slice(path: Path, which: str) -> RoutingInstance:
    """Read a TDVRPTW instance with one number for each travel time."""
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
        # Windows shrink to whole tenths, never grow.
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
