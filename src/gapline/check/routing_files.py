"""CVRP and VRPTW instances through vrplib, with the distances of the DIMACS challenge, in whole numbers."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gapline.errors import EnvironmentLacksError


@dataclass(frozen=True, slots=True)
class RoutingInstance:
    """An instance in whole units, `scale` of them to one unit of the objective; vertex 0 is the depot."""

    name: str
    distances: npt.NDArray[np.int64]
    demands: list[int]
    capacity: int
    scale: int = 1
    vehicles: int | None = None
    windows: list[tuple[int, int]] | None = None
    services: list[int] | None = None
    coordinates: tuple[tuple[float, float], ...] = ()

    @property
    def customers(self) -> int:
        """The number of customers; they are numbered from 1."""
        return len(self.demands) - 1


def read_cvrp(path: Path) -> RoutingInstance:
    """Read a VRPLIB file; Euclidean distances are rounded to the nearest whole number.

    The fleet is limited only where the file says so by VEHICLES.
    """
    data = _vrplib().read_instance(path)
    depots = np.atleast_1d(data.get("depot", 0)).tolist()
    if depots != [0]:
        raise ValueError(f"the first node to be the only depot, got depots {[depot + 1 for depot in depots]}")
    if "distance" in data:
        raise ValueError("a limit on the length of a route (DISTANCE), which the DIMACS convention does not have")
    if data.get("edge_weight_type") == "EUC_2D":
        distances = _root_distances(data["node_coord"], lambda square: (math.isqrt(4 * square) + 1) // 2, 1)
    else:
        given = np.asarray(data["edge_weight"], dtype=float)
        distances = given.astype(np.int64)
        if not np.array_equal(distances, given):
            raise ValueError("edge weights that are not whole numbers")
    coordinates = data.get("node_coord")
    vehicles = data.get("vehicles")
    return RoutingInstance(
        name=str(data.get("name", path.stem)),
        distances=distances,
        demands=[int(demand) for demand in data["demand"]],
        capacity=int(data["capacity"]),
        vehicles=None if vehicles is None else int(vehicles),
        coordinates=() if coordinates is None else tuple((float(x), float(y)) for x, y in coordinates),
    )


def read_vrptw(path: Path) -> RoutingInstance:
    """Read a Solomon file; distances and travel times are truncated to one decimal and counted in tenths."""
    data = _vrplib().read_instance(path, instance_format="solomon")
    return RoutingInstance(
        name=str(data["name"]),
        distances=_root_distances(data["node_coord"], math.isqrt, 10),
        demands=[int(demand) for demand in data["demand"]],
        capacity=int(data["capacity"]),
        scale=10,
        vehicles=int(data["vehicles"]),
        windows=[(10 * int(ready), 10 * int(due)) for ready, due in data["time_window"]],
        services=[10 * int(service) for service in data["service_time"]],
        coordinates=tuple((float(x), float(y)) for x, y in data["node_coord"]),
    )


def _root_distances(coordinates: Any, root: Any, factor: int) -> npt.NDArray[np.int64]:
    """Round the root of each squared distance exactly, where floating point would miss by one at whole roots."""
    exact = np.asarray(coordinates, dtype=float)
    whole = exact.astype(np.int64)
    if not np.array_equal(whole, exact):
        return _float_distances(exact, factor)
    points = [(int(x) * factor, int(y) * factor) for x, y in whole]
    size = len(points)
    distances = np.zeros((size, size), dtype=np.int64)
    for i, (x, y) in enumerate(points):
        for j in range(i):
            distances[i, j] = distances[j, i] = root((x - points[j][0]) ** 2 + (y - points[j][1]) ** 2)
    return distances


def _float_distances(points: npt.NDArray[np.float64], factor: int) -> npt.NDArray[np.int64]:
    steps = points[:, None, :] - points[None, :, :]
    lengths = np.hypot(steps[..., 0], steps[..., 1])
    # Truncation (VRPTW, tenths) or rounding to the nearest (CVRP, whole units).
    return np.floor(lengths * factor if factor > 1 else lengths + 0.5).astype(np.int64)


def _vrplib() -> Any:
    try:
        import vrplib
    except ImportError:
        raise EnvironmentLacksError.for_extra("vrplib", "routing") from None
    return vrplib
