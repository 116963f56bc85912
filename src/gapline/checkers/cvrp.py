"""CVRP: routes within capacity, total distance in rounded Euclidean units as in the DIMACS challenge."""

from pathlib import Path

from gapline.checkers.routing_files import Routes, RoutingInstance, read_cvrp, read_routes
from gapline.checkers.verdict import LastInstance, Verdict


class CvrpChecker:
    """Check routes of a VRPLIB instance; the objective is the total distance."""

    name = "cvrp"
    # That of the conventions, not of gapline: it changes when a verdict could.
    version = "dimacs-1"
    read = staticmethod(read_cvrp)

    def __init__(self) -> None:
        self._instances = LastInstance(self.read)

    def check(self, instance: str | Path, solution: object, /) -> Verdict:
        """Return the verdict on a list of routes."""
        problem = self._instances.get(instance)
        routes = read_routes(solution, problem.customers)
        if isinstance(routes, Verdict):
            return routes
        if reason := self.reason(problem, routes):
            return Verdict.reject(reason)
        # Summed in whole units and divided once: the objective has no rounding of its own.
        arcs = (arc for route in routes for arc in zip([0, *route], [*route, 0], strict=True))
        return Verdict.accept(sum(int(problem.distances[arc]) for arc in arcs) / problem.scale)

    def reason(self, problem: RoutingInstance, routes: Routes) -> str:
        """Say which route carries too much, or that there are more routes than vehicles, or nothing."""
        for number, route in enumerate(routes, start=1):
            load = sum(problem.demands[customer] for customer in route)
            if load > problem.capacity:
                return f"capacity exceeded: route {number} carries {load} of {problem.capacity}"
        if problem.vehicles is not None and len(routes) > problem.vehicles:
            return f"too many routes: {len(routes)} of {problem.vehicles} vehicles"
        return ""
