"""CVRP: routes within capacity, total distance in rounded Euclidean units as in the DIMACS challenge."""

from pathlib import Path

from gapline.check.loaded import LastInstance
from gapline.check.routes import fleet_reason, load_reason, read_routes
from gapline.check.routing_files import RoutingInstance, read_cvrp
from gapline.check.verdict import Checker, Verdict


class CvrpChecker:
    """Check routes of a VRPLIB instance.

    The objective is the total distance. The version is that of the conventions, not of gapline: it changes when a
    verdict could.
    """

    name = "cvrp"
    version = "dimacs-1"

    def __init__(self) -> None:
        self._instances: LastInstance[RoutingInstance] = LastInstance(read_cvrp)

    def check(self, instance: str | Path, solution: object, /) -> Verdict:
        """Return the verdict on a list of routes."""
        problem = self._instances.get(instance)
        routes = read_routes(solution, problem.customers)
        if isinstance(routes, Verdict):
            return routes
        reason = load_reason(routes, problem.demands, problem.capacity) or fleet_reason(routes, problem.vehicles)
        if reason:
            return Verdict.reject(reason)
        return Verdict.accept(total_distance(problem, routes) / problem.scale)


def total_distance(problem: RoutingInstance, routes: list[list[int]]) -> int:
    """Return the length of all routes from and to the depot, in the instance's whole units."""
    distances = problem.distances
    return sum(
        int(distances[here, there]) for route in routes for here, there in zip([0, *route], [*route, 0], strict=True)
    )


def create() -> Checker:
    """Return a new checker."""
    return CvrpChecker()
