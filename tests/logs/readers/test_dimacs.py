from fractions import Fraction

import numpy as np
import pytest

from gapline.contract.tables import Reason
from gapline.errors import TraceError
from gapline.logs import reader
from gapline.logs.reader import LogFile
from gapline.logs.readers.dimacs import READER, SCALING
from gapline.testing.readers import ReaderConformance
from gapline.traces import blocks

LOG = b"""Instance: C1_4_8
Standardized Time limit: 100 secs
Local Machine Time Limit: 101 secs
Base solution: 1100.000
BKS: 1000.0
Optimal: 1
Competitor: team-a
PassMark Single Thread Benchmark: 1981
Solution value, local machine time, standardized time
1080.0 10.1 10.000
1020.5 50.5 50.000
Primal Integral: 5.1750000000
"""
EMPTY = LOG[: LOG.index(b"1080.0")] + b"Primal Integral: 10.0000000000\n"


class TestDimacs(ReaderConformance):
    reader = READER
    path = "C1_4_8.out"
    sample = LOG
    candidates = ((10.0, 1080.0), (50.0, 1020.5))


def read(data: bytes):
    return READER.read(LogFile("a.out", data))


def test_header_gives_identity_horizon_and_reference():
    found = read(LOG)
    (run,) = found.runs
    assert (run.arm, run.instance, run.seed, run.horizon) == ("team-a", "C1_4_8", None, 100.0)
    assert (run.status, run.clock, run.sense) == ("finished", "wall", "min")
    (reference,) = found.references
    assert (reference.instance, reference.value, reference.certified) == ("C1_4_8", 1000.0, True)


def test_standardized_seconds_are_taken_and_passmark_is_stated_not_applied():
    found = read(LOG)
    assert found.runs[0].time.tolist() == [10.0, 50.0]
    assert found.runs[0].carried == {"passmark": 1981.0, "local_horizon": 101.0}
    assert found.notes == [SCALING]


def test_printed_integral_is_given_on_the_scale_of_the_gap():
    kernel, value = read(LOG).runs[0].stated_integral
    # 10 s at 10 %, 40 s at 8 %, 50 s at 2.05 %
    by_hand = (10 * Fraction(10) + 40 * Fraction(8) + 50 * Fraction(205, 100)) / 100
    assert kernel == "dimacs:1.1"
    assert by_hand == Fraction("5.225")
    assert value == pytest.approx(0.05175)


def test_a_base_solution_other_than_1_1_gives_its_own_threshold():
    other = LOG.replace(b"Base solution: 1100.000", b"Base solution: 1200.000")
    assert read(other).runs[0].stated_integral[0] == "dimacs:1.2"


def test_a_run_without_rows_is_an_empty_run():
    (run,) = read(EMPTY).runs
    assert len(run.time) == 0
    assert run.status == "finished"
    assert run.stated_integral == ("dimacs:1.1", 0.1)


def test_a_killed_run_has_no_last_line_and_keeps_its_prefix():
    cut = LOG[: LOG.index(b"Primal")]
    (run,) = read(cut).runs
    assert (run.status, run.objective.tolist(), run.stated_integral) == ("killed", [1080.0, 1020.5], None)


def test_a_row_cut_in_the_middle_is_not_believed():
    found = read(LOG[: LOG.index(b" 50.5 50")])
    assert found.runs[0].objective.tolist() == [1080.0]
    assert found.problems == ["a.out:11: expected a whole line, got '1020.5' where the file ends"]


def test_an_integral_cut_in_the_middle_is_not_compared():
    found = read(LOG[:-6])
    assert found.runs[0].stated_integral is None
    assert found.runs[0].status == "killed"


def test_a_header_without_its_table_is_a_killed_empty_run():
    (run,) = read(LOG[: LOG.index(b"Solution value")]).runs
    assert (len(run.time), run.status, run.instance) == (0, "killed", "C1_4_8")


