"""Timefold through solverforge-legacy, on TDVRPTW duration with the true travel-time functions; needs a JDK.

Options: compile (full, fast), iterations (evaluations of the score).

Starting the JVM and compiling the model are charged: the first candidate comes seconds after the start. With
`compile = "fast"` the JVM optimises less, starts in about half the time, but searches more slowly in long runs.
"""

import logging
from importlib import import_module
from importlib.metadata import version
from typing import Any

from gapline.errors import EnvironmentLacksError
from gapline.solvers.jdk import jdk_lack
from gapline.solvers.protocol import Task, announce, emit, run_adapter

COMPILE = ("full", "fast")


def solve(task: Task) -> None:
    """Print the best solutions that Timefold calls feasible."""
    # Import by name: the type stubs of the package do not list its exports.
    timefold = import_module("solverforge_legacy.solver")
    get_default_jvm_path = import_module("_jpyinterpreter").get_default_jvm_path
    lacking = jdk_lack()
    if lacking:
        raise EnvironmentLacksError(lacking, hint="install one, or point JAVA_HOME to it")
    announce("timefold", f"solverforge-legacy {version('solverforge-legacy')}")
    # Otherwise garbage collection and compilation would use every core of the machine.
    flags = [f"-XX:ActiveProcessorCount={task.threads}", "-XX:+UseSerialGC"]
    if task.option("compile", "full", among=COMPILE) == "fast":
        flags.append("-XX:TieredStopAtLevel=1")
    timefold.init(get_default_jvm_path(), *flags)
    logging.getLogger("solverforge_legacy.solver").setLevel(logging.ERROR)
    config = import_module("solverforge_legacy.solver.config")
    from gapline.solvers.timefold_model import UNITS, build_model

    model = build_model()
    plan = model.read_plan(task.instance)
    settings = config.SolverConfig(
        solution_class=model.solution,
        entity_class_list=[model.vehicle],
        score_director_factory_config=config.ScoreDirectorFactoryConfig(constraint_provider_function=model.constraints),
        random_seed=task.seed,
    )
    factory: Any = timefold.SolverFactory.create(settings)

    def on_best(event: Any) -> None:
        score = event.new_best_score
        if event.is_new_best_solution_initialized and score.hard_score == 0:
            routes = [[visit.id for visit in vehicle.visits] for vehicle in event.new_best_solution.vehicles]
            emit(-score.soft_score / UNITS, [route for route in routes if route], time=event.time_spent.total_seconds())

    iterations = task.iterations()
    # Set last: the limit counts from the start of the search, but everything before is charged too.
    limit = (
        config.TerminationConfig(spent_limit=config.Duration(milliseconds=max(1, int(1000 * task.time_left()))))
        if iterations is None
        else config.TerminationConfig(score_calculation_count_limit=iterations)
    )
    solver = factory.build_solver(config.SolverConfigOverride(termination_config=limit))
    solver.add_event_listener(on_best)
    solver.solve(plan)


if __name__ == "__main__":
    run_adapter(solve)
