"""Where each solve of a text begins, who it is, and what its header states."""

from gapline.capture.readers.mip_solves import bare_name, split_solves


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


def test_names_lose_folder_and_suffixes_whatever_the_system():
    assert [bare_name(path) for path in ("C:\\\\models\\\\a.lp.bz2", "'b.MPS'", ".mps", "x/y/c")] == [
        "a",
        "b",
        None,
        "c",
    ]
