"""PyVRP on CVRP and VRPTW, and on one slice of the day of TDVRPTW.

Options: problem (tdvrptw, vrptw, cvrp; by default from the file's name), slice (min, mean, mid, max), iterations.
"""

import time
from typing import Any

from gapline.solvers.protocol import Task, announce, emit, run_adapter
from gapline.solvers.simplified_models import static_model_name
from gapline.solvers.static_model import StaticModel, read_model

# PyVRP's own value for no time limit.
FOREVER = 2**63 - 1


def solve(task: Task) -> None:
    """Print the feasible bests of PyVRP's iterated local search, including the initial solution."""
    import pyvrp
    from pyvrp.IteratedLocalSearch import IteratedLocalSearchCallbacks, IteratedLocalSearchParams
    from pyvrp.stop import MaxIterations

    announce("pyvrp", model=static_model_name(task.options, task.instance))
    model = read_model(task)

    def emit_solution(solution: Any) -> None:
        routes = [[stop.idx + 1 for stop in route if stop.is_client()] for route in solution.routes()]
        cost = solution.duration_cost() + solution.distance_cost()
        emit(cost / model.instance.scale, [route for route in routes if route])

    class PyvrpStream(IteratedLocalSearchCallbacks):
        """Prints each best solution."""

        def on_start(self, ils: Any) -> None:
            """Print the initial solution, which PyVRP does not report as a best."""
            if ils.initial_solution.is_feasible():
                emit_solution(ils.initial_solution)

        def on_best(self, best: Any) -> None:
            """Called for feasible bests only."""
            emit_solution(best)

    data = problem_data(model)
    iterations = task.iterations()
    deadline = task.deadline()

    def at_deadline(best_cost: int) -> bool:  # noqa: ARG001 (PyVRP passes it by this name)
        # PyVRP's own limit on runtime would only count from the initial solution on.
        return time.monotonic() >= deadline

    stop = at_deadline if iterations is None else MaxIterations(iterations)
    search = pyvrp.SolveParams(ils=IteratedLocalSearchParams(callbacks=PyvrpStream()))
    pyvrp.solve(data, stop, seed=task.seed, collect_stats=False, display=False, params=search)


def problem_data(model: StaticModel) -> Any:
    """Build PyVRP's data; client k of PyVRP is customer k + 1."""
    import pyvrp

    instance = model.instance
    built = pyvrp.Model()
    points = instance.coordinates or [(0.0, 0.0)] * (instance.customers + 1)
    locations = [built.add_location(x, y) for x, y in points]
    windows = instance.windows or [(0, FOREVER)] * len(locations)
    built.add_depot(locations[0], tw_early=windows[0][0], tw_late=windows[0][1])
    for customer in range(1, instance.customers + 1):
        service = instance.services[customer] if instance.services else 0
        built.add_client(
            locations[customer],
            delivery=instance.demands[customer],
            service_duration=service,
            tw_early=windows[customer][0],
            tw_late=windows[customer][1],
        )
    built.add_vehicle_type(
        num_available=model.vehicles,
        capacity=instance.capacity,
        unit_distance_cost=0 if model.minimise_duration else 1,
        unit_duration_cost=1 if model.minimise_duration else 0,
    )
    for i, here in enumerate(locations):
        for j, there in enumerate(locations):
            if i != j:
                length = int(instance.distances[i, j])
                built.add_edge(here, there, distance=length, duration=length if instance.windows else 0)
    return built.data()


if __name__ == "__main__":
    run_adapter(solve)
