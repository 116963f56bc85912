"""Hexaly on TDVRPTW duration: on the true functions (tier 1), or with the day in slices (tier 2); needs a licence.

Options: slices (1, 5, 24, 96; the true functions when left out), iterations.

The model has one list of customers per vehicle; loads, windows and durations are external functions in Python, the same
for both tiers except for the travel times. Hexaly calls back once per second: candidates between two calls are not
seen. Its time limit is in whole seconds too, rounded down.
"""

import subprocess
import sys
from importlib import import_module
from typing import Any

from gapline.errors import EnvironmentLacksError
from gapline.solvers.protocol import Task, announce, emit, run_adapter
from gapline.solvers.route_clock import RouteClock, read_clock
from gapline.solvers.simplified_models import optional_slices_name
from gapline.solvers.static_model import load_day

# Smaller lateness is rounding; the checker decides.
ROUNDING = 1e-9


def solve(task: Task) -> None:
    """Print the best solution of each second, if it is better than the last."""
    hexaly = import_module("hexaly.optimizer")
    announce("hexaly", model=optional_slices_name(task.options, task.instance))
    clock = read_clock(load_day(task.instance), task.options.get("slices"))
    try:
        optimizer = hexaly.HexalyOptimizer()
    except hexaly.HxError as error:
        raise EnvironmentLacksError(f"hexaly does not start: {error}", hint="install a licence of Hexaly") from None
    with optimizer:
        lists, total = state_problem(optimizer.model, clock)
        limit = optimizer.param
        limit.set_seed(task.seed % 2**31)
        limit.set_nb_threads(task.threads)
        limit.set_verbosity(0)
        limit.set_time_between_ticks(1)
        iterations = task.iterations()
        if iterations is None:
            limit.set_time_limit(max(1, int(task.time_left())))
        else:
            limit.set_iteration_limit(iterations)
        best = float("inf")

        def print_better(one: Any, _kind: object = None) -> None:
            nonlocal best
            solution = one.solution
            if solution.get_status() not in (hexaly.HxSolutionStatus.FEASIBLE, hexaly.HxSolutionStatus.OPTIMAL):
                return
            value = solution.get_double_value(total)
            if value < best:
                best = value
                routes = [[customer + 1 for customer in solution.get_collection_value(one_list)] for one_list in lists]
                emit(value, [route for route in routes if route], time=float(one.statistics.get_running_time()))

        optimizer.add_callback(hexaly.HxCallbackType.TIME_TICKED, print_better)
        optimizer.solve()
        # There is no tick in the last second.
        print_better(optimizer)


def state_problem(model: Any, clock: RouteClock) -> tuple[list[Any], Any]:
    """State the problem; return the lists of customers, numbered from 0, and the total duration."""

    def route_of(arguments: Any) -> list[int]:
        return [customer + 1 for customer in arguments.get_collection_value(0)]

    excess = model.create_double_external_function(lambda arguments: clock.excess(route_of(arguments)))
    duration = model.create_double_external_function(lambda arguments: clock.duration(route_of(arguments)))
    lists = [model.list(len(clock.demands) - 1) for _ in range(clock.vehicles)]
    model.constraint(model.partition(lists))
    for one in lists:
        model.constraint(model.leq(model.call(excess, one), ROUNDING))
    total = model.sum([model.call(duration, one) for one in lists])
    model.minimize(total)
    model.close()
    return lists, total


def licence_lack() -> str | None:
    """Report whether Hexaly fails to start here, by starting it: only Hexaly knows where its licence may be."""
    code = "from hexaly.optimizer import HexalyOptimizer\nwith HexalyOptimizer(): pass"
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        return "expected hexaly to start, got nothing within 60 s"
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines() or ["no message"]
    return f"expected a licence of Hexaly, got {said[-1][:300]}"


if __name__ == "__main__":
    run_adapter(solve)