def test_optimal_0_is_not_certified():
    assert not read(LOG.replace(b"Optimal: 1", b"Optimal: 0")).references[0].certified


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"1020,5 50.5 50.000", "objective not a number"),
        (b"nan 50.5 50.000", "objective not finite"),
        (b"1e400 50.5 50.000", "objective not finite"),
        (b"1_020 50.5 50.000", "objective not a number"),
        (b"1020.5 50.5 -50.000", "time negative"),
        (b"1020.5 50.5 inf", "time not finite"),
        (b"1020.5 50.5", "row not of three columns"),
    ],
)
def test_a_bad_row_is_rejected_with_its_reason_and_the_others_stay(row, reason):
    found = read(LOG.replace(b"1020.5 50.5 50.000", row))
    (run,) = found.runs
    assert run.verdict.tolist() == [1, 0]
    assert run.reason[1] == reason
    assert len(found.problems) == 1
    assert found.problems[0].startswith("a.out:11: expected ")


def test_concatenated_logs_are_several_runs_and_limits_do_not_leak():
    second = LOG.replace(b"C1_4_8", b"C1_4_9").replace(b"Standardized Time limit: 100 secs\n", b"")
    runs = read(LOG + second + EMPTY).runs
    assert [run.instance for run in runs] == ["C1_4_8", "C1_4_9", "C1_4_8"]
    assert [run.horizon for run in runs] == [100.0, None, 100.0]
    assert [len(run.time) for run in runs] == [2, 2, 0]
    assert [run.where for run in runs] == ["run 1", "run 2", "run 3"]


def test_a_killed_log_before_a_whole_one_keeps_its_rows():
    runs = read(LOG[: LOG.index(b"Primal")] + LOG).runs
    assert [(run.status, len(run.time)) for run in runs] == [("killed", 2), ("finished", 2)]


def test_late_equal_and_unordered_rows_are_kept_for_the_campaign():
    rows = b"1080.0 1 10.000\n1070.0 1 10.000\n1060.0 1 5.000\n900.0 1 100.500\n"
    start, end = LOG.index(b"1080.0"), LOG.index(b"Primal")
    (run,) = read(LOG[:start] + rows + LOG[end:]).runs
    assert run.time.tolist() == [10.0, 10.0, 5.0, 100.5]


def test_bulk_and_careful_parsing_agree():
    bulk = read(LOG).runs[0]
    careful = read(LOG.replace(b"1080.0 10.1", b"+1080.0 10.1")).runs[0]
    assert np.array_equal(bulk.time, careful.time)
    assert np.array_equal(bulk.objective, careful.objective)


def test_another_file_is_refused():
    with pytest.raises(TraceError, match="expected header lines of the DIMACS controller, got 'nothing here'"):
        read(b"nothing here")


def test_a_run_killed_in_its_header_is_not_lost_before_the_next():
    runs = read(LOG[: LOG.index(b"Competitor")] + LOG.replace(b"C1_4_8", b"C1_4_9")).runs
    assert [(run.instance, run.status, len(run.time)) for run in runs] == [
        ("C1_4_8", "killed", 0),
        ("C1_4_9", "finished", 2),
    ]


def test_an_integer_that_no_double_holds_is_refused_in_bulk_too():
    found = read(LOG.replace(b"1020.5", b"9007199254740993"))
    (run,) = found.runs
    assert (run.verdict.tolist(), run.reason[1]) == ([1, 0], Reason.OBJECTIVE_NOT_EXACT.value)
    assert found.problem_count == 1


@pytest.mark.parametrize("size", [1, 20, 60, 1000])
def test_blocks_change_nothing(size, monkeypatch):
    text = LOG.replace(b"1020.5 50.5", b"1050.0 20 20\nodd\n1020.5 50.5") + EMPTY + LOG[:-8]
    whole = read(text)
    monkeypatch.setattr(blocks, "BLOCK", size)
    monkeypatch.setattr(reader, "BLOCK", size)
    cut = read(text)
    assert cut.problems == whole.problems
    for one, other in zip(cut.runs, whole.runs, strict=True):
        assert (one.instance, one.status, one.stated_integral) == (other.instance, other.status, other.stated_integral)
        np.testing.assert_array_equal(one.time, other.time)
        np.testing.assert_array_equal(one.objective, other.objective)
        assert list(one.reason or []) == list(other.reason or [])
