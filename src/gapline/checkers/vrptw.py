"""VRPTW: capacity, fleet and time windows; distances truncated to one decimal as in the DIMACS challenge."""

from gapline.checkers.cvrp import CvrpChecker
from gapline.checkers.routing_files import Routes, RoutingInstance, read_vrptw


class VrptwChecker(CvrpChecker):
    """Check routes of a Solomon instance: waiting is free, travel time equals distance, the depot's due date binds."""

    name = "vrptw"
    read = staticmethod(read_vrptw)

    def reason(self, problem: RoutingInstance, routes: Routes) -> str:
        """Say what is wrong with load or fleet, then which route is late where, or nothing."""
        if reason := super().reason(problem, routes):
            return reason
        assert problem.windows is not None
        assert problem.services is not None
        for number, route in enumerate(routes, start=1):
            # Leaving the depot as early as possible is best: waiting costs nothing and no window opens twice.
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
