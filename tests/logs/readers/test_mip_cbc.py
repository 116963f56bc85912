"""CBC as a library, several solves of one session, and a model that is maximised: what the log says about the MIP."""

import pytest

from foreign_logs import bounds, candidates, read_log, read_or_refuse
from gapline.logs.readers.mip import READER
from gapline.testing.readers import check_variants

RELAXATION = """Starting solution of the Linear programming relaxation problem using Primal Simplex

Coin0506I Presolve 413 (0) rows, 105 (0) columns and 1106 (0) elements
Clp0006I 0  Obj 0 Primal inf 13.999999 (14)
Clp0000I Optimal - objective value 2.125
Clp0032I Optimal objective 2.125 - 57 iterations time 0.002
"""
FOUND = """
Starting MIP optimization
Cgl0004I processed model has 152 rows, 105 columns (105 integer (105 of which binary)) and 657 elements
Cbc0038I Pass   1: suminf.    0.00000 (0) obj. 4 iterations 84
Cbc0038I Solution found of 4
Cbc0012I Integer solution of 5 found by DiveCoefficient after 0 iterations and 0 nodes (0.01 seconds)
Cbc0012I Integer solution of 4 found by feasibility pump after 0 iterations and 0 nodes (0.03 seconds)
"""
COMPLETED = "Cbc0001I Search completed - best objective 4, took 0 iterations and 0 nodes (0.05 seconds)\n"
PARTIAL = (
    "Cbc0020I Exiting on maximum time\n"
    "Cbc0005I Partial search - best objective 4 (best possible 3), took 9 iterations and 2 nodes (1.05 seconds)\n"
)
PROOFS = (b"Cbc0001I Search completed", b"Result - Optimal")
NODES = PARTIAL.replace("Cbc0020I Exiting on maximum time", "Cbc0003I Exiting on maximum nodes")
TOTAL = "\nTotal time (CPU seconds):       0.06   (Wallclock seconds):       0.08\n"
BANNER = "Welcome to the CBC MILP Solver \nVersion: Trunk\nBuild Date: Oct 24 2021 \n\n"
LIBRARY = BANNER + RELAXATION + FOUND
BOTH = [(0.01, 5.0), (0.03, 4.0)]


@pytest.mark.parametrize(
    ("text", "incumbents", "last_bound", "status", "claim"),
    [
        (BANNER + RELAXATION, [], None, "killed", None),
        (BANNER + RELAXATION + TOTAL, [], None, "killed", None),
        (BANNER + RELAXATION + FOUND, BOTH, None, "killed", None),
        (BANNER + RELAXATION + FOUND + COMPLETED, BOTH, (0.05, 4.0), "finished", "optimal"),
        (BANNER + RELAXATION + FOUND + COMPLETED + TOTAL, BOTH, (0.06, 4.0), "finished", "optimal"),
        (RELAXATION + FOUND + COMPLETED, BOTH, (0.05, 4.0), "finished", "optimal"),
        (BANNER + RELAXATION + FOUND + PARTIAL + TOTAL, BOTH, (0.06, 3.0), "time-limit", None),
        (BANNER + RELAXATION + FOUND + NODES, BOTH, (1.05, 3.0), "finished", None),
        # The gap that is left is stated before the end.
        (
            BANNER + RELAXATION + FOUND + "Cbc0011I Exiting as integer gap of 1.5 less than 1e-10 or 50%\n" + COMPLETED,
            BOTH,
            (0.05, 2.5),
            "finished",
            "optimal",
        ),
        # CBC says 1e+50 where it found nothing.
        (
            BANNER + RELAXATION + FOUND.partition("Cbc0038I")[0] + COMPLETED.replace(" 4,", " 1e+50,"),
            [],
            None,
            "finished",
            None,
        ),
    ],
)
def test_as_a_library_the_lines_about_the_mip_count_and_those_about_its_relaxation_do_not(
    text, incumbents, last_bound, status, claim
):
    """The root LP was taken for the final objective: 2.125 colours, and called optimal."""
    found = read_log(READER, text)
    (run,) = found.runs
    assert READER.looks_like("run.log", text.encode())
    assert candidates(run) == incumbents
    assert (bounds(run) or [None])[-1] == last_bound
    assert (run.status, run.carried["claim"], list(found.problems)) == (status, claim, [])


@pytest.mark.parametrize("end", [COMPLETED + TOTAL, PARTIAL + TOTAL, NODES])
def test_no_variant_has_a_better_value_or_claims_more(end):
    check_variants(read_or_refuse(READER), (LIBRARY + end).encode(), PROOFS)


def test_the_end_of_the_search_has_more_digits_than_its_rows():
    text = BANNER + FOUND.replace("of 4 found", "of 2780494.7 found") + COMPLETED.replace(" 4,", " 2780494.716351562,")
    assert candidates(read_log(READER, text).runs[0])[-1] == (0.03, 2780494.716351562)


def test_the_clock_is_that_of_the_processor_unless_the_log_says_otherwise():
    text = BANNER + RELAXATION + "seconds was changed from 1e+100 to 60\n" + FOUND + COMPLETED + TOTAL
    (run,) = read_log(READER, text).runs
    assert (run.clock, run.horizon, bounds(run)[-1][0]) == ("cpu", 60.0, 0.06)
    text = text.replace("seconds was", "Option for timeMode changed from cpu to elapsed\nseconds was")
    (run,) = read_log(READER, text).runs
    assert (run.clock, bounds(run)[-1][0]) == ("wall", 0.08)


