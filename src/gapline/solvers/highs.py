"""HiGHS on mixed-integer programs in MPS or LP files, with its dual bounds.

Options: iterations (nodes of the tree).
"""

from importlib.metadata import version
from typing import Any

from gapline.errors import UsageError
from gapline.solvers.protocol import BestBound, Task, announce, emit, emit_claim, named_values, run_adapter


def solve(task: Task) -> None:
    """Print the improving solutions of HiGHS, and each new bound that it logs."""
    import highspy

    announce("highs", version("highspy"))
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.silent()
    if highs.readModel(str(task.instance)) == highspy.HighsStatus.kError:
        raise UsageError(f"{task.instance}: expected an MPS or LP file, got what HiGHS cannot read")
    program = highs.getLp()
    names = list(program.col_names_)
    types = list(program.integrality_) or [highspy.HighsVarType.kContinuous] * len(names)
    whole = [kind in (highspy.HighsVarType.kInteger, highspy.HighsVarType.kSemiInteger) for kind in types]
    best = BestBound()
    found: set[float] = set()

    def on_solution(event: Any) -> None:
        facts = event.data_out
        found.add(facts.objective_function_value)
        emit(
            facts.objective_function_value,
            named_values(names, map(float, facts.mip_solution), whole),
            time=facts.running_time,
            bound=best.news(facts.mip_dual_bound),
        )

    highs.cbMipImprovingSolution.subscribe(on_solution)
    highs.cbMipLogging.subscribe(lambda event: best.print(event.data_out.mip_dual_bound))
    highs.setOptionValue("random_seed", task.seed % 2**31)
    highs.setOptionValue("threads", task.threads)
    iterations = task.iterations()
    if iterations is None:
        highs.setOptionValue("time_limit", task.time_left())
    else:
        highs.setOptionValue("mip_max_nodes", iterations)
    highs.run()
    facts = highs.getInfo()
    if any(whole):
        # Without integers there is no tree, and the value of this field is no bound.
        best.print(facts.mip_dual_bound)
    feasible = facts.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if feasible and facts.objective_function_value not in found:
        # HiGHS calls no callback for a program without integers, or one that ended outside the tree.
        emit(facts.objective_function_value, named_values(names, highs.getSolution().col_value, whole))
    proven = {highspy.HighsModelStatus.kOptimal: "optimal", highspy.HighsModelStatus.kInfeasible: "infeasible"}
    if (claim := proven.get(highs.getModelStatus())) is not None:
        emit_claim(claim)


if __name__ == "__main__":
    run_adapter(solve)
