import pytest

from gapline.errors import TraceError
from gapline.logs.reader import LogFile
from gapline.logs.readers.hgs import READER
from gapline.testing.readers import ReaderConformance

LOG = b"""X-n5-k2.vrp;7;17478;0.006201
X-n5-k2.vrp;7;17400.5;0.9
X-n5-k2.vrp;7;17400.5;2.5
"""


class TestHgs(ReaderConformance):
    reader = READER
    path = "X-n5-k2.PG.csv"
    sample = LOG
    candidates = ((0.006201, 17478.0), (0.9, 17400.5), (2.5, 17400.5))


def read(data: bytes):
    return READER.read(LogFile("a.PG.csv", data))


def test_rows_name_instance_and_seed_and_the_clock_is_cpu():
    (run,) = read(LOG).runs
    assert (run.arm, run.instance, run.seed, run.clock, run.status) == (None, "X-n5-k2", 7, "cpu", "unknown")


def test_folders_are_not_part_of_the_name():
    assert read(b"data/CVRP/A.vrp;1;5;0.1\n").runs[0].instance == "A"


def test_several_runs_in_one_file():
    runs = read(LOG + b"X-n5-k2.vrp;8;100;0.5\nB.vrp;8;90;0.5\n").runs
    assert [(run.instance, run.seed, len(run.time)) for run in runs] == [
        ("X-n5-k2", 7, 3), ("X-n5-k2", 8, 1), ("B", 8, 1),
    ]  # fmt: skip


def test_a_run_appended_again_is_another_run():
    assert [len(run.time) for run in read(LOG + LOG).runs] == [3, 3]


def test_a_torn_last_line_is_not_believed():
    found = read(LOG + b"X-n5-k2.vrp;7;174")
    assert found.runs[0].objective.tolist()[-1] == 17400.5
    assert len(found.problems) == 1
    found = read(LOG + b"X-n5-k2.vrp;7;17000;3")
    assert len(found.runs[0].time) == 3
    assert found.runs[0].status == "killed"


def test_a_decimal_comma_is_rejected_not_read_as_thousands():
    found = read(b"A.vrp;1;5,5;0.1\nA.vrp;1;5;0.2\n")
    assert found.runs[0].verdict.tolist() == [0, 1]
    assert found.runs[0].reason == ["objective not a number", ""]


def test_lines_of_another_shape_are_problems():
    found = read(LOG + b"garbage\n")
    assert found.problems == ["a.PG.csv:4: expected instance;seed;cost;time, got 'garbage'"]
    with pytest.raises(TraceError, match="expected lines instance;seed;cost;time, got 'garbage'"):
        read(b"garbage\n")
