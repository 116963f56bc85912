"""Where each solve of a text begins, who it is, and what its header states."""

import pytest

from gapline.logs.readers.mip_solves import bare_name, split_solves


def split(text):
    return split_solves(list(enumerate(text.splitlines(), start=1)))


def test_a_banner_opens_a_session_and_forgets_what_the_one_before_had_set():
    text = (
        "Running HiGHS 1.12.0\nSet option time_limit to 30\nSolving report\n"
        "Running HiGHS 1.12.0\nMIP knap has 4 rows; 9 cols\n"
    )
    first, second = split(text)
    assert [(one.solver, one.horizon, one.has_ended) for one in (first, second)] == [
        ("highs", 30.0, True),
        ("highs", None, False),
    ]
    assert second.instance == "knap"
    assert [number for number, _ in second.lines] == [4, 5]


def test_a_second_solve_of_a_session_inherits_limit_and_seed():
    text = (
        "Gurobi Optimizer version 12.0.1 build\nSet parameter TimeLimit to value 60\nSet parameter Seed to value 3\n"
        "Optimize a model with 5 rows\nBest objective 7\nOptimize a model with 6 rows\n"
    )
    first, second = split(text)
    assert (second.solver, second.horizon, second.seed) == (first.solver, 60.0, 3) == ("gurobi", 60.0, 3)
    assert second.banner == first.banner


def test_headers_state_sense_clock_and_instance():
    (scip,) = split("SCIP version 9.2.0\ntiming/clocktype = 1\nread problem <models/yard7.cip.gz>\n")
    assert (scip.solver, scip.is_cpu, scip.instance) == ("scip", True, "yard7")
    (xpress,) = split("FICO Xpress v9.4\nMinimizing MILP yard7\n")
    assert (xpress.solver, xpress.sense) == ("xpress", "min")
    (cbc,) = split("Welcome to the CBC MILP Solver\ncommand line - cbc a/yard7.mps -sec 20 -timeMode elapsed -solve\n")
    assert (cbc.instance, cbc.horizon, cbc.is_cpu) == ("yard7", 20.0, False)


def test_gurobi_lists_what_is_not_at_its_default_before_each_solve():
    listed = "Non-default parameters:\nTimeLimit  500\nSeed  19\n\n"
    (one,) = split(f"Gurobi Optimizer version 12.0.2 build\n{listed}Optimize a model with 2 rows\n")
    assert (one.horizon, one.seed, one.parameters) == (500.0, 19, {"TimeLimit": "500", "Seed": "19"})


@pytest.mark.parametrize(
    ("line", "parameters"),
    [
        ("CPXPARAM_MIP_Limits_Nodes                        5", {"MIP_Limits_Nodes": "5"}),
        ("Set option mip_rel_gap to 0", {"mip_rel_gap": "0"}),
        ("limits/gap = 0.5", {"limits/gap": "0.5"}),
        ("Setting parameter 'NodeLimit' to 5", {"NodeLimit": "5"}),
        ("MAXTIME=-7200", {"MAXTIME": "-7200"}),
        ("  MAXNODE = 5", {"MAXNODE": "5"}),
        ("Changed value of parameter Cuts to 0", {"Cuts": "0"}),
        ("command line - cbc a.mps -max -sec 20 -solve", {"max": "", "sec": "20", "solve": ""}),
        ("Objective range  [1e+00, 1e+06]", {}),
    ],
)
def test_every_solver_has_its_way_to_say_what_was_set(line, parameters):
    assert split(line)[0].parameters == parameters


def test_two_banners_of_xpress_belong_to_one_solve_and_two_starts_to_two():
    start = "FICO Xpress v8.5.1, solve started 11:02:03, Jun  5, 2018\nMinimizing MILP yard7\n"
    assert len(split("FICO Xpress Solver 64bit v8.5.1 Jun  4 2018\n" + start)) == 1
    assert [one.instance for one in split(start + start)] == ["yard7", "yard7"]


def test_an_infeasible_model_that_cplex_is_asked_for_twice_is_one_solve():
    text = (
        "Log started (V12.8.0.0) Mon Jan  6 2020\nCPXPARAM_TimeLimit   60\n"
        "Total (root+branch&cut) =    0.17 sec. (1.00 ticks)\nMIP - Integer infeasible.\n"
    )
    (one,) = split(text + text.partition("\n")[2])
    assert (one.solver, one.banner, one.horizon) == ("cplex", "Log started (V12.8.0.0) Mon Jan  6 2020", 60.0)


def test_names_lose_folder_and_suffixes_whatever_the_system():
    assert [bare_name(path) for path in ("C:\\\\models\\\\a.lp.bz2", "'b.MPS'", ".mps", "x/y/c")] == [
        "a",
        "b",
        None,
        "c",
    ]
    formats = ("opb", "osil", "cnf", "fzn", "pip", "wbo", "zpl", "cip.gz", "OPB.gz")
    assert {bare_name(f"models/yard7.{suffix}") for suffix in formats} == {"yard7"}
