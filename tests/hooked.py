"""Searches that cannot share a process: OR-Tools and HiGHS bring two libraries of the same names.

`python hooked.py SEARCH FILE` records one, and prints what the library itself reports of it: the values in its log.
"""

import json
import random
import sys
from pathlib import Path

import gapline as gl
from gapline.logs.importer import import_logs

# Large enough for a handful of incumbents each: values, and five rows of weights with room for each.
VALUES = random.Random(4).choices(range(10, 60), k=60)
WEIGHTS = [random.Random(seed).choices(range(5, 30), k=60) for seed in range(5, 10)]
ROOM = 150


def record(path, **given):
    return gl.record(path, arm="lib", instance="i", seed=1, horizon=60, **given)


def imported(log, text):
    """Return the candidates that gapline reads in a library's log."""
    log.write_text(text)
    campaign = import_logs([log], instance="i", arm="lib", seed=1).campaign
    return campaign.objective[campaign.verdict != 3].tolist()


def cpsat(path):
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    taken = [model.new_bool_var(f"x{k}") for k in range(len(VALUES))]
    for weights in WEIGHTS:
        model.add(sum(w * x for w, x in zip(weights, taken, strict=True)) <= ROOM)
    model.maximize(sum(v * x for v, x in zip(VALUES, taken, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    # Slowly, for more than one solution.
    solver.parameters.cp_model_presolve = False
    solver.parameters.linearization_level = 0
    solver.parameters.search_branching = cp_model.FIXED_SEARCH
    solver.parameters.max_deterministic_time = 0.3
    solver.parameters.log_search_progress = True
    solver.parameters.log_to_stdout = False
    lines = []
    solver.log_callback = lines.append
    with record(path, sense="max") as trace:
        solver.best_bound_callback = gl.hooks.cpsat_bound(trace, model)
        assert solver.solve(model, gl.hooks.cpsat(trace, model)) == cp_model.FEASIBLE
    return imported(path.with_suffix(".log"), "".join(f"{line}\n" for line in lines))


def routing(path):
    from ortools.constraint_solver import pywrapcp

    rng = random.Random(1)
    points = [(rng.randint(0, 100), rng.randint(0, 100)) for _ in range(25)]
    far = [[abs(a - c) + abs(b - d) for c, d in points] for a, b in points]
    manager = pywrapcp.RoutingIndexManager(len(points), 3, 0)
    model = pywrapcp.RoutingModel(manager)
    across = model.RegisterTransitCallback(lambda i, j: far[manager.IndexToNode(i)][manager.IndexToNode(j)])
    model.SetArcCostEvaluatorOfAllVehicles(across)
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.solution_limit = 40
    parameters.log_search = True
    with record(path) as trace:
        gl.hooks.ortools_routing(trace, model)
        solution = model.SolveWithParameters(parameters)
    # Its log goes to the standard error, which whoever started us reads.
    return solution.ObjectiveValue()


def highs(path):
    import highspy

    solver = highspy.Highs()
    log = path.with_suffix(".log")
    solver.setOptionValue("log_to_console", False)
    solver.setOptionValue("log_file", str(log))
    taken = [solver.addBinary(obj=value) for value in VALUES]
    for weights in WEIGHTS:
        solver.addConstr(solver.qsum(w * x for w, x in zip(weights, taken, strict=True)) <= ROOM)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    with record(path, sense="max") as trace:
        gl.hooks.highs(trace, solver)
        solver.run()
    seen = imported(log, log.read_text())
    # It goes on listening, and nothing more is recorded.
    solver.clearSolver()
    solver.run()
    return seen


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](Path(sys.argv[2]))))
