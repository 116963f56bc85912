"""SCIP on mixed-integer programs in MPS, LP or any other file it reads, with its dual bounds.

Options: iterations (nodes of the tree).
"""

from importlib.metadata import version
from typing import Any

from gapline.errors import UsageError
from gapline.solvers.protocol import BestBound, Task, announce, emit, emit_claim, named_values, run_adapter


def solve(task: Task) -> None:
    """Print the best solutions of SCIP, and each better bound."""
    import pyscipopt
    from pyscipopt import SCIP_EVENTTYPE  # type: ignore[attr-defined]  # it is there all the same

    announce("scip", f"{pyscipopt.Model().version()} (pyscipopt {version('pyscipopt')})")
    model = pyscipopt.Model()
    model.hideOutput()
    try:
        model.readProblem(str(task.instance))
    except OSError as error:
        raise UsageError(f"{task.instance}: expected an MPS or LP file, got what SCIP cannot read: {error}") from error
    # Get them before the search: later, these are the variables of the presolved problem.
    variables = model.getVars()
    names = [variable.name for variable in variables]
    whole = [variable.vtype() in ("BINARY", "INTEGER") for variable in variables]
    best = BestBound()

    class ScipStream(pyscipopt.Eventhdlr):
        """Prints each best solution and each better bound."""

        def eventinit(self) -> None:
            """Listen."""
            self.model.catchEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)
            self.model.catchEvent(SCIP_EVENTTYPE.DUALBOUNDIMPROVED, self)

        def eventexit(self) -> None:
            """Stop listening."""
            self.model.dropEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)
            self.model.dropEvent(SCIP_EVENTTYPE.DUALBOUNDIMPROVED, self)

        def eventexec(self, event: Any) -> None:
            """Print one."""
            if event.getType() != SCIP_EVENTTYPE.BESTSOLFOUND:
                best.print(self.model.getDualbound())
                return
            solution = self.model.getBestSol()
            values = [self.model.getSolVal(solution, variable) for variable in variables]
            emit(
                self.model.getSolObjVal(solution),
                named_values(names, values, whole),
                time=self.model.getSolvingTime(),
                bound=best.news(self.model.getDualbound()),
            )

    model.includeEventhdlr(ScipStream(), "gapline", "prints candidates and bounds")
    model.setParam("randomization/randomseedshift", task.seed % 2**31)
    # Two seeds: one for the search, one for the order of rows and columns.
    model.setParam("randomization/permutationseed", task.seed % 2**31)
    iterations = task.iterations()
    if iterations is None:
        # Wall-clock time, as the host counts it.
        model.setParam("timing/clocktype", 2)
        model.setParam("limits/time", task.time_left())
    else:
        model.setParam("limits/nodes", iterations)
    model.optimize()
    best.print(model.getDualbound())
    if (claim := model.getStatus()) in ("optimal", "infeasible"):
        emit_claim(claim)


if __name__ == "__main__":
    run_adapter(solve)
