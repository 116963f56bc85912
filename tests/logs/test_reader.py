"""What a reader gives back: runs that can be named, problems that are counted, parts that are numbered."""

from contextlib import nullcontext

import pytest

from gapline.errors import TraceError
from gapline.files.open_file import VARIABLE
from gapline.logs.reader import Found, FoundRun, LogFile, Problems


def test_a_named_run_carries_its_clock_and_keeps_its_events():
    run = FoundRun([1.0], [9.0], instance="log's own", clock="cpu", resolution=0.01, carried={"nodes": 3}, bound=[8.0])
    named = run.named(arm="a", instance="i", seed=4, panel=None)
    assert (named.arm, named.instance, named.seed, named.panel) == ("a", "i", 4, None)
    assert named.carried == {"clock": "cpu", "resolution": 0.01, "validation": "solver", "nodes": 3}
    assert (named.time, named.objective, named.bound) == ([1.0], [9.0], [8.0])
    assert run.instance == "log's own"


def test_problems_beyond_a_thousand_are_counted_and_not_kept():
    found = Found()
    for number in range(Problems.most + 5):
        found.refuse(f"a.log:{number}", "a number", "x")
    assert found.problems[0] == "a.log:0: expected a number, got 'x'"
    assert (len(found.problems), found.problem_count) == (1000, 1005)


def test_a_torn_line_says_that_the_file_ends_there():
    found = Found()
    found.refuse_torn("a.log:9", b"o 12")
    assert found.problems == ["a.log:9: expected a whole line, got 'o 12' where the file ends"]


def test_parts_are_numbered_where_there_are_several():
    one, two = FoundRun([], []), FoundRun([], [])
    assert [run.where for run in Found([one]).numbered().runs] == [""]
    assert [run.where for run in Found([one, two]).numbered("solve").runs] == ["solve 1", "solve 2"]


def test_a_log_by_itself_has_nothing_beside_it():
    assert LogFile("a", b"").beside("b") is None


def test_a_companion_is_a_log_or_bytes_however_it_was_given():
    held = LogFile("a", b"", beside={"b": b"1\n2"}.get)
    opened = LogFile("a", b"", companion=lambda name: nullcontext(LogFile(name, b"1\n2") if name == "b" else None))
    for log in (held, opened):
        assert (log.beside("b"), log.beside("c")) == (b"1\n2", None)
        with log.companion("b") as other, log.companion("c") as none:
            assert (list(other.lines()), none) == ([(1, "1"), (2, "2")], None)


def streamed():
    return LogFile("a.log", b"one\ntw", rest=iter([b"o\nth", b"ree\n"]))


def test_the_content_of_a_large_log_is_mapped_and_may_be_looked_at_again():
    log, held = streamed(), LogFile("a.log", b"one\ntwo\nthree\n")
    for until in (None, 8, 0):
        assert log.content(until)[:] == held.content(until)[:] == b"one\ntwo\nthree\n"[:until]
    assert log.file().read(0) == b""
    assert held.file() is None


@pytest.mark.parametrize("look", [lambda log: log.data, lambda log: log.content()], ids=["held", "mapped"])
def test_a_log_that_is_held_or_copied_has_a_limit_that_its_error_names(look, monkeypatch):
    monkeypatch.setenv(VARIABLE, "9")
    with pytest.raises(TraceError, match=r"a\.log: expected at most 9 bytes once unpacked, got more\nHint: GAPLINE_"):
        look(streamed())
    assert [line for _, line in streamed().lines()] == ["one", "two", "three"]
    assert b"".join(streamed().blocks()) == b"one\ntwo\nthree\n"
