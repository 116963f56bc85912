"""OR-Tools routing on CVRP and VRPTW, and on one slice of the day of TDVRPTW.

Options: problem (tdvrptw, vrptw, cvrp; by default from the file's name), slice (min, mean, mid, max), metaheuristic
(guided_local_search, simulated_annealing, tabu_search, greedy_descent), iterations (solutions accepted).

The search of OR-Tools routing draws no random numbers, and the order of customers does not change it. The seed is
therefore applied to the start: the first solution of OR-Tools for a model whose costs carry a little seeded noise.
"""

import random
from collections.abc import Callable
from typing import Any

from gapline.solvers.protocol import Task, announce, emit, run_adapter
from gapline.solvers.simplified_models import static_model_name
from gapline.solvers.static_model import StaticModel, read_model

METAHEURISTICS = ("guided_local_search", "simulated_annealing", "tabu_search", "greedy_descent")
# Longer than any run: with a limit on solutions, no time-out inside the search may affect the result.
FOREVER = 10_000_000


def solve(task: Task) -> None:
    """Print the improving solutions of the routing search."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    metaheuristic = task.option("metaheuristic", METAHEURISTICS[0], among=METAHEURISTICS)
    announce("ortools", model=static_model_name(task.options, task.instance))
    model = read_model(task)
    manager = pywrapcp.RoutingIndexManager(model.instance.customers + 1, model.vehicles, 0)
    iterations = task.iterations()
    start = first_routes(model, manager, task.seed, None if iterations is not None else task.time_left())
    routing = pywrapcp.RoutingModel(manager)
    state_problem(model, manager, routing)
    best = float("inf")

    def on_solution() -> None:
        nonlocal best
        cost = routing.CostVar().Max()
        if cost < best:
            best = cost
            emit(cost / model.instance.scale, read_routes(model, manager, routing, lambda following: following.Value()))

    routing.AddAtSolutionCallback(on_solution)
    parameters = search_parameters()
    parameters.local_search_metaheuristic = getattr(routing_enums_pb2.LocalSearchMetaheuristic, metaheuristic.upper())
    if iterations is None:
        limit_time(parameters, task.time_left())
    else:
        parameters.solution_limit = iterations
        parameters.lns_time_limit.FromSeconds(FOREVER)
    # Routes can only be read into a closed model.
    routing.CloseModelWithParameters(parameters)
    assignment = routing.ReadAssignmentFromRoutes(start, True) if start else None
    if iterations is None:
        # Set it again: the limit counts from the start of the search, but building the model is charged too.
        limit_time(parameters, task.time_left())
    if assignment is None:
        routing.SolveWithParameters(parameters)
    else:
        routing.SolveFromAssignmentWithParameters(assignment, parameters)


def search_parameters() -> Any:
    """Return OR-Tools' defaults with insertion as the construction."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    return parameters


def limit_time(parameters: Any, seconds: float) -> None:
    """Set the time limit of a search, at least a millisecond."""
    parameters.time_limit.FromMilliseconds(max(1, int(1000 * seconds)))


def first_routes(model: StaticModel, manager: Any, seed: int, seconds: float | None) -> list[list[int]]:
    """Construct a first solution under costs with seeded noise of up to a fifth; constraints have no noise."""
    from ortools.constraint_solver import pywrapcp

    # Noise on costs varies the start; noise on times could make the first solution violate a window.
    draws = random.Random(seed)
    noise = [[draws.randint(0, length // 5) for length in row] for row in model.instance.distances.tolist()]
    routing = pywrapcp.RoutingModel(manager)
    state_problem(model, manager, routing, noise=noise)
    parameters = search_parameters()
    parameters.solution_limit = 1
    if seconds is not None:
        limit_time(parameters, seconds)
    found = routing.SolveWithParameters(parameters)
    return read_routes(model, manager, routing, found.Value) if found else []


def state_problem(model: StaticModel, manager: Any, routing: Any, *, noise: list[list[int]] | None = None) -> None:
    """State capacity, windows and the objective in OR-Tools."""
    instance = model.instance
    lengths = instance.distances.tolist()
    costs = [[0] * len(lengths) for _ in lengths] if model.minimise_duration else lengths
    if noise is not None:
        costs = [[a + b for a, b in zip(row, other, strict=True)] for row, other in zip(costs, noise, strict=True)]
    if not model.minimise_duration or noise is not None:
        routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(costs))
    loads = routing.RegisterUnaryTransitVector(instance.demands)
    routing.AddDimension(loads, 0, instance.capacity, True, "load")
    if instance.windows is None or instance.services is None:
        return
    services = instance.services
    timed = routing.RegisterTransitMatrix(
        [[length + services[i] if i != j else 0 for j, length in enumerate(row)] for i, row in enumerate(lengths)]
    )
    day = instance.windows[0][1]
    routing.AddDimension(timed, day, day, False, "time")
    clock = routing.GetDimensionOrDie("time")
    for customer, (ready, due) in enumerate(instance.windows[1:], start=1):
        clock.CumulVar(manager.NodeToIndex(customer)).SetRange(ready, due)
    for vehicle in range(model.vehicles):
        for end in (routing.Start(vehicle), routing.End(vehicle)):
            clock.CumulVar(end).SetRange(instance.windows[0][0], day)
        # Late starts and early ends: otherwise idle time would add to the span.
        routing.AddVariableMaximizedByFinalizer(clock.CumulVar(routing.Start(vehicle)))
        routing.AddVariableMinimizedByFinalizer(clock.CumulVar(routing.End(vehicle)))
    if model.minimise_duration:
        clock.SetSpanCostCoefficientForAllVehicles(1)


def read_routes(model: StaticModel, manager: Any, routing: Any, value: Callable[[Any], int]) -> list[list[int]]:
    """Return the routes of a solution, given as the value of each variable."""
    routes = []
    for vehicle in range(model.vehicles):
        route = []
        index = value(routing.NextVar(routing.Start(vehicle)))
        while not routing.IsEnd(index):
            route.append(manager.IndexToNode(index))
            index = value(routing.NextVar(index))
        if route:
            routes.append(route)
    return routes


if __name__ == "__main__":
    run_adapter(solve)
