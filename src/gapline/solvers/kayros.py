"""kayros on TDVRPTW duration: iterated local search (`strategy = "ils"`) or ant colony (`strategy = "aco"`).

Options: strategy, iterations, and these parameters of kayros: num_neighbours, nb_ants, max_no_improvement,
min_perturbations, max_perturbations, restart_no_improvement, seed_k_factor.
"""

import sys

from gapline.solvers.protocol import Task, announce, emit, run_adapter

STRATEGIES = ("ils", "aco", "aco+ils")


def solve(task: Task) -> None:
    """Print the incumbents of kayros."""
    import kayros
    from kayros.io import load_instance
    from kayros.solve import InfeasibleError

    # All other options are kayros parameters with the same names.
    parameters = {name: value for name, value in task.options.items() if name != "iterations"}
    parameters["strategy"] = task.option("strategy", "ils", among=STRATEGIES)
    iterations = task.iterations()
    if iterations is not None:
        parameters |= {"ils_max_iterations": iterations, "max_iterations": iterations}
    announce("kayros")
    # Load the instance before computing the remaining time: kayros counts from the start of its search.
    loaded = load_instance(str(task.instance))
    try:
        kayros.solve(
            loaded,
            kayros.Params(**parameters),
            time_limit=task.time_left() if iterations is None else None,
            seed=task.seed,
            on_incumbent=lambda found, routes: emit(found.value, routes, time=found.seconds),
        )
    except InfeasibleError as error:
        # Finding no solution is an outcome of the run, not a failure of the program.
        print(error, file=sys.stderr)


if __name__ == "__main__":
    run_adapter(solve)