SESSION = """Welcome to the CBC MILP Solver 
Version: 2.10.8 
Build Date: May  9 2022 

CoinSolver takes input from arguments ( - switches to stdin)
Coin:Continuous objective value is 841.97 - 0.00 seconds
Cbc0012I Integer solution of -811 found by feasibility pump after 0 iterations and 0 nodes (0.02 seconds)
Cbc0001I Search completed - best objective -811, took 1646 iterations and 26 nodes (0.15 seconds)

Result - Optimal solution found

Objective value:                811.00000000
Enumerated nodes:               26
Total iterations:               1646
Time (CPU seconds):             0.15
Time (Wallclock seconds):       0.18

Coin:Coin:Continuous objective value is 1784 - 0.00 seconds
Cbc3007W No integer variables - nothing to do

Result - Optimal solution found

Objective value:                1784.00000000
Time (CPU seconds):             0.01
Time (Wallclock seconds):       0.01

Coin:Total time (CPU seconds):       0.16   (Wallclock seconds):       0.19
"""  # noqa: W291 - as the solver prints it


def test_several_solves_of_one_file_are_several_runs():
    library = RELAXATION + FOUND + COMPLETED + TOTAL
    found = read_log(READER, BANNER + library + library.replace("of 4 found", "of 3 found").replace(" 4,", " 3,"))
    assert [candidates(run)[-1] for run in found.runs] == [(0.03, 4.0), (0.03, 3.0)]
    found = read_log(READER, SESSION)
    assert [(run.arm, run.where, candidates(run)) for run in found.runs] == [
        ("cbc-2.10.8", "solve 1", [(0.02, 811.0)]),
        ("cbc-2.10.8", "solve 2", [(0.01, 1784.0)]),
    ]


def test_the_solves_of_a_session_that_reads_several_models_do_not_share_the_name_of_the_first():
    command = "command line - cbc a.lp -sec 9 -solve -import runs/b.lp -solve (default strategy 1)\n"
    found = read_log(READER, SESSION.replace("CoinSolver takes", f"{command}CoinSolver takes"))
    assert [run.instance for run in found.runs] == ["a", None]
    alone = command.replace("-import runs/b.lp", "")
    found = read_log(READER, SESSION.replace("CoinSolver takes", f"{alone}CoinSolver takes"))
    assert [run.instance for run in found.runs] == ["a", "a"]


ROWS = """Cbc0012I Integer solution of -798 found by rounding after 0 iterations and 0 nodes (0.01 seconds)
Cbc0012I Integer solution of -811 found by feasibility pump after 0 iterations and 0 nodes (0.02 seconds)
Cbc0010I After 0 nodes, 1 on tree, -811 best solution, best possible -831.77229 (0.11 seconds)
"""
COMMAND = "Welcome to the CBC MILP Solver \nVersion: 2.10.8 \n\ncommand line - cbc knap.lp{} (default strategy 1)\n"
CONTINUOUS = "Continuous objective value is 841.97 - 0.00 seconds\n"
READ_LP = " CoinLpIO::readLp(): Maximization problem reformulated as minimization\n"


@pytest.mark.parametrize(
    "head",
    [
        COMMAND.format(" -max -sec 60 -solve"),
        COMMAND.format(" --maximize -solve") + CONTINUOUS,
        COMMAND.format(" max branch printingOptions all"),
        COMMAND.format(" -solve") + READ_LP,
        # No incumbent of a model that is minimised is below its relaxation.
        COMMAND.format(" -solve") + CONTINUOUS,
    ],
)
@pytest.mark.parametrize("lines", [1, 2, 3])
def test_a_maximisation_that_was_cut_off_says_so_in_its_header(head, lines):
    (run,) = read_log(READER, head + "".join(ROWS.splitlines(keepends=True)[:lines])).runs
    assert (run.sense, run.guessed, run.status) == ("max", False, "killed")
    assert candidates(run) == [(0.01, 798.0), (0.02, 811.0)][: min(lines, 2)]
    assert bounds(run) == [(0.11, 831.77229)][: lines // 3]


def test_rows_that_are_printed_in_the_sense_of_the_model_keep_their_sign():
    """As some versions do: the bound is above the incumbents, which rise."""
    rows = ROWS.replace("-811", "-787").replace("-831.77229", "-653.5")
    head = COMMAND.format(" -max -solve") + CONTINUOUS.replace("841.97", "-653.74")
    for lines in (1, 2, 3):
        (run,) = read_log(READER, head + "".join(rows.splitlines(keepends=True)[:lines])).runs
        assert (run.sense, candidates(run)) == ("max", [(0.01, -798.0), (0.02, -787.0)][: min(lines, 2)])


@pytest.mark.parametrize("option", ["-maxNodes 5", "-maxSo 1", "-sec 20"])
def test_other_options_do_not_maximise(option):
    (run,) = read_log(READER, COMMAND.format(f" {option} -solve") + ROWS).runs
    assert (run.sense, candidates(run)[-1]) == ("min", (0.02, -811.0))


def test_the_search_of_a_heuristic_says_nothing_about_the_mip():
    """At high log levels it prints values, bounds and an end of its own, on a part of the model."""
    inner = (
        "Cbc0028I Starting sub-tree for CbcHeuristicRINS - maximum nodes 200\n"
        "Cbc0010I After 0 nodes, 1 on tree, 1e+50 best solution, best possible 3.9 (0.03 seconds)\n"
        "Cbc0001I Search completed - best objective 4, took 37 iterations and 18 nodes (0.03 seconds)\n"
    )
    (run,) = read_log(READER, BANNER + RELAXATION + FOUND + inner).runs
    assert (candidates(run), bounds(run), run.status, run.carried["claim"]) == (BOTH, [], "killed", None)
    (run,) = read_log(READER, BANNER + RELAXATION + FOUND + inner + PARTIAL).runs
    assert (bounds(run), run.status) == ([(1.05, 3.0)], "time-limit")
