"""One line in a script of one's own, and the candidates of a solver's library are recorded (`gapline.record`).

    with gl.record("traces.jsonl", arm="cp-sat", instance="a", horizon=60) as trace:
        solver.solve(model, gl.hooks.cpsat(trace))

Each takes the trace and gives what the library calls. Nothing of a library is imported before its hook is asked for.
"""

import math
from collections.abc import Callable
from typing import Any

from gapline.journal.trace import Trace

# Solvers write 1e20 and beyond where there is no bound yet.
_NO_BOUND = 1e20


class Best:
    """Adds what is better than everything before, and bounds that moved: libraries repeat themselves."""

    def __init__(self, trace: Trace, *, maximise: bool = False) -> None:
        self._trace, self._sign = trace, -1.0 if maximise else 1.0
        self._best, self._bound = math.inf, math.nan

    def take(self, objective: float, bound: float | None = None, solution: Any = None) -> None:
        """Add a candidate where it is the best so far; a bound that is none (1e20 and beyond) is left out."""
        value = self._sign * float(objective)
        known = None if bound is None or not abs(bound) < _NO_BOUND else float(bound)
        if value < self._best:
            self._best = value
            self._bound = math.nan if known is None else known
            self._trace.add(float(objective), bound=known, solution=solution)
        else:
            self.take_bound(bound)

    def take_bound(self, bound: float | None) -> None:
        """Add a bound that differs from the last one."""
        if bound is not None and abs(bound) < _NO_BOUND and bound != self._bound:
            self._bound = float(bound)
            self._trace.add_bound(self._bound)


def cpsat(trace: Trace, /) -> Any:
    """Return a callback for `CpSolver.solve(model, callback)` of OR-Tools' CP-SAT: every solution, with the bound."""
    from ortools.sat.python.cp_model import CpSolverSolutionCallback

    class Callback(CpSolverSolutionCallback):
        """Adds each solution."""

        def on_solution_callback(self) -> None:
            """Add one."""
            trace.add(self.objective_value, bound=self.best_objective_bound)

    return Callback()


def ortools_routing(trace: Trace, routing: Any, /) -> None:
    """Listen to a routing model of OR-Tools before it is solved: every solution that is better than those before."""
    best = Best(trace)
    routing.AddAtSolutionCallback(lambda: best.take(routing.CostVar().Max()))


def pyvrp(trace: Trace, params: Any = None, /) -> Any:
    """Return parameters for `pyvrp.solve(…, params=…)`, yours if you give some: every feasible best solution."""
    import pyvrp as library
    from pyvrp.IteratedLocalSearch import IteratedLocalSearchCallbacks, IteratedLocalSearchParams

    best = Best(trace)

    def take(solution: Any) -> None:
        if solution.is_feasible():
            costs = (solution.distance_cost(), solution.duration_cost(), solution.fixed_vehicle_cost())
            best.take(sum(costs) + solution.uncollected_prizes())

    class Callbacks(IteratedLocalSearchCallbacks):
        """Takes each best."""

        def on_start(self, ils: Any) -> None:
            """Take the solution it starts from, which is reported as no best."""
            take(ils.initial_solution)

        def on_best(self, best: Any) -> None:
            """Take one."""
            take(best)

    if params is None:
        return library.SolveParams(ils=IteratedLocalSearchParams(callbacks=Callbacks()))
    params.ils.callbacks = Callbacks()
    return params


def highs(trace: Trace, solver: Any, /) -> None:
    """Listen to a `highspy.Highs` before it runs: every improving solution and every better bound."""
    import highspy

    best = Best(trace, maximise=solver.getLp().sense_ == highspy.ObjSense.kMaximize)

    def improving(event: Any) -> None:
        best.take(event.data_out.objective_function_value, event.data_out.mip_dual_bound)

    def logging(event: Any) -> None:
        best.take_bound(event.data_out.mip_dual_bound)

    solver.cbMipImprovingSolution.subscribe(improving)
    solver.cbMipLogging.subscribe(logging)


def scip(trace: Trace, model: Any, /) -> None:
    """Listen to a `pyscipopt.Model` before it is optimised: every best solution and every better bound."""
    import pyscipopt
    from pyscipopt.scip import PY_SCIP_EVENTTYPE as kinds

    best = Best(trace, maximise=model.getObjectiveSense() == "maximize")
    events = (kinds.BESTSOLFOUND, kinds.DUALBOUNDIMPROVED)

    class Listener(pyscipopt.Eventhdlr):
        """Takes each best solution and each better bound."""

        def eventinit(self) -> None:
            """Listen."""
            for kind in events:
                self.model.catchEvent(kind, self)

        def eventexit(self) -> None:
            """Stop listening."""
            for kind in events:
                self.model.dropEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            """Take one."""
            if event.getType() == kinds.BESTSOLFOUND:
                best.take(self.model.getSolObjVal(self.model.getBestSol()), self.model.getDualbound())
            else:
                best.take_bound(self.model.getDualbound())

    model.includeEventhdlr(Listener(), "gapline", "records candidates and bounds")


def gurobi(trace: Trace, /) -> Callable[[Any, int], None]:
    """Return a callback for `Model.optimize(callback)` of gurobipy: every new incumbent, with the bound."""
    from gurobipy import GRB

    bests: list[Best] = []

    def callback(model: Any, where: int) -> None:
        if where == GRB.Callback.MIPSOL:
            if not bests:
                bests.append(Best(trace, maximise=model.ModelSense < 0))
            objective, bound = model.cbGet(GRB.Callback.MIPSOL_OBJ), model.cbGet(GRB.Callback.MIPSOL_OBJBND)
            bests[0].take(objective, bound)
        elif where == GRB.Callback.MIP and bests:
            bests[0].take_bound(model.cbGet(GRB.Callback.MIP_OBJBND))

    return callback


def optuna(trace: Trace, /) -> Callable[[Any, Any], None]:
    """Return a callback for `Study.optimize(…, callbacks=[…])`: every finished trial that is the best so far."""
    bests: list[Best] = []

    def callback(study: Any, trial: Any) -> None:
        if not bests:
            bests.append(Best(trace, maximise=study.direction.name == "MAXIMIZE"))
        # Failed and pruned trials have no value that counts.
        if trial.state.name == "COMPLETE":
            bests[0].take(trial.value, solution=trial.params)

    return callback


def scipy(trace: Trace, /) -> Callable[..., None]:
    """Return a callback for `minimize` and `differential_evolution` of scipy.optimize: every iterate that is better."""
    best = Best(trace)

    # By this very name: scipy looks at it to decide what it hands over.
    def callback(intermediate_result: Any) -> None:
        best.take(float(intermediate_result.fun), solution=intermediate_result.x)

    return callback


def scipy_annealing(trace: Trace, /) -> Callable[[Any, float, Any], None]:
    """Return a callback for `dual_annealing` and `basinhopping` of scipy.optimize: every minimum that is better."""
    best = Best(trace)

    def callback(x: Any, f: float, context: Any) -> None:  # noqa: ARG001
        best.take(float(f), solution=x)

    return callback


def cma(trace: Trace, /) -> Callable[[Any], None]:
    """Return a callback for `CMAEvolutionStrategy.optimize(f, callback=…)` of the package cma: every better one."""
    best = Best(trace)
    return lambda strategy: best.take(strategy.best.f, solution=strategy.best.x)
