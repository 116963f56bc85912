"""Searches that cannot share a process: OR-Tools and HiGHS bring two libraries of the same names.

`python hooked.py SEARCH FILE` records one, and prints what the library itself reports of it.
"""

import json
import random
import sys

import gapline as gl

KNAPSACK = [(random.Random(4).randint(10, 60), weight) for weight in random.Random(5).choices(range(5, 30), k=35)]


def record(path, **given):
    return gl.record(path, arm="lib", instance="i", seed=1, horizon=60, **given)


def cpsat(path):
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    taken = [model.new_bool_var(f"x{k}") for k in range(len(KNAPSACK))]
    model.add(sum(w * x for (_, w), x in zip(KNAPSACK, taken, strict=True)) <= 150)
    model.maximize(sum(v * x for (v, _), x in zip(KNAPSACK, taken, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1

    class Own(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self):
            seen.append(self.objective_value)

    seen = []
    solver.solve(model, Own())
    with record(path, sense="max") as trace:
        assert solver.solve(model, gl.hooks.cpsat(trace)) == cp_model.OPTIMAL
    return seen


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
    with record(path) as trace:
        gl.hooks.ortools_routing(trace, model)
        solution = model.SolveWithParameters(parameters)
    return [solution.ObjectiveValue()]


def highs(path):
    import highspy

    solver = highspy.Highs()
    solver.silent()
    taken = [solver.addBinary(obj=value) for value, _ in KNAPSACK]
    solver.addConstr(solver.qsum(w * x for (_, w), x in zip(KNAPSACK, taken, strict=True)) <= 150)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    with record(path, sense="max") as trace:
        gl.hooks.highs(trace, solver)
        solver.run()
    return [solver.getInfo().objective_function_value]


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
