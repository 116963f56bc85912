"""Hooks into libraries that people solve with: what is recorded is what the library itself reports."""

import itertools
import json
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gapline as gl
from gapline.hooks import Best
from hooked import KNAPSACK, record


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.jsonl"


def recorded(path):
    """Return the candidates and the bounds of the one run of a file."""
    campaign = gl.read(path)
    assert campaign.runs["status"].to_list() == ["finished"]
    is_candidate = campaign.verdict != 3
    bounds = [] if campaign.bound is None else campaign.bound[np.isfinite(campaign.bound)].tolist()
    return campaign.objective[is_candidate].tolist(), bounds


def falls(values):
    return all(later < earlier for earlier, later in itertools.pairwise(values))


def reported(search, path):
    """Record a search in a process of its own; return what its library reports."""
    command = [sys.executable, str(Path(__file__).with_name("hooked.py")), search, str(path)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def test_only_what_is_better_is_added_and_bounds_that_moved(path):
    with record(path) as trace:
        best = Best(trace)
        for value, bound in ((9, None), (9, 1e20), (10, 3.0), (8, 3.0), (8, 3.0), (7.5, 4.0)):
            best.take(value, bound)
    assert recorded(path) == ([9.0, 8.0, 7.5], [3.0, 3.0, 4.0])


def test_cpsat(path):
    seen = reported("cpsat", path)
    found, bounds = recorded(path)
    assert found == seen
    assert min(bounds) >= found[-1]


def test_routing_of_ortools(path):
    (best,) = reported("routing", path)
    found, _ = recorded(path)
    assert falls(found)
    assert found[-1] == best


@pytest.mark.parametrize("own", [False, True])
def test_pyvrp(path, own):
    pyvrp = pytest.importorskip("pyvrp")
    rng = random.Random(2)
    model = pyvrp.Model()
    places = [model.add_location(rng.randint(-50, 50), rng.randint(-50, 50)) for _ in range(26)]
    model.add_depot(places[0])
    model.add_vehicle_type(4, capacity=30, fixed_cost=11)
    for place in places[1:]:
        model.add_client(place, delivery=3)
    for a in places:
        for b in places:
            model.add_edge(a, b, distance=int(abs(a.x - b.x) + abs(a.y - b.y)))
    stop = pyvrp.stop.MaxIterations(300)
    params = pyvrp.SolveParams() if own else None
    with record(path) as trace:
        result = pyvrp.solve(model.data(), stop, seed=1, display=False, params=gl.hooks.pyvrp(trace, params))
    found, _ = recorded(path)
    assert falls(found)
    assert found[-1] == result.cost()


def test_highs(path):
    (best,) = reported("highs", path)
    found, bounds = recorded(path)
    assert falls([-value for value in found])
    assert found[-1] == pytest.approx(best, abs=1e-9)
    assert all(bound >= found[-1] - 1e-6 for bound in bounds)


def test_scip(path):
    pyscipopt = pytest.importorskip("pyscipopt")

    model = pyscipopt.Model()
    model.hideOutput()
    taken = [model.addVar(vtype="B", obj=-value) for value, _ in KNAPSACK]
    model.addCons(pyscipopt.quicksum(w * x for (_, w), x in zip(KNAPSACK, taken, strict=True)) <= 150)
    with record(path) as trace:
        gl.hooks.scip(trace, model)
        model.optimize()
    found, bounds = recorded(path)
    assert falls(found)
    assert found[-1] == pytest.approx(model.getObjVal(), abs=1e-9)
    assert all(bound <= found[-1] + 1e-6 for bound in bounds)


def test_gurobi_by_its_callback_codes(path, monkeypatch):
    """A stand-in with the codes of gurobipy's documentation, where no licence is."""
    codes = SimpleNamespace(MIP=3, MIPSOL=4, MIP_OBJBND="bound", MIPSOL_OBJ="objective", MIPSOL_OBJBND="bound")
    monkeypatch.setitem(sys.modules, "gurobipy", SimpleNamespace(GRB=SimpleNamespace(Callback=codes)))

    class Model:
        ModelSense = -1

        def cbGet(self, what):
            return getattr(self, what)

    with record(path, sense="max") as trace:
        callback = gl.hooks.gurobi(trace)
        model = Model()
        for where, objective, bound in ((3, 0, 99), (4, 10, 50), (3, 0, 45), (4, 9, 45), (4, 12, 45), (0, 0, 0)):
            model.objective, model.bound = objective, bound
            callback(model, where)
    assert recorded(path) == ([10.0, 12.0], [50.0, 45.0, 45.0])


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_optuna(path, direction):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(seed=1))

    def objective(trial):
        x = trial.suggest_float("x", -3, 3)
        if x < -2:
            raise optuna.TrialPruned
        return x * x

    with record(path, sense=direction[:3]) as trace:
        study.optimize(objective, n_trials=40, callbacks=[gl.hooks.optuna(trace)])
    values = [trial.value for trial in study.trials if trial.state.name == "COMPLETE"]
    bests = np.minimum.accumulate(values) if direction == "minimize" else np.maximum.accumulate(values)
    assert recorded(path)[0] == list(dict.fromkeys(bests.tolist()))
    assert recorded(path)[0][-1] == study.best_value


def test_scipy(path):
    from scipy import optimize

    def rosen(x):
        return float(optimize.rosen(x))

    with record(path) as trace:
        result = optimize.minimize(rosen, [2.0, -1.0], method="Nelder-Mead", callback=gl.hooks.scipy(trace))
    found, _ = recorded(path)
    assert falls(found)
    assert found[-1] == result.fun


@pytest.mark.parametrize(
    ("name", "hook", "given"),
    [
        ("differential_evolution", gl.hooks.scipy, {"maxiter": 20}),
        ("dual_annealing", gl.hooks.scipy_annealing, {"maxiter": 50}),
    ],
)
def test_scipy_over_a_box(path, name, hook, given):
    from scipy import optimize

    with record(path) as trace:
        result = getattr(optimize, name)(optimize.rosen, [(-2, 2)] * 2, rng=1, callback=hook(trace), **given)
    found, _ = recorded(path)
    assert falls(found)
    # A last polish is not told.
    assert found[-1] >= result.fun - 1e-12


def test_cma(path):
    cma = pytest.importorskip("cma")
    with record(path) as trace:
        search = cma.CMAEvolutionStrategy([1.5, -0.5], 0.5, {"seed": 1, "verbose": -9, "maxiter": 40})
        search.optimize(cma.ff.rosen, callback=gl.hooks.cma(trace))
    found, _ = recorded(path)
    assert falls(found)
    assert found[-1] == search.result.fbest


def test_nothing_of_a_library_is_imported_before_its_hook_is_asked_for():
    libraries = ("ortools", "pyvrp", "highspy", "pyscipopt", "optuna", "scipy", "cma")
    code = f"import gapline as gl, sys; gl.hooks; print([m for m in {libraries} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
