import pytest

from gapline.errors import TraceError
from gapline.logs.reader import LogFile
from gapline.logs.readers.lkh import CLOCK, PENALISED, PENALTY_RULE, READER
from gapline.testing.readers import ReaderConformance

LOG = b"""PARAMETER_FILE = pars/X-n5.par
PROBLEM_FILE = data/X-n5-k2.vrp
RUNS = 2
SEED = 4
TIME_LIMIT = 60
Reading PROBLEM_FILE: "data/X-n5-k2.vrp" ... done
Preprocessing time = 0.20 sec.
* 1: Cost = 12_27700, Gap = 0.3951%, Time = 0.01 sec.
* 2: Cost = 0_27650, Gap = 0.2138%, Time = 0.05 sec.
* 9: Cost = 0_27591, Gap = 0.0000%, Time = 1.40 sec. =
Run 1: Cost = 0_27591, Gap = 0.0000%, Time = 2.00 sec. =

* 1: Cost = 0_27600, Gap = 0.0326%, Time = 0.02 sec.
Run 2: Cost = 0_27600, Gap = 0.0326%, Time = 2.10 sec.
Successes/Runs = 1/2
"""


class TestLkh(ReaderConformance):
    reader = READER
    path = "lkh.log"
    sample = LOG
    runs = 2
    candidates = ((0.05, 27650.0), (1.40, 27591.0))


def read(data: bytes):
    return READER.read(LogFile("lkh.log", data))


def test_time_restarts_in_every_run_and_the_seed_counts_up():
    first, second = read(LOG).runs
    assert (first.seed, second.seed) == (4, 5)
    assert second.time.tolist() == [0.02]
    assert (first.instance, first.horizon, first.clock, first.resolution) == ("X-n5-k2", 60.0, "cpu", 0.01)
    assert first.carried == {"preprocessing": 0.2}
    assert [first.status, second.status] == ["finished", "finished"]


def test_a_penalty_above_0_is_invalid():
    found = read(LOG)
    assert found.runs[0].verdict.tolist() == [0, 1, 1]
    assert found.runs[0].reason[0] == PENALISED
    assert found.runs[0].objective.tolist()[0] == 27700.0
    assert found.notes == [CLOCK, PENALTY_RULE]


def test_a_plain_tsp_prints_no_penalty():
    (run,) = read(b"* 1: Cost = 7542, Gap = 0.0000%, Time = 0.00 sec. =\nRun 1: Cost = 7542, Time = 0.10 sec.\n").runs
    assert (run.objective.tolist(), run.verdict.tolist(), run.seed) == ([7542.0], [1], None)


def test_a_gap_is_not_printed_where_no_optimum_is_known():
    (run,) = read(b"* 1: Cost = 0_7542, Time = 0.00 sec.\n").runs
    assert run.objective.tolist() == [7542.0]


def test_a_killed_log_keeps_the_open_run():
    runs = read(LOG[: LOG.index(b"Run 2")]).runs
    assert [(run.status, len(run.time)) for run in runs] == [("finished", 3), ("killed", 1)]


def test_a_run_that_hits_the_time_limit_says_so():
    log = LOG.replace(b"Run 1:", b"*** Time limit exceeded ***\nRun 1:")
    assert [run.status for run in read(log).runs] == ["time-limit", "finished"]


def test_a_torn_improvement_is_a_problem():
    found = read(LOG[: LOG.index(b" sec. =\nRun 1")])
    assert found.runs[0].objective.tolist() == [27700.0, 27650.0]
    assert found.problems[0].startswith("lkh.log:10: expected Cost and Time of an improvement, got ")


def test_a_header_without_runs_is_an_empty_killed_run():
    (run,) = read(LOG[: LOG.index(b"* 1")]).runs
    assert (run.instance, run.status, len(run.time)) == ("X-n5-k2", "killed", 0)


def test_concatenated_logs_start_over():
    runs = read(LOG + LOG.replace(b"X-n5-k2", b"Y").replace(b"TIME_LIMIT = 60\n", b"")).runs
    assert [(run.instance, run.seed, run.horizon) for run in runs] == [
        ("X-n5-k2", 4, 60.0), ("X-n5-k2", 5, 60.0), ("Y", 4, None), ("Y", 5, None),
    ]  # fmt: skip


def test_other_text_is_refused():
    with pytest.raises(TraceError, match="expected lines of LKH"):
        read(b"hello\n")


def test_scaled_costs_are_said():
    log = LOG.replace(b"SEED = 4", b"SCALE = 100\nSEED = 4")
    assert "LKH: SCALE = 100: costs are as printed, that many times the distances" in read(log).notes
    assert not any("SCALE" in note for note in read(log.replace(b"= 100", b"= 1")).notes)


def test_a_run_may_end_better_than_its_last_improvement():
    merged = (
        b"  Merged with 1: Cost = 0_27540, Gap = -0.1848%\nRun 2: Cost = 0_27540, Gap = -0.1848%, Time = 2.10 sec. <"
    )
    first, second = read(LOG.replace(b"Run 2: Cost = 0_27600, Gap = 0.0326%, Time = 2.10 sec.", merged)).runs
    assert first.objective.tolist() == [27700.0, 27650.0, 27591.0]
    assert (second.time.tolist(), second.objective.tolist()) == ([0.02, 2.1], [27600.0, 27540.0])
    (alone,) = read(LOG[: LOG.index(b"* 1")] + b"Run 1: Cost = 0_27591, Time = 2.00 sec.\n").runs
    assert (alone.time.tolist(), alone.status) == ([2.0], "finished")
