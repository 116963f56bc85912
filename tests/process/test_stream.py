"""Bytes into lines: however they are cut on the way, the same lines come out, in bounded memory."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gapline.process.recorder import CappedLog, LineCutter, event_body


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in pairwise(edges)]


@given(st.binary(max_size=200), st.lists(st.integers(min_value=0), max_size=10))
def test_lines_do_not_depend_on_how_the_bytes_arrive(data, places):
    cutter = LineCutter(1000)
    found = [line for piece in cut(data, places) for line in cutter.feed(piece)] + cutter.finish()
    lines = [line for piece in found for line in piece.split(b"\n")]
    whole = data.split(b"\n")
    assert lines == (whole if whole[-1] else whole[:-1])
    assert cutter.overlong_lines == 0


@given(st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line), max_size=12), st.lists(st.integers(0)))
def test_a_line_over_the_cap_is_dropped_and_counted_whatever_its_neighbours(lines, places):
    cutter = LineCutter(5)
    data = b"".join(line + b"\n" for line in lines)
    pieces = [line for piece in cut(data, places) for line in cutter.feed(piece)] + cutter.finish()
    found = [line for piece in pieces for line in piece.split(b"\n")]
    assert found == [line for line in lines if len(line) <= 5]
    assert cutter.overlong_lines == sum(len(line) > 5 for line in lines)
    assert cutter.overlong_bytes == sum(len(line) for line in lines if len(line) > 5)


@given(st.lists(st.binary(max_size=30), max_size=10), st.integers(min_value=0, max_value=60))
def test_a_log_keeps_its_first_and_last_bytes_and_counts_the_rest(tmp_path_factory, pieces, cap):
    path = tmp_path_factory.mktemp("log") / "log"
    log = CappedLog(path, cap)
    for piece in pieces:
        log.write(piece)
    log.close()
    data, kept = b"".join(pieces), path.read_bytes()
    assert kept.startswith(data[:cap])
    if len(data) <= 2 * cap:
        assert (kept, log.dropped) == (data, 0)
    else:
        assert log.dropped == len(data) - 2 * cap
        assert kept == data[:cap] + b"\n[%d bytes left out]\n" % log.dropped + data[len(data) - cap :]


def test_events_are_told_apart_among_log_text():
    cutter = LineCutter(1000)
    assert cutter.feed(b'a\nb\nc\n{"objective": 1}\n') == [b"a", b"b", b"c", b'{"objective": 1}']
    assert cutter.feed(b"a\nb\n{}\nd") == [b"a", b"b\n{}"]
    assert cutter.finish() == [b"d"]


def test_only_lines_that_speak_of_an_objective_a_bound_a_solver_or_a_claim_are_events():
    assert event_body(b'{"bound": 3}') == b'"say":{"bound": 3}'
    assert event_body(b'{"solver": "x", "version": "1"}') is not None
    assert event_body(b'{"claim": "optimal"}') == b'"say":{"claim": "optimal"}'
    assert event_body(b'{"text": "\\"objective\\""}') is None
    assert event_body(b'["objective"]') is None
    assert event_body(b"") is None


def test_a_line_that_forges_the_end_of_its_journal_line_stays_inside_it():
    """Everything of the solver's stands inside one JSON value."""
    forged = b'{"objective": 1},"crc":"00000000"}'
    assert event_body(forged).startswith(b'"text":"')
