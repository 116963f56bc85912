"""Hooks into libraries that people solve with: what is recorded is what the library itself reports."""

import itertools
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.hooks import Best
from hooked import ROOM, VALUES, WEIGHTS, imported, record


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
    """Record a search in a process of its own; return what its library reports, and its standard error."""
    command = [sys.executable, str(Path(__file__).with_name("hooked.py")), search, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def bests(values, *, maximise=False):
    """Return the values that are better than all before."""
    running = np.maximum.accumulate(values) if maximise else np.minimum.accumulate(values)
    return list(dict.fromkeys(running.tolist()))


def test_only_what_is_better_is_added_and_bounds_that_moved(path):
    with record(path) as trace:
        best = Best(trace)
        for value, bound in ((9, None), (9, 1e20), (10, 3.0), (8, 3.0), (8, 3.0), (7.5, 4.0)):
            best.take(value, bound)
    assert recorded(path) == ([9.0, 8.0, 7.5], [3.0, 3.0, 4.0])


def test_a_sense_that_is_not_the_model_s_is_told_before_anything_runs(path):
    with record(path) as trace:
        with pytest.raises(UsageError, match="sense: expected max, which is what the solver is asked for, got none"):
            Best(trace, maximise=True)
        Best(trace)
    with record(path, sense="max") as trace:
        for hook in (gl.hooks.scipy, gl.hooks.scipy_annealing, gl.hooks.cma, gl.hooks.pymoo, gl.hooks.pyvrp):
            with pytest.raises(UsageError, match="sense: expected min"):
                hook(trace)


def test_a_run_that_has_ended_is_refused_and_one_that_ends_is_left_alone(path):
    with record(path) as trace:
        best = Best(trace)
        best.take(3.0)
    best.take(2.0, 1.0)
    best.take_bound(1.5)
    with pytest.raises(UsageError, match="expected a run that is being recorded, got one that has ended"):
        Best(trace)
    assert recorded(path) == ([3.0], [])


@pytest.mark.slow
def test_cpsat_records_what_its_log_says(path):
    seen, _ = reported("cpsat", path)
    found, bounds = recorded(path)
    assert found == seen
    assert len(found) > 10
    assert min(bounds) >= found[-1]


@pytest.mark.slow
def test_routing_of_ortools_records_what_its_log_says(path):
    best, log = reported("routing", path)
    found, _ = recorded(path)
    assert found == [float(value) for value in re.findall(r"Solution #\d+ \((\d+),", log)]
    assert len(found) > 3
    assert found[-1] == best


@pytest.mark.parametrize("own", [False, True])
def test_pyvrp_records_what_its_statistics_say(path, own):
    pyvrp = pytest.importorskip("pyvrp")
    from pyvrp.IteratedLocalSearch import IteratedLocalSearchCallbacks, IteratedLocalSearchParams

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
    called = set()

    class Own(IteratedLocalSearchCallbacks):
        on_start = on_end = on_best = on_iteration = lambda *args: called.add(len(args))

    params = pyvrp.SolveParams(ils=IteratedLocalSearchParams(callbacks=Own(), history_length=50)) if own else None
    # The parameters are used twice: neither run may see the other's trace.
    for seed in (1, 2):
        file = path.with_stem(f"seed-{seed}")
        with record(file) as trace:
            hooked = gl.hooks.pyvrp(trace, params)
            stop = pyvrp.stop.MaxIterations(300)
            result = pyvrp.solve(model.data(), stop, seed=seed, display=False, params=hooked)
        # The search starts from a solution that its statistics leave out.
        found = recorded(file)[0]
        told = bests([datum.best_cost for datum in result.stats if datum.best_feas])
        assert found[-len(told) :] == told
        assert len(found) - len(told) in (0, 1)
        assert falls(found)
        assert found[-1] == result.cost()
    assert called == ({2, 5} if own else set())
    assert not own or hooked.ils.history_length == 50


@pytest.mark.slow
def test_highs_records_what_its_log_says(path):
    seen, _ = reported("highs", path)
    found, bounds = recorded(path)
    assert found == pytest.approx(seen, abs=1e-6)
    assert len(found) > 3
    assert all(bound >= found[-1] - 1e-6 for bound in bounds)


@pytest.mark.parametrize("sense", ["minimize", "maximize"])
def test_scip_records_what_its_log_says(path, sense):
    pyscipopt = pytest.importorskip("pyscipopt")
    model = pyscipopt.Model()
    sign = 1 if sense == "maximize" else -1
    taken = [model.addVar(vtype="B", obj=sign * value) for value in VALUES]
    for weights in WEIGHTS:
        model.addCons(pyscipopt.quicksum(w * x for w, x in zip(weights, taken, strict=True)) <= ROOM)
    model.setObjective(model.getObjective(), sense)
    log = path.with_suffix(".log")
    model.setLogfile(str(log))
    model.hideOutput()
    with record(path, sense=sense[:3]) as trace:
        gl.hooks.scip(trace, model)
        model.optimize()
    found, bounds = recorded(path)
    assert found == imported(log, log.read_text())
    assert len(found) > 3
    assert found[-1] == pytest.approx(model.getObjVal(), abs=1e-9)
    assert all(sign * bound >= sign * found[-1] - 1e-6 for bound in bounds)


def make_gurobi(sense):
    """Return a model within the restricted licence that comes with gurobipy, or skip where there is none."""
    gurobipy = pytest.importorskip("gurobipy")
    try:
        environment = gurobipy.Env(params={"OutputFlag": 0})
    except gurobipy.GurobiError as error:
        pytest.skip(f"no licence of Gurobi: {error}")
    model = gurobipy.Model(env=environment)
    taken = model.addVars(len(VALUES), vtype="B", obj=[-sense * value for value in VALUES])
    for weights in WEIGHTS:
        model.addConstr(gurobipy.quicksum(w * taken[k] for k, w in enumerate(weights)) <= ROOM)
    model.ModelSense = sense
    model.Params.Threads = model.Params.Seed = 1
    return model, taken


@pytest.mark.slow
@pytest.mark.parametrize("sense", [1, -1])
def test_gurobi_records_what_its_log_says(path, sense):
    model, _ = make_gurobi(sense)
    log = path.with_suffix(".log")
    model.Params.LogToConsole, model.Params.OutputFlag, model.Params.LogFile = 0, 1, str(log)
    with record(path, sense="min" if sense > 0 else "max") as trace:
        model.optimize(gl.hooks.gurobi(trace, model))
    best = model.ObjVal
    found, bounds = recorded(path)
    assert falls([sense * value for value in found])
    assert found[-1] == pytest.approx(best, abs=1e-6)
    assert all(sense * bound <= sense * best + 1e-6 for bound in bounds)
    # It rounds what it prints, and has no line for one that another follows at once.
    told = imported(log, log.read_text())
    assert len(told) > 3
    assert {round(value, 3) for value in told} <= {round(value, 3) for value in found}


@pytest.mark.slow
def test_gurobi_with_lazy_constraints_records_only_what_they_allow(path):
    model, taken = make_gurobi(-1)
    from gurobipy import GRB

    model.Params.LazyConstraints = 1
    refused = []
    with record(path, sense="max") as trace:
        hook = gl.hooks.gurobi(trace, model)

        def callback(model, where):
            if where == GRB.Callback.MIPSOL and sum(model.cbGetSolution(taken).values()) > 9.5:
                refused.append(model.cbGet(GRB.Callback.MIPSOL_OBJ))
                model.cbLazy(taken.sum() <= 9)
            hook(model, where)

        model.optimize(callback)
    found, _ = recorded(path)
    assert refused
    assert falls([-value for value in found])
    assert found[-1] == pytest.approx(model.ObjVal, abs=1e-6)
    assert max(found) < max(refused)


@pytest.mark.slow
def test_gurobi_with_several_objectives_is_refused(path):
    model, taken = make_gurobi(-1)
    model.setObjectiveN(taken[0], 0, priority=2)
    model.setObjectiveN(taken[1], 1, priority=1)
    with record(path, sense="max") as trace, pytest.raises(UsageError, match="model: expected one objective, got 2"):
        gl.hooks.gurobi(trace, model)


def test_gurobi_by_its_callback_codes(path, monkeypatch):
    """A stand-in with the codes of gurobipy's documentation, where no licence is."""
    codes = SimpleNamespace(
        MIP=3, MIPSOL=4, MIP_OBJBST="best", MIP_OBJBND="bound", MIPSOL_OBJ="objective", MIPSOL_OBJBST="best",
        MIPSOL_OBJBND="bound",
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "gurobipy", SimpleNamespace(GRB=SimpleNamespace(Callback=codes)))

    class Model:
        ModelSense, NumObj, Params = -1, 1, SimpleNamespace(LazyConstraints=0)

        def update(self):
            pass

        def cbGet(self, what):
            return getattr(self, what)

    with record(path, sense="max") as trace:
        model = Model()
        callback = gl.hooks.gurobi(trace, model)
        none = -1e100
        for where, objective, best, bound in (
            (3, 0, none, 99), (4, 10, none, 50), (3, 0, 10, 45), (4, 9, 10, 45), (4, 12, 10, 45), (0, 0, 0, 0),
        ):  # fmt: skip
            model.objective, model.best, model.bound = objective, best, bound
            callback(model, where)
    assert recorded(path) == ([10.0, 12.0], [99.0, 50.0, 45.0, 45.0])


@pytest.mark.slow
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
    assert recorded(path)[0] == bests(values, maximise=direction == "maximize")
    assert recorded(path)[0][-1] == study.best_value


@pytest.mark.slow
def test_optuna_in_threads_and_with_constraints(path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        x = trial.suggest_float("x", -3, 3)
        trial.set_constraint("right", -x)
        return x * x

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    with record(path) as trace:
        study.optimize(objective, n_trials=60, n_jobs=4, callbacks=[gl.hooks.optuna(trace)])
    found, _ = recorded(path)
    assert falls(found)
    assert found[-1] == min(trial.value for trial in study.trials if trial.params["x"] >= 0)


@pytest.mark.slow
def test_optuna_with_several_objectives_is_refused(path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(directions=["minimize", "maximize"])
    with record(path) as trace, pytest.raises(UsageError, match="study: expected one objective, got 2"):
        study.optimize(lambda _: (1.0, 2.0), n_trials=1, callbacks=[gl.hooks.optuna(trace)])


METHODS = "Nelder-Mead Powell CG BFGS Newton-CG L-BFGS-B COBYQA COBYLA SLSQP dogleg"
METHODS += " trust-constr trust-ncg trust-exact trust-krylov"


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS.split())
def test_scipy_records_every_better_iterate(path, method):
    from scipy import optimize

    seen = []

    with record(path) as trace:
        hook = gl.hooks.scipy(trace)

        def callback(intermediate_result):
            if not hasattr(intermediate_result, "fun"):
                pytest.skip(f"this scipy hands over no value of {method}")
            seen.append(float(intermediate_result.fun))
            hook(intermediate_result)

        given = {"jac": optimize.rosen_der} if method.startswith(("Newton", "dogleg", "trust-")) else {}
        given |= {"hess": optimize.rosen_hess} if given else {}
        result = optimize.minimize(
            lambda x: float(optimize.rosen(x)), [1.3, 0.7], method=method, callback=callback, **given
        )
    found, _ = recorded(path)
    assert found == bests(seen)
    # COBYLA that is cut by its limit returns a point that it handed to nobody; last bits of the machine decide.
    assert found[-1] == result.fun or (method == "COBYLA" and not result.success and found[-1] > result.fun)


def test_a_method_of_scipy_that_hands_over_no_value_is_refused(path):
    from scipy import optimize

    with record(path) as trace, pytest.raises(UsageError, match="expected an iterate with its value, got ndarray"):
        optimize.minimize(optimize.rosen, [1.3, 0.7], method="TNC", callback=gl.hooks.scipy(trace))


@pytest.mark.parametrize("method", ["trust-constr", "COBYQA", "SLSQP", "differential_evolution"])
def test_iterates_of_scipy_that_break_a_constraint_are_left_out(path, method):
    """The best of all lies outside: an iterate below what is allowed would pass for the best."""
    from scipy import optimize

    def distance(x):
        return float(x @ x)

    def feasible(x):
        return x[0] + x[1] >= 1 - 1e-6

    line = optimize.LinearConstraint([[1, 1]], 1, np.inf)
    says = {} if method in ("trust-constr", "differential_evolution") else {"feasible": feasible}
    with record(path) as trace:
        hook = gl.hooks.scipy(trace, **says)
        if method == "differential_evolution":
            optimize.differential_evolution(distance, [(-2, 2)] * 2, constraints=line, rng=1, maxiter=9, callback=hook)
        else:
            optimize.minimize(distance, [-2.0, 1.0], method=method, constraints=line, callback=hook)
    found, _ = recorded(path)
    assert found
    assert min(found) >= 0.5 - 1e-5


@pytest.mark.parametrize(
    ("name", "hook", "given"),
    [
        ("differential_evolution", gl.hooks.scipy, {"maxiter": 20}),
        ("dual_annealing", gl.hooks.scipy_annealing, {"maxiter": 50}),
    ],
)
def test_scipy_over_a_box_records_what_another_callback_sees(path, name, hook, given):
    from scipy import optimize

    def search(callback):
        return getattr(optimize, name)(optimize.rosen, [(-2, 2)] * 2, rng=1, callback=callback, **given)

    seen = []

    def by_result(intermediate_result):
        seen.append(float(intermediate_result.fun))

    search(by_result if hook is gl.hooks.scipy else lambda x, f, context: seen.append(float(f)))  # noqa: ARG005
    with record(path) as trace:
        result = search(hook(trace))
    found, _ = recorded(path)
    assert found == bests(seen)
    # A last polish is not told.
    assert found[-1] >= result.fun - 1e-12


def test_scipy_basinhopping_records_every_better_minimum(path):
    from scipy import optimize

    seen = []
    with record(path) as trace:
        hook = gl.hooks.scipy_annealing(trace)

        def callback(x, f, accept):
            seen.append(float(f))
            hook(x, f, accept)

        result = optimize.basinhopping(
            lambda x: float(np.cos(14.5 * x[0] - 0.3) + (x[0] + 0.2) * x[0]), [2.0], niter=20, rng=1, callback=callback
        )
    found, _ = recorded(path)
    assert found == bests(seen)
    assert found[-1] == result.fun


@pytest.mark.slow
def test_cma(path):
    cma = pytest.importorskip("cma")
    seen = []
    with record(path) as trace:
        search = cma.CMAEvolutionStrategy([1.5, -0.5], 0.5, {"seed": 1, "verbose": -9, "maxiter": 40})
        own = [gl.hooks.cma(trace), lambda strategy: seen.append(strategy.best.f)]
        search.optimize(cma.ff.rosen, callback=own)
    found, _ = recorded(path)
    assert found == bests(seen)
    assert found[-1] == search.result.fbest


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ackley", "g1"])
def test_pymoo_records_what_its_history_says(path, name):
    pytest.importorskip("pymoo")
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.optimize import minimize
    from pymoo.problems import get_problem

    with record(path) as trace:
        result = minimize(
            get_problem(name), GA(pop_size=40), ("n_gen", 30), seed=1, callback=gl.hooks.pymoo(trace), save_history=True
        )
    found, _ = recorded(path)
    # A constrained one (g1) has no feasible candidate in its first generations.
    best = [generation.opt[0] for generation in result.history]
    assert found == bests([float(one.F[0]) for one in best if one.feas])
    assert found[-1] == result.F[0]
    assert name != "g1" or not all(one.feas for one in best)


@pytest.mark.slow
def test_pymoo_with_several_objectives_is_refused(path):
    pytest.importorskip("pymoo")
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.optimize import minimize
    from pymoo.problems import get_problem

    with record(path) as trace, pytest.raises(UsageError, match="problem: expected one objective, got 2"):
        minimize(get_problem("zdt1"), NSGA2(pop_size=10), ("n_gen", 2), callback=gl.hooks.pymoo(trace))


def test_nothing_of_a_library_is_imported_before_its_hook_is_asked_for():
    libraries = ("ortools", "pyvrp", "highspy", "pyscipopt", "gurobipy", "optuna", "scipy", "cma", "pymoo")
    code = f"import gapline as gl, sys; gl.hooks; print([m for m in {libraries} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
