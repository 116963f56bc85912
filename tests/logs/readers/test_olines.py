import pytest

from gapline.errors import TraceError
from gapline.logs.reader import LogFile
from gapline.logs.readers.olines import READER, RISING
from gapline.testing.readers import ReaderConformance

LOG = b"""c a solver
c Got one! Elapsed wall clock time (in seconds):0.214
o 6288
c Got one! Elapsed wall clock time (in seconds):1.5
o 6100
v x1 -x2
s OPTIMUM FOUND
"""
RUNSOLVER = b"""0.10/0.12\tc a solver
0.21/0.25\to 6288
0.90/1.50\to 6100
0.95/1.60\ts SATISFIABLE
"""


class TestComments(ReaderConformance):
    reader = READER
    path = "solver.out"
    sample = LOG
    candidates = ((0.214, 6288.0), (1.5, 6100.0))


class TestRunsolver(ReaderConformance):
    reader = READER
    path = "solver.out"
    sample = RUNSOLVER
    candidates = ((0.25, 6288.0), (1.5, 6100.0))


def read(data: bytes):
    return READER.read(LogFile("solver.out", data))


def test_runsolver_stamps_are_wall_seconds():
    (run,) = read(RUNSOLVER).runs
    assert (run.clock, run.resolution, run.status) == ("wall", 0.01, "finished")


def test_a_comment_may_give_cpu_time():
    (run,) = read(b"c CPU time: 2.5 s\no 7\ns SATISFIABLE\n").runs
    assert (run.clock, run.time.tolist()) == ("cpu", [2.5])


def test_a_value_without_a_stamp_is_a_counted_rejection_never_time_0():
    found = read(b"o 7\nc time 2.0\no 6\no 5\ns SATISFIABLE\n")
    (run,) = found.runs
    assert run.verdict.tolist() == [0, 1, 0]
    assert run.reason == ["time missing", "", "time missing"]
    assert len(found.problems) == 2


def test_no_status_line_means_killed():
    assert read(LOG[: LOG.index(b"s OPT")]).runs[0].status == "killed"


def test_unknown_without_a_value_is_an_empty_run():
    (run,) = read(b"c nothing found\ns UNKNOWN\n").runs
    assert (len(run.time), run.status) == (0, "unknown")


def test_a_torn_value_is_not_believed():
    found = read(LOG[: LOG.index(b"00\nv")])
    assert found.runs[0].objective.tolist() == [6288.0]
    assert found.problems == ["solver.out:5: expected a whole line, got 'o 61' where the file ends"]


def test_concatenated_logs_are_several_runs():
    assert [len(run.time) for run in read(LOG + LOG).runs] == [2, 2]
    # Killed solves print no status: the clock of the next one starts again.
    killed = b"0.10/0.12\to 9\n0.90/5.00\to 7\n"
    found = read(killed + killed.replace(b"9", b"8"))
    assert [run.objective.tolist() for run in found.runs] == [[9.0, 7.0], [8.0, 7.0]]
    assert [run.status for run in found.runs] == ["killed", "killed"]


def test_other_text_is_refused():
    with pytest.raises(TraceError, match="expected lines such as `o 6288`"):
        read(b"hello\n")


def test_the_sense_is_what_the_values_show():
    assert read(LOG).runs[0].sense == "min"
    rising = read(b"c time 1\no 5\nc time 2\no 7\ns SATISFIABLE\n")
    assert (rising.runs[0].sense, rising.notes) == ("max", [RISING])
    both = b"c time 1\no 5\nc time 2\no 7\nc time 3\no 6\ns SATISFIABLE\n"
    assert [read(text).runs[0].sense for text in (both, b"c time 1\no 5\n")] == [None, None]


@pytest.mark.parametrize(
    "text",
    [
        b"c Choco\no 91 0.4\no 88 12.0\ns OPTIMUM FOUND\n",
        b"\x1b[92mo 91\x1b[0m   0.4\n\x1b[92mo 88\x1b[0m   12.0  dist=3\n\n\x1b[92ms OPTIMUM FOUND\x1b[0m\n",
    ],
    ids=["choco", "ace in colours"],
)
def test_seconds_may_stand_behind_the_value(text):
    (run,) = read(text).runs
    assert READER.looks_like("solver.out", LogFile("solver.out", text).head)
    assert (run.time.tolist(), run.objective.tolist()) == ([0.4, 12.0], [91.0, 88.0])
    assert (run.clock, run.resolution, run.status) == ("wall", 0.1, "finished")


def test_what_stands_behind_a_value_and_is_no_time_is_said():
    found = read(b"o 91 (best)\ns SATISFIABLE\n")
    assert found.problems == ["solver.out:1: expected a time of 0 or more, got '(best)' (time not a number)"]
    assert found.runs[0].verdict.tolist() == [0]


STATUS_FIRST = b"0.1/0.2\ts OPTIMUM FOUND\n0.1/0.3\to 7\n0.1/0.3\tv 1 -2\n"


def test_the_value_may_follow_the_status():
    (run,) = read(STATUS_FIRST).runs
    assert (run.time.tolist(), run.objective.tolist(), run.status) == ([0.3], [7.0], "finished")
    assert [run.objective.tolist() for run in read(STATUS_FIRST + STATUS_FIRST).runs] == [[7.0], [7.0]]


def test_a_first_status_may_be_followed_by_values_and_a_last_status():
    text = b"0.1/0.2\ts SATISFIABLE\n0.1/0.3\to 9\n0.4/0.5\to 7\n0.6/0.7\ts OPTIMUM FOUND\n"
    assert [run.objective.tolist() for run in read(text + text).runs] == [[9.0, 7.0], [9.0, 7.0]]
    again = text[: text.index(b"0.6")] * 2
    assert [run.objective.tolist() for run in read(again).runs] == [[9.0, 7.0], [9.0, 7.0]]


@pytest.mark.parametrize(("word", "runs"), [("UNSATISFIABLE", [0, 1]), ("UNSUPPORTED", [0, 1]), ("UNKNOWN", [1])])
def test_no_value_belongs_to_a_status_that_excludes_one(word, runs):
    found = read(f"s {word}\nc time 2.0\no 5\n".encode())
    assert [len(run.time) for run in found.runs] == runs
    assert [len(run.time) for run in read(f"s {word}\ns {word}\n".encode()).runs] == [0, 0]
