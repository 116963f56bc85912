"""OR-Tools routing on CVRP and VRPTW, and on one slice of the day of TDVRPTW.

Options: problem (tdvrptw, vrptw, cvrp; by default from the file's name), slice (min, mean, mid, max), metaheuristic
(guided_local_search, simulated_annealing, tabu_search, greedy_descent), iterations (solutions accepted).

The search of OR-Tools routing draws no random numbers: the seed orders the customers in the model.
"""

import random
from importlib.metadata import version
from typing import Any

from gapline.errors import EnvironmentLacksError
from gapline.run.adapters.protocol import Task, announce, emit, run_adapter
from gapline.run.adapters.static_model import StaticModel, read_model

METAHEURISTICS = ("guided_local_search", "simulated_annealing", "tabu_search", "greedy_descent")
# Longer than any run: with a limit on solutions no time-out inside the search may decide what is found.
FOREVER = 10_000_000


def solve(task: Task) -> None:
    """Stream the improving solutions of the routing search."""
    try:
        from ortools.constraint_solver import pywrapcp, routing_enums_pb2
    except ImportError:
        raise EnvironmentLacksError.for_extra("ortools", "routing") from None
    metaheuristic = task.option("metaheuristic", METAHEURISTICS[0], among=METAHEURISTICS)
    announce("ortools", version("ortools"))
    model = read_model(task)
    customers = list(range(1, model.instance.customers + 1))
    random.Random(task.seed).shuffle(customers)
    vertices = [0, *customers]

    manager = pywrapcp.RoutingIndexManager(len(vertices), model.vehicles, 0)
    routing = pywrapcp.RoutingModel(manager)
    state_problem(model, vertices, manager, routing)
    best = float("inf")

    def on_solution() -> None:
        nonlocal best
        cost = routing.CostVar().Max()
        if cost < best:
            best = cost
            emit(cost / model.instance.scale, _routes(model, vertices, manager, routing))

    routing.AddAtSolutionCallback(on_solution)
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    parameters.local_search_metaheuristic = getattr(routing_enums_pb2.LocalSearchMetaheuristic, metaheuristic.upper())
    iterations = task.iterations()
    if iterations is None:
        parameters.time_limit.FromMilliseconds(max(1, int(1000 * task.time_left())))
    else:
        parameters.solution_limit = iterations
        parameters.lns_time_limit.FromSeconds(FOREVER)
    routing.SolveWithParameters(parameters)


def state_problem(model: StaticModel, vertices: list[int], manager: Any, routing: Any) -> None:
    """State capacity, windows and the objective in OR-Tools' words."""
    instance = model.instance
    order = instance.distances[vertices][:, vertices].tolist()
    travel = routing.RegisterTransitMatrix(order)
    loads = routing.RegisterUnaryTransitVector([instance.demands[vertex] for vertex in vertices])
    routing.AddDimension(loads, 0, instance.capacity, True, "load")
    if not model.minimise_duration:
        routing.SetArcCostEvaluatorOfAllVehicles(travel)
    if instance.windows is None or instance.services is None:
        return
    services = [instance.services[vertex] for vertex in vertices]
    timed = routing.RegisterTransitMatrix(
        [[length + services[i] if i != j else 0 for j, length in enumerate(row)] for i, row in enumerate(order)]
    )
    day = instance.windows[0][1]
    routing.AddDimension(timed, day, day, False, "time")
    clock = routing.GetDimensionOrDie("time")
    for position, vertex in enumerate(vertices[1:], start=1):
        ready, due = instance.windows[vertex]
        clock.CumulVar(manager.NodeToIndex(position)).SetRange(ready, due)
    for vehicle in range(model.vehicles):
        for end in (routing.Start(vehicle), routing.End(vehicle)):
            clock.CumulVar(end).SetRange(instance.windows[0][0], day)
        # Late starts and early ends, so that the clock holds no idle time that the span would pay for.
        routing.AddVariableMaximizedByFinalizer(clock.CumulVar(routing.Start(vehicle)))
        routing.AddVariableMinimizedByFinalizer(clock.CumulVar(routing.End(vehicle)))
    if model.minimise_duration:
        clock.SetSpanCostCoefficientForAllVehicles(1)


def _routes(model: StaticModel, vertices: list[int], manager: Any, routing: Any) -> list[list[int]]:
    routes = []
    for vehicle in range(model.vehicles):
        route = []
        index = routing.NextVar(routing.Start(vehicle)).Value()
        while not routing.IsEnd(index):
            route.append(vertices[manager.IndexToNode(index)])
            index = routing.NextVar(index).Value()
        if route:
            routes.append(route)
    return routes


if __name__ == "__main__":
    run_adapter(solve)
