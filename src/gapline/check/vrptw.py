"""VRPTW: capacity, fleet and time windows; distances truncated to one decimal as in the DIMACS challenge."""

from pathlib import Path

from gapline.check.cvrp import total_distance
from gapline.check.loaded import LastInstance
from gapline.check.routes import fleet_reason, load_reason, read_routes
from gapline.check.routing_files import RoutingInstance, read_vrptw
from gapline.check.verdict import Checker, Verdict


class VrptwChecker:
    """Check routes of a Solomon instance.

    Service starts inside the window, waiting is free, travel time equals distance, and the depot's due date bounds the
    return. The objective is the total distance.
    """

    name = "vrptw"
    version = "dimacs-1"

    def __init__(self) -> None:
        self._instances: LastInstance[RoutingInstance] = LastInstance(read_vrptw)

    def check(self, instance: str | Path, solution: object, /) -> Verdict:
        """Return the verdict on a list of routes."""
        problem = self._instances.get(instance)
        routes = read_routes(solution, problem.customers)
        if isinstance(routes, Verdict):
            return routes
        reason = (
            load_reason(routes, problem.demands, problem.capacity)
            or fleet_reason(routes, problem.vehicles)
            or time_reason(problem, routes)
        )
        if reason:
            return Verdict.reject(reason)
        return Verdict.accept(total_distance(problem, routes) / problem.scale)


def time_reason(problem: RoutingInstance, routes: list[list[int]]) -> str:
    """Say which route is late where, or nothing; leaving the depot as early as possible is best without a clock."""
    assert problem.windows is not None
    assert problem.services is not None
    for number, route in enumerate(routes, start=1):
        here, time = 0, problem.windows[0][0]
        for there in [*route, 0]:
            ready, due = problem.windows[there]
            arrival = time + problem.services[here] + int(problem.distances[here, there])
            if arrival > due:
                where = f"customer {there}" if there else "the depot"
                return (
                    f"time window violated: route {number} reaches {where} at {arrival / problem.scale:g}, "
                    f"due {due / problem.scale:g}"
                )
            here, time = there, max(arrival, ready)
    return ""


def create() -> Checker:
    """Return a new checker."""
    return VrptwChecker()
