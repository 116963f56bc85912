"""CVRP and VRPTW instances through vrplib, with DIMACS distances, and the routes of a solution."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gapline.checkers.verdict import Verdict, shown_value
from gapline.errors import import_extra, listing
from gapline.files.open_file import most_bytes, read_regular


@dataclass(frozen=True, slots=True)
class RoutingInstance:
    """An instance in integer units, `scale` of them to one unit of the objective; vertex 0 is the depot."""

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
        """The number of customers; their numbers begin at 1."""
        return len(self.demands) - 1


def read_cvrp(path: Path) -> RoutingInstance:
    """Read a VRPLIB file; Euclidean distances are rounded, and only VEHICLES limits the fleet."""
    data = import_extra("vrplib", "routing").read_instance(path)
    if "distance" in data:
        raise ValueError("a limit on the length of a route (DISTANCE), which the DIMACS convention does not have")
    for name in ("time_window", "service_time"):
        data.pop(name, None)  # a CVRP has no clock, whatever else the file holds
    return _instance(data, path, rounded_distances)


def read_vrptw(path: Path) -> RoutingInstance:
    """Read a Solomon file, or a VRPLIB file with time windows; Euclidean distances are truncated, in tenths."""
    vrplib = import_extra("vrplib", "routing")
    text = read_regular(path, most=most_bytes()).decode()
    if "NODE_COORD_SECTION" in text or "EDGE_WEIGHT_SECTION" in text:
        data = vrplib.read_instance(path)
        if "time_window" not in data:
            raise ValueError("a TIME_WINDOW_SECTION, got none")
        # A service time that applies to all customers does not apply to the depot.
        services = np.broadcast_to(np.asarray(data.get("service_time", 0)), len(data["demand"]))
        data["service_time"] = [0, *services[1:]]
        return _instance(data, path, truncated_distances, scale=10 if _is_euclidean(data) else 1)
    # vrplib reads numbers that are not whole as -1.
    for row in [line.split() for line in text.splitlines() if line.strip()][6:]:
        if not all(cell.removeprefix("-").isdecimal() for cell in row):
            raise ValueError(f"whole numbers in each row, got {' '.join(row)!r}")
    data = vrplib.read_instance(path, instance_format="solomon") | {"edge_weight_type": "EUC_2D"}
    return _instance(data, path, truncated_distances, scale=10)


def _instance(
    data: dict[str, Any], path: Path, measure: Callable[[Any], npt.NDArray[np.int64]], *, scale: int = 1
) -> RoutingInstance:
    depots = np.atleast_1d(data.get("depot", 0)).tolist()
    if depots != [0]:
        raise ValueError(f"the first node to be the only depot, got depots {[depot + 1 for depot in depots]}")
    distances = measure(data["node_coord"]) if _is_euclidean(data) else _whole(data["edge_weight"])
    if distances is None:
        raise ValueError("edge weights that are not whole numbers")
    vehicles, windows, services = data.get("vehicles"), data.get("time_window"), data.get("service_time")
    return RoutingInstance(
        name=str(data.get("name", path.stem)),
        distances=distances,
        demands=[int(demand) for demand in data["demand"]],
        capacity=int(data["capacity"]),
        scale=scale,
        vehicles=None if vehicles is None else int(vehicles),
        windows=None if windows is None else [(scale * int(ready), scale * int(due)) for ready, due in windows],
        services=None if services is None else [scale * int(service) for service in services],
        coordinates=tuple((float(x), float(y)) for x, y in data.get("node_coord", ())),
    )


def _is_euclidean(data: dict[str, Any]) -> bool:
    return bool(data.get("edge_weight_type") == "EUC_2D")


def rounded_distances(coordinates: Any) -> npt.NDArray[np.int64]:
    """Return Euclidean distances rounded to the nearest whole number."""
    whole = _whole(coordinates)
    if whole is None:
        return np.floor(_lengths(coordinates) + 0.5).astype(np.int64)
    # ⌊√s + ½⌋ in integers: (⌊√(4s)⌋ + 1) // 2.
    return _roots(whole.tolist(), lambda square: (math.isqrt(4 * square) + 1) // 2)


def truncated_distances(coordinates: Any) -> npt.NDArray[np.int64]:
    """Return Euclidean distances truncated to one decimal, in tenths."""
    whole = _whole(coordinates)
    if whole is None:
        return np.floor(10 * _lengths(coordinates)).astype(np.int64)
    return _roots([(10 * x, 10 * y) for x, y in whole.tolist()], math.isqrt)


def _whole(numbers: Any) -> npt.NDArray[np.int64] | None:
    given = np.asarray(numbers, dtype=float)
    whole = given.astype(np.int64)
    return whole if np.array_equal(whole, given) else None


def _roots(points: list[tuple[int, int]], root: Callable[[int], int]) -> npt.NDArray[np.int64]:
    """Return roots of squared distances, computed in integers: floating point may miss an exact root by one."""
    distances = np.zeros((len(points), len(points)), dtype=np.int64)
    for i, (x, y) in enumerate(points):
        for j, (u, v) in enumerate(points[:i]):
            distances[i, j] = distances[j, i] = root((x - u) ** 2 + (y - v) ** 2)
    return distances


def _lengths(coordinates: Any) -> npt.NDArray[np.float64]:
    points = np.asarray(coordinates, dtype=float)
    steps = points[:, None, :] - points[None, :, :]
    lengths: npt.NDArray[np.float64] = np.hypot(steps[..., 0], steps[..., 1])
    return lengths


Routes = list[list[int]]


def read_routes(solution: object, customers: int) -> Routes | Verdict:
    """Return the routes, or the rejection of a solution that does not serve every customer exactly once.

    >>> read_routes([[2, 1]], 2)
    [[2, 1]]
    >>> read_routes([[1], [1]], 2).reason
    'repeated customer: 1 in route 2'
    """
    shape = _shape_reason(solution)
    if shape:
        return Verdict.reject(f"malformed solution: {shape}")
    assert isinstance(solution, list)
    seen: set[int] = set()
    for number, route in enumerate(solution, start=1):
        for customer in route:
            if not 1 <= customer <= customers:
                return Verdict.reject(
                    f"unknown customer: {shown_value(customer)} in route {number}, expected 1 to {customers}"
                )
            if customer in seen:
                return Verdict.reject(f"repeated customer: {customer} in route {number}")
            seen.add(customer)
    if len(seen) < customers:
        missing = [customer for customer in range(1, customers + 1) if customer not in seen]
        return Verdict.reject(f"missing customers: {listing(map(str, missing), most=5)}")
    return solution


def _shape_reason(solution: object) -> str:
    if not isinstance(solution, list):
        return f"expected a list of routes, got {shown_value(solution)}"
    for number, route in enumerate(solution, start=1):
        if not isinstance(route, list):
            return f"expected route {number} to be a list of customers, got {shown_value(route)}"
        if not route:
            return f"route {number} is empty"
        for customer in route:
            # In Python True is an int, but it is no customer.
            if not isinstance(customer, int) or isinstance(customer, bool):
                return f"expected a customer number in route {number}, got {shown_value(customer)}"
    return ""
