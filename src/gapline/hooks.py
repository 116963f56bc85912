"""Hooks that record the candidates of a solver's library with one line in your own script (`gapline.record`).

    with gl.record("traces.jsonl", arm="cp-sat", instance="a", horizon=60) as trace:
        solver.solve(model, gl.hooks.cpsat(trace, model))

Each hook takes the trace, and the model if the library states the direction there, and returns what the library calls.
No library is imported before its hook is called.
"""

import dataclasses
import math
from collections.abc import Callable
from inspect import signature
from threading import Lock
from typing import Any

from gapline.contract.number_limits import INFINITE
from gapline.errors import UsageError
from gapline.traces.recording import Trace

# How much an iterate of scipy may violate a constraint: the tolerance of its `trust-constr`.
_BROKEN = 1e-8


class Best:
    """Adds candidates that are better than all before, and bounds that changed: libraries repeat themselves.

    Candidates after the end of the run are ignored: a library keeps calling as long as its model lives.
    """

    def __init__(self, trace: Trace, *, maximise: bool = False) -> None:
        expected = "max" if maximise else "min"
        if (trace.sense or "min") != expected:
            raise UsageError(
                f"sense: expected {expected}, which is what the solver is asked for, got {trace.sense or 'none'}",
                hint=f'gl.record(…, sense="{expected}")' if maximise else "record what is minimised, with its sign",
            )
        if not trace.is_open:
            raise UsageError(
                f"{trace.path}: expected a run that is being recorded, got one that has ended",
                hint="ask for the hook, and solve, inside of `with gl.record(…) as trace:`",
            )
        self._trace, self._sign = trace, -1.0 if maximise else 1.0
        self._best, self._bound = math.inf, math.nan
        # Optuna and others call from several threads.
        self._lock = Lock()

    def take(self, objective: float, bound: float | None = None, solution: Any = None) -> None:
        """Add a candidate if it is the best so far; a bound of 1e20 or more means none and is left out."""
        value = self._sign * float(objective)
        known = None if bound is None or not abs(bound) < INFINITE else float(bound)
        with self._lock:
            is_better = value < self._best and self._trace.is_open
            if is_better:
                self._best = value
                self._bound = math.nan if known is None else known
                self._trace.add(float(objective), bound=known, solution=solution)
        if not is_better:
            self.take_bound(bound)

    def take_bound(self, bound: float | None) -> None:
        """Add a bound that differs from the last one."""
        if bound is not None and abs(bound) < INFINITE:
            with self._lock:
                if bound != self._bound and self._trace.is_open:
                    self._bound = float(bound)
                    self._trace.add_bound(self._bound)


def cpsat(trace: Trace, model: Any, /) -> Any:
    """Return a callback for `CpSolver.solve(model, callback)` of OR-Tools' CP-SAT: every solution, with the bound."""
    from ortools.sat.python.cp_model import CpSolverSolutionCallback

    best = Best(trace, maximise=_is_maximised(model))

    class Callback(CpSolverSolutionCallback):
        """Adds each solution."""

        def on_solution_callback(self) -> None:
            """Add one."""
            best.take(self.objective_value, self.best_objective_bound)

    return Callback()


def cpsat_bound(trace: Trace, model: Any, /) -> Callable[[float], None]:
    """Return a callback for each better bound of CP-SAT, also between solutions: `solver.best_bound_callback = …`."""
    return Best(trace, maximise=_is_maximised(model)).take_bound


def _is_maximised(model: Any) -> bool:
    # CP-SAT minimises: it negates a maximised objective, and a negative factor restores its sign.
    return model.proto.objective.scaling_factor < 0 or bool(model.proto.floating_point_objective.maximize)


def ortools_routing(trace: Trace, routing: Any, /) -> None:
    """Listen to a routing model of OR-Tools before it is solved: every solution that is better than those before."""
    best = Best(trace)
    routing.AddAtSolutionCallback(lambda: best.take(routing.CostVar().Max()))


def pyvrp(trace: Trace, params: Any = None, /) -> Any:
    """Return parameters for `pyvrp.solve(…, params=…)`, based on yours if given, that record every feasible best."""
    import pyvrp as library
    from pyvrp.IteratedLocalSearch import IteratedLocalSearchCallbacks

    record = Best(trace)
    given = library.SolveParams() if params is None else params
    theirs = given.ils.callbacks

    def take(solution: Any) -> None:
        if solution.is_feasible():
            costs = (solution.distance_cost(), solution.duration_cost(), solution.fixed_vehicle_cost())
            record.take(sum(costs) + solution.uncollected_prizes())

    class Callbacks(IteratedLocalSearchCallbacks):
        """Records each best solution; callbacks of yours are called too."""

        def on_start(self, ils: Any) -> None:
            """Record the initial solution, which PyVRP does not report as a best one."""
            take(ils.initial_solution)
            theirs.on_start(ils)

        def on_best(self, best: Any) -> None:
            """Record one."""
            take(best)
            theirs.on_best(best)

    for name in ("on_end", "on_iteration", "on_restart"):
        setattr(Callbacks, name, staticmethod(getattr(theirs, name)))
    # Your parameters do not change: another run may use them with another trace.
    parts = {name: getattr(given, name) for name in signature(library.SolveParams).parameters}
    return library.SolveParams(**parts | {"ils": dataclasses.replace(given.ils, callbacks=Callbacks())})


def highs(trace: Trace, solver: Any, /) -> None:
    """Listen to a `highspy.Highs` before it runs: every improving solution and every better bound."""
    import highspy

    best = Best(trace, maximise=solver.getLp().sense_ == highspy.ObjSense.kMaximize)

    def improving(event: Any) -> None:
        best.take(event.data_out.objective_function_value, event.data_out.mip_dual_bound)

    solver.cbMipImprovingSolution.subscribe(improving)
    solver.cbMipLogging.subscribe(lambda event: best.take_bound(event.data_out.mip_dual_bound))


