"""HGS-CVRP through hygese, on CVRP; its last solution only.

Options: iterations (without improvement). HGS counts CPU seconds: on a core shared with other work it ends after the
horizon, and its only candidate is late. Run it pinned, on an idle machine.
"""

from importlib import import_module
from typing import Any

from gapline.errors import UsageError
from gapline.solvers.protocol import Task, announce, emit, run_adapter
from gapline.solvers.simplified_models import problem_of
from gapline.solvers.static_model import read_model


def solve(task: Task) -> None:
    """Print the last solution of the hybrid genetic search."""
    hygese = import_module("hygese")
    problem = problem_of(task.options, task.instance)
    if problem != "cvrp":
        raise UsageError(f"{task.instance}: hygese solves cvrp, got {problem}")
    announce("hygese", terminal_only=True)
    instance = read_model(task).instance
    data: dict[str, Any] = {
        "demands": instance.demands,
        "vehicle_capacity": instance.capacity,
        "distance_matrix": instance.distances,
    }
    if instance.vehicles is not None:
        data["num_vehicles"] = instance.vehicles
    if instance.coordinates and min(map(min, instance.coordinates)) >= 0:
        # Coordinates only serve to find routes near each other; distances come from the matrix.
        data["x_coordinates"], data["y_coordinates"] = zip(*instance.coordinates, strict=True)
    iterations = task.iterations()
    limit = {"timeLimit": task.last_word()} if iterations is None else {"nbIter": iterations}
    parameters = hygese.AlgorithmParameters(seed=task.seed % 2**31, **limit)
    found = hygese.Solver(parameters, verbose=False).solve_cvrp(data)
    if found.routes:
        emit(found.cost / instance.scale, [list(route) for route in found.routes if route])


if __name__ == "__main__":
    run_adapter(solve)
