"""The exact arm of kayros, branch, price and cut after Lera-Romero, on TDVRPTW duration.

Options: iterations (nodes of the tree). It takes no seed. Its lower bound is printed once, at the end: it is valid once
the root is solved.
"""

from importlib.metadata import version
from typing import Any

from gapline.solvers.protocol import Task, announce, emit, emit_bound, run_adapter


def solve(task: Task) -> None:
    """Print the incumbents of the tree, then the bound."""
    from kayros import _lera  # noqa: F401  (kayros can be built without it)
    from kayros.io import load_instance
    from kayros.lera import routes_to_mamut, solve_duration

    announce("kayros.lera", version("kayros"))
    loaded = load_instance(str(task.instance))
    customers = loaded.instance.num_customers

    def on_incumbent(found: dict[str, Any]) -> None:
        # Routes include the depot, 0, at both ends, which checkers do not expect. Sort them: they come in the order of
        # the columns of a linear program, which differs from run to run.
        routes = sorted([stop for stop in route if stop] for route in routes_to_mamut(found["routes"], customers))
        emit(found["value"], routes, time=found["time"])

    iterations = task.iterations()
    limits: dict[str, Any] = {"time_limit_s": task.time_left()} if iterations is None else {"node_limit": iterations}
    log = solve_duration(loaded, on_incumbent=on_incumbent, **limits).get("exact_log") or {}
    if log.get("best_bound") is not None:
        emit_bound(float(log["best_bound"]))


if __name__ == "__main__":
    run_adapter(solve)
