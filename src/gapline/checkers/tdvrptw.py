"""TDVRPTW duration through mamut-routing-lib, the external referee: exact arrival-time functions, no tolerance."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from gapline.checkers.routing_files import read_routes
from gapline.checkers.verdict import CheckerFailure, LastInstance, Verdict
from gapline.errors import import_extra

# Maps the referee's reasons to ours, which are the same for every routing checker.
_KINDS = {
    "vehicle_capacity_exceeded": "capacity exceeded",
    "time_window_violated": "time window violated",
    "route_timing_infeasible": "time window violated",
    "too_many_vehicles_used": "too many routes",
}


class TdvrptwChecker:
    """Check routes of a MAMUT instance with its arrival-time functions; the objective is the total duration."""

    name = "tdvrptw"

    def __init__(self) -> None:
        referee = import_extra("mamut_routing_lib.td", "routing", package="mamut-routing-lib")
        self._instances: LastInstance[Any] = LastInstance(referee.load_td_instance)

    @property
    def version(self) -> str:
        """The version of the referee: its rounding differs between releases."""
        return f"mamut-routing-lib {version('mamut-routing-lib')}"

    def check(self, instance: str | Path, solution: object, /) -> Verdict:
        """Return the verdict on a list of routes."""
        from mamut_routing_lib.models import BenchmarkSolution
        from mamut_routing_lib.td import check_td_solution

        loaded = self._instances.get(instance)
        # The referee raises on malformed routes, and reads "1" and 1.0 as customers.
        routes = read_routes(solution, loaded.instance.num_customers)
        if isinstance(routes, Verdict):
            return routes
        try:
            plan = BenchmarkSolution(instance_name=loaded.instance.instance_name, routes=routes)
            result = check_td_solution(loaded, plan)
        except Exception as error:
            raise CheckerFailure(f"{instance}: the referee failed: {type(error).__name__}: {error}") from error
        if result.is_valid():
            return Verdict.accept(result.routing_cost)
        kind = str(result.status.value)
        return Verdict.reject(f"{_KINDS.get(kind, kind.replace('_', ' '))}: {result.error_message}")
