import numpy as np
import pytest

from gapline.errors import TraceError
from gapline.logs.reader import LogFile
from gapline.logs.readers.hexaly import LEXICOGRAPHIC, READER
from gapline.testing.readers import ReaderConformance

LOG = b"""Hexaly Optimizer 13.0. All rights reserved.
Run solver...

Model:  expressions = 17, decisions = 8, constraints = 1, objectives = 1
Param:  time limit = 10 sec, no iteration limit, seed = 3

[objective direction ]:     minimize

[  0 sec,       0 itr]: No feasible solution found (infeas = 111)
[  1 sec,  251193 itr]:           70
[  1 sec,  260000 itr]:           68
[  4 sec,  900000 itr]:         61.5
[ optimality gap     ]:        2.50%
1000000 iterations performed in 10 seconds

Feasible solution:
  obj    =         61.5
  gap    =        2.50%
  bounds =           60
"""


class TestHexaly(ReaderConformance):
    reader = READER
    path = "hexaly.log"
    sample = LOG.replace(b"Feasible solution", b"Optimal solution")
    candidates = ((1.0, 70.0), (1.0, 68.0), (4.0, 61.5))
    proofs = (b"Optimal solution",)


def read(data: bytes):
    return READER.read(LogFile("hexaly.log", data))


def test_header_and_whole_seconds():
    (run,) = read(LOG).runs
    assert (run.horizon, run.seed, run.sense, run.resolution, run.status) == (10.0, 3, "min", 3.0, "finished")


def test_infeasible_lines_are_no_candidates_so_that_the_first_incumbent_is_late():
    (run,) = read(LOG).runs
    assert run.time[0] == 1.0


def test_the_final_bound_is_kept_as_a_bound_event():
    (run,) = read(LOG).runs
    assert run.verdict.tolist() == [1, 1, 1, 3]
    assert (run.time[-1], run.bound[-1]) == (10.0, 60.0)
    assert np.isnan(run.bound[:3]).all()


@pytest.mark.parametrize(
    ("word", "claim"),
    [("Optimal", "optimal"), ("Feasible", None), ("Infeasible", None), ("Inconsistent", "infeasible")],
)
def test_what_was_proven_is_kept(word, claim):
    """An infeasible solution is the best that was found; only an inconsistent model has none."""
    (run,) = read(LOG.replace(b"Feasible solution", word.encode() + b" solution")).runs
    assert run.carried.get("claim") == claim


def test_direction_comes_from_the_header():
    assert read(LOG.replace(b"minimize", b"maximize")).runs[0].sense == "max"
    assert read(LOG.replace(b"[objective direction ]:     minimize\n", b"")).runs[0].sense is None


def test_lexicographic_objectives_become_primary_and_secondary():
    log = LOG.replace(b"minimize", b"minimize minimize").replace(b" 70\n", b" 3 70\n").replace(b" 68\n", b" 3 68\n")
    found = read(log.replace(b" 61.5\n[", b" 2 90\n["))
    (run,) = found.runs
    assert run.primary[:3] == [3.0, 3.0, 2.0]
    assert run.secondary[:3] == [70.0, 68.0, 90.0]
    assert run.objective[:3].tolist() == [3.0, 3.0, 2.0]
    assert found.notes == [LEXICOGRAPHIC]
    with pytest.raises(TraceError, match="expected objectives of one direction, got max and min"):
        read(LOG.replace(b"minimize", b"minimize maximize"))


def test_a_killed_log_keeps_its_prefix():
    (run,) = read(LOG[: LOG.index(b"[ optimality gap")]).runs
    assert (run.status, run.objective.tolist()) == ("killed", [70.0, 68.0, 61.5])


def test_a_torn_value_is_not_believed():
    found = read(LOG[: LOG.index(b".5\n[")])
    assert found.runs[0].objective.tolist() == [70.0, 68.0]
    assert found.problems == [
        "hexaly.log:12: expected a whole line, got '[  4 sec,  900000 itr]:         61' where the file ends"
    ]


def test_two_solves_in_one_log_are_two_runs():
    runs = read(LOG + LOG.replace(b"time limit = 10 sec", b"no time limit")).runs
    assert [(run.horizon, len(run.time)) for run in runs] == [(10.0, 4), (None, 4)]
    header = LOG[: LOG.index(b"[  0 sec")]
    assert [(len(run.time), run.status) for run in read(header + LOG).runs] == [(0, "killed"), (4, "finished")]


def test_a_log_without_a_solution_is_an_empty_run():
    (run,) = read(LOG[: LOG.index(b"[  1 sec")]).runs
    assert (len(run.time), run.status) == (0, "killed")


def test_a_decimal_comma_is_rejected():
    (run,) = read(LOG.replace(b"61.5\n[", b"61,5\n[")).runs
    assert run.verdict.tolist()[:3] == [1, 1, 0]


@pytest.mark.parametrize(("stamp", "resolution"), [(b"[  2 sec,  9", 1.0), (b"[ 11 sec,  9", 10.0)])
def test_a_row_may_be_as_old_as_the_distance_of_the_displays(stamp, resolution):
    (run,) = read(LOG.replace(b"[  4 sec,  9", stamp)).runs
    assert run.resolution == resolution