def scip(trace: Trace, model: Any, /) -> None:
    """Listen to a `pyscipopt.Model` before it is optimised: every best solution and every better bound."""
    import pyscipopt
    from pyscipopt.scip import PY_SCIP_EVENTTYPE as kinds

    best = Best(trace, maximise=model.getObjectiveSense() == "maximize")
    events = (kinds.BESTSOLFOUND, kinds.DUALBOUNDIMPROVED)

    class Listener(pyscipopt.Eventhdlr):
        """Records each best solution and each better bound."""

        def eventinit(self) -> None:
            """Listen."""
            for kind in events:
                self.model.catchEvent(kind, self)

        def eventexit(self) -> None:
            """Stop listening."""
            for kind in events:
                self.model.dropEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            """Record one."""
            if event.getType() == kinds.BESTSOLFOUND:
                best.take(self.model.getSolObjVal(self.model.getBestSol()), self.model.getDualbound())
            else:
                best.take_bound(self.model.getDualbound())

    model.includeEventhdlr(Listener(), "gapline", "records candidates and bounds")


def gurobi(trace: Trace, model: Any, /) -> Callable[[Any, int], None]:
    """Return a callback for `Model.optimize(callback)` of gurobipy: every new incumbent of a MIP, with the bound.

    If you have your own callback, call this one in it with the same arguments. If yours adds lazy constraints, a
    solution counts once Gurobi has accepted it.
    """
    from gurobipy import GRB

    codes = GRB.Callback
    model.update()
    if model.NumObj > 1:
        raise _several("model", model.NumObj)
    best = Best(trace, maximise=model.ModelSense < 0)
    found = codes.MIPSOL_OBJBST if model.Params.LazyConstraints else codes.MIPSOL_OBJ

    def callback(model: Any, where: int) -> None:
        if where == codes.MIPSOL:
            take(model.cbGet(found), model.cbGet(codes.MIPSOL_OBJBND))
        elif where == codes.MIP:
            take(model.cbGet(codes.MIP_OBJBST), model.cbGet(codes.MIP_OBJBND))

    def take(objective: float, bound: float) -> None:
        # Gurobi passes 1e100 if there is no incumbent yet.
        if abs(objective) < INFINITE:
            best.take(objective, bound)
        else:
            best.take_bound(bound)

    return callback


def optuna(trace: Trace, /) -> Callable[[Any, Any], None]:
    """Return a callback for `Study.optimize(…, callbacks=[…])`: every finished trial that is the best so far."""
    bests: list[Best] = []
    lock = Lock()

    def callback(study: Any, trial: Any) -> None:
        with lock:
            if not bests:
                if len(study.directions) > 1:
                    raise _several("study", len(study.directions))
                bests.append(Best(trace, maximise=study.direction.name == "MAXIMIZE"))
        # Failed and pruned trials have no value that counts, and a constraint value above zero is a violation.
        if trial.state.name == "COMPLETE" and all(value <= 0 for value in trial.constraints.values()):
            bests[0].take(trial.value, solution=trial.params)

    return callback


def scipy(trace: Trace, /, *, feasible: Callable[[Any], bool] | None = None) -> Callable[..., None]:
    """Return a callback for `minimize` and `differential_evolution` of scipy.optimize: every iterate that is better.

    Iterates that violate a constraint are left out if scipy reports it (`trust-constr`, `COBYLA`, and
    `differential_evolution`); for `SLSQP` and `COBYQA`, say yourself which are `feasible`. `TNC`, `shgo` and `direct`
    pass no value, and `milp`, `linprog` and `brute` have no callback: there, `add` in your own function. If `COBYLA`
    ends by `maxiter`, it may return a point that it never passed: `add` the value of its result too.
    """
    best = Best(trace)

    # scipy inspects this parameter's name to decide what it passes.
    def callback(intermediate_result: Any) -> None:
        found = intermediate_result
        if not hasattr(found, "fun"):
            raise UsageError(
                f"scipy: expected an iterate with its value, got {type(found).__name__}: this method hands over none",
                hint="call trace.add in your own function where it finds a better value, or choose another method",
            )
        broken = max(float(found.get(name, 0.0)) for name in ("constr_violation", "maxcv"))
        if broken <= _BROKEN and (feasible is None or feasible(found.x)):
            best.take(float(found.fun), solution=found.x)

    return callback


def scipy_annealing(trace: Trace, /) -> Callable[[Any, float, Any], None]:
    """Return a callback for `dual_annealing` and `basinhopping` of scipy.optimize: every minimum that is better."""
    best = Best(trace)
    return lambda x, f, _: best.take(float(f), solution=x)


def cma(trace: Trace, /) -> Callable[[Any], None]:
    """Return a callback for `CMAEvolutionStrategy.optimize(f, callback=…)` of the package cma: every better one."""
    best = Best(trace)
    return lambda strategy: best.take(strategy.best.f, solution=strategy.best.x)


def pymoo(trace: Trace, /) -> Callable[[Any], None]:
    """Return a callback for `minimize(problem, algorithm, callback=…)` of pymoo: every better feasible one."""
    best = Best(trace)

    def callback(algorithm: Any) -> None:
        if algorithm.problem.n_obj > 1:
            raise _several("problem", algorithm.problem.n_obj)
        for one in algorithm.opt:
            if one.feas:
                best.take(float(one.F[0]), solution=one.X)

    return callback


def _several(what: str, count: int) -> UsageError:
    return UsageError(
        f"{what}: expected one objective, got {count}",
        hint="a trace has one line of values; record a weighted sum, or one of them, with trace.add",
    )
