"""How a solve ended: its final objective and bound with their digits, the moment and the reason."""

import pytest

from gapline.contract.tables import RunStatus
from gapline.logs.readers.mip_closing import Closing, ask_miplog, read_closing, read_version
from gapline.logs.readers.mip_rows import Number
from gapline.logs.readers.mip_solves import Solve, split_solves

TOLD = {"bounds": {"primal": 7.0, "dual": 6.0}, "timing": {"wall_seconds": 3.5, "cpu_seconds": 2.5}}


PROVEN = "SCIP Status        : problem is solved [optimal solution found]"


def one(text):
    (solve,) = split_solves(list(enumerate(text.splitlines(), start=1)))
    return solve


@pytest.mark.parametrize(
    ("text", "closing"),
    [
        (
            "Gurobi Optimizer version 12.0.1\nExplored 9 nodes (72 simplex iterations) in 4.25 seconds (1 work units)\n"
            "Best objective 1.250000000000e+02, best bound 1.200000000000e+02, gap 4.0000%\n",
            (125.0, 1e-10, 120.0, 4.25),
        ),
        (
            "SCIP version 9.2.0\nSCIP Status        : problem is solved\nSolving Time (sec) : 4.25\n"
            "Primal Bound       : +1.25000000000000e+02 (3 solutions)\nDual Bound         : +1.20000000000000e+02\n",
            (125.0, 1e-12, 120.0, 4.25),
        ),
        # Zeros at the end are left out: 125 has twelve digits here.
        (
            "Running HiGHS 1.12.0\nSolving report\n  Primal bound      125\n  Dual bound        120\n"
            "  Timing            4.25\n",
            (125.0, 1e-9, 120.0, 4.25),
        ),
        (
            "FICO Xpress v8.5.1\nFinal objective                         : 1.100000000000000e+02\n"
            " *** Search completed ***     Time:     4 Nodes:        505\nBest integer solution found is   125.000000\n"
            "Best bound is   120.000000\n",
            (125.0, 1e-6, 120.0, 4.0),
        ),
        (
            "FICO Xpress v9.8.1\n *** Search completed ***\n"
            "Final MIP objective                   : 1.250000000000000e+02\n"
            "Final MIP bound                       : 1.200000000000000e+02\n"
            "  Solution time / primaldual integral :      4.25s/ 21.500000%\n",
            (125.0, 1e-13, 120.0, 4.25),
        ),
        (
            "Using Cardinal Optimizer v8.0.3 on Linux\n"
            "Best solution   : 125.000000000\nBest bound      : 120.000000000\n"
            "Best gap        : 4.0000%\nSolve time      : 4.25\n",
            (125.0, 1e-9, 120.0, 4.25),
        ),
    ],
)
def test_the_closing_lines_of_a_solver_give_value_unit_bound_and_end(text, closing):
    value, bound, end, *_ = read_closing(one(text), {})
    assert (value.value, value.unit, bound.value, end) == pytest.approx(closing)
    assert bound.unit == pytest.approx(value.unit)


def test_miplog_fills_what_no_line_says_on_the_clock_of_the_solve():
    assert read_closing(Solve(solver="cbc", ended_at=0), TOLD).end == 3.5
    assert read_closing(Solve(solver="cbc", ended_at=0, is_cpu=True), TOLD).end == 2.5
    # Of a solver whose lines are not known here, miplog's values are all there is.
    assert read_closing(Solve(solver="optverse", ended_at=0), TOLD)[:3] == (Number(7.0, 0.0), Number(6.0, 0.0), 3.5)


@pytest.mark.parametrize("solver", ["xpress", "cplex", "cbc", "gurobi", "highs", "scip", "copt", "mosek"])
def test_values_come_from_the_lines_of_the_mip_alone(solver):
    """What miplog says may be the relaxation or the last row."""
    closing = read_closing(Solve(solver=solver, has_body=True, ended_at=0), TOLD)
    assert closing == Closing(None, None, 3.5, RunStatus.UNKNOWN)


def test_no_incumbent_is_written_as_a_huge_number():
    text = "FICO Xpress v8.5.1\n *** Search completed ***     Time:     0\nBest bound is  1.00000E+40\n"
    assert read_closing(one(text), {})[:3] == (None, None, 0.0)


def test_a_solve_without_an_end_or_in_a_file_that_was_cut_is_killed():
    assert read_closing(Solve(solver="scip"), {}).status == RunStatus.KILLED
    ended = Solve([(1, PROVEN)], solver="scip", ended_at=0)
    assert read_closing(ended, {"termination": {"status": "optimal"}}).status == RunStatus.FINISHED
    assert read_closing(ended, {"termination": {"status": "optimal"}}, cut=True).status == RunStatus.KILLED


@pytest.mark.parametrize("claim", ["optimal", "infeasible"])
def test_what_was_proven_is_kept_unless_the_log_was_cut(claim):
    ended, told = Solve([(1, PROVEN)], solver="scip", ended_at=0), {"termination": {"status": claim}}
    assert read_closing(ended, told).claim == claim
    assert read_closing(ended, told, cut=True).claim is None
    for other in ("time_limit", "unbounded", "infeasible_or_unbounded", "other_limit", "unknown"):
        assert read_closing(ended, {"termination": {"status": other}}).claim is None


def test_a_banner_that_miplog_does_not_know_has_a_version_too():
    solve = one("Running HiGHS 1.12.0 (git hash: n/a): Copyright (c) 2025 HiGHS under MIT licence terms\n")
    assert read_version(solve, ask_miplog(solve)) == "1.12.0"
    assert read_version(solve, {"version": "1.13.0"}) == "1.13.0"
    assert read_version(Solve(solver="scip"), {"version": "0.0.0"}) is None


@pytest.mark.parametrize(
    ("solver", "line"),
    [
        ("scip", PROVEN),
        ("gurobi", "Optimal solution found (tolerance 1.00e-04)"),
        ("highs", "  Status            Optimal"),
        ("cplex", "MIP - Integer optimal, tolerance (0.0001/1e-06):  Objective =  1.2500000000e+02"),
        ("cbc", "Result - Optimal solution found"),
        ("cbc", "Cbc0001I Search completed - best objective 4, took 0 iterations and 0 nodes (0.05 seconds)"),
        ("xpress", " *** Search completed ***     Time:     4 Nodes:        505"),
        ("copt", "MIP status      : solved"),
        ("mosek", "An optimal solution satisfying the relative gap tolerance of 1.00e-02(%) has been located."),
    ],
)
def test_an_optimum_is_proven_where_a_line_states_it_about_the_mip(solver, line):
    told = {"termination": {"status": "optimal", "raw_reason": "Optimal"}}
    assert read_closing(Solve([(1, line)], solver=solver, ended_at=0), told).claim == "optimal"
    for other in ("", "Clp0000I Optimal - objective value 2.125", "Optimal objective  2.125000000e+00"):
        closing = read_closing(Solve([(1, other)], solver=solver), told)
        assert (closing.claim, closing.status) == (None, RunStatus.KILLED)


@pytest.mark.parametrize("number", ["-1,0641e+05", "1.0641x", "1e+0.5", "12-3", "1.5,3"])
def test_a_number_is_read_whole_or_not_at_all(number):
    solve = one(f"SCIP version 9.2.0\nSCIP Status        : problem is solved\nPrimal Bound       : {number}\n")
    assert read_closing(solve, {}).value is None
