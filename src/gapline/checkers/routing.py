"""CVRP and VRPTW: capacity, fleet and time windows; distances rounded, or truncated to one decimal, as in DIMACS."""

from pathlib import Path

from gapline.checkers.routing_files import Routes, RoutingInstance, read_cvrp, read_routes, read_vrptw
from gapline.checkers.verdict import LastInstance, Verdict


class CvrpChecker:
    """Check routes of a VRPLIB instance; the objective is the total distance."""

    name = "cvrp"
    # The version of the conventions, not of gapline: it changes when a verdict could change.
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
        # Sum in whole units and divide once, so that the objective is rounded only once.
        arcs = (arc for route in routes for arc in zip([0, *route], [*route, 0], strict=True))
        return Verdict.accept(sum(int(problem.distances[arc]) for arc in arcs) / problem.scale)

    def reason(self, problem: RoutingInstance, routes: Routes) -> str:
        """Return which route exceeds the capacity, or that there are too many routes, or an empty text."""
        for number, route in enumerate(routes, start=1):
            load = sum(problem.demands[customer] for customer in route)
            if load > problem.capacity:
                return f"capacity exceeded: route {number} carries {load} of {problem.capacity}"
        if problem.vehicles is not None and len(routes) > problem.vehicles:
            return f"too many routes: {len(routes)} of {problem.vehicles} vehicles"
        return ""


class VrptwChecker(CvrpChecker):
    """Check routes of a Solomon instance: waiting is free, travel time equals distance, the depot's due date binds."""

    name = "vrptw"
    read = staticmethod(read_vrptw)

    def reason(self, problem: RoutingInstance, routes: Routes) -> str:
        """Return the violation of capacity or fleet, then the route that is late, or an empty text."""
        if reason := super().reason(problem, routes):
            return reason
        assert problem.windows is not None
        assert problem.services is not None
        for number, route in enumerate(routes, start=1):
            # Leaving the depot as early as possible is optimal: waiting is free, and each customer has one window.
            here, time = 0, problem.windows[0][0]
            for there in [*route, 0]:
                ready, due = problem.windows[there]
                arrival = time + problem.services[here] + int(problem.distances[here, there])
                if arrival > due:
                    where = f"customer {there}" if there else "the depot"
                    at, limit = arrival / problem.scale, due / problem.scale
                    return f"time window violated: route {number} reaches {where} at {at:g}, due {limit:g}"
                here, time = there, max(arrival, ready)
        return ""
