"""VROOM through pyvroom, on CVRP and VRPTW; its last solution only.

Options: exploration (0 to 5, by default 5), problem (vrptw, cvrp; by default from the file's name). VROOM takes no
seed and stops by itself.
"""

import datetime
import sys
from importlib import import_module
from typing import Any

from gapline.errors import UsageError
from gapline.solvers.protocol import Task, announce, emit, run_adapter
from gapline.solvers.simplified_models import problem_of
from gapline.solvers.static_model import StaticModel, read_model

PROBLEMS = ("vrptw", "cvrp")


def solve(task: Task) -> None:
    """Print the last solution of VROOM if it serves every customer."""
    vroom = import_module("vroom")
    problem = problem_of(task.options, task.instance)
    if problem not in PROBLEMS:
        raise UsageError(f"{task.instance}: pyvroom solves {' and '.join(PROBLEMS)}, got {problem}")
    announce("pyvroom", terminal_only=True)
    model = read_model(task)
    stated = state_problem(vroom, model)
    found = stated.solve(
        exploration_level=task.option("exploration", 5),
        nb_threads=task.threads,
        timeout=datetime.timedelta(seconds=task.last_word()),
    )
    if found.summary.unassigned:
        print(f"{found.summary.unassigned} customers are not served", file=sys.stderr)
        return
    visits = found.routes[found.routes["type"] == "job"]
    routes: dict[int, list[int]] = {}
    for vehicle, customer in zip(visits["vehicle_id"], visits["id"], strict=True):
        routes.setdefault(int(vehicle), []).append(int(customer))
    emit(found.summary.cost / model.instance.scale, list(routes.values()))


def state_problem(vroom: Any, model: StaticModel) -> Any:
    """State the problem for VROOM, which minimises travel time; here it equals distance."""
    instance = model.instance
    stated = vroom.Input()
    stated.set_durations_matrix("car", instance.distances)
    # Without windows there are no times: the duration of a route is unlimited.
    shift = {} if instance.windows is None else {"time_window": list(instance.windows[0])}
    stated.add_vehicle(
        [vroom.Vehicle(id, start=0, end=0, capacity=[instance.capacity], **shift) for id in range(model.vehicles)]
    )
    for customer in range(1, instance.customers + 1):
        window = {} if instance.windows is None else {"time_windows": [vroom.TimeWindow(*instance.windows[customer])]}
        service = instance.services[customer] if instance.services else 0
        stated.add_job(
            vroom.Job(
                customer, location=customer, delivery=[instance.demands[customer]], default_service=service, **window
            )
        )
    return stated


if __name__ == "__main__":
    run_adapter(solve)
