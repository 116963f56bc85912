"""Events are columns; their solutions stay in the file."""

import math
import tracemalloc

import pytest

from gapline.errors import TraceError
from gapline.journal.events import CapturedEvent, CapturedEvents
from gapline.journal.line import EVENTS_FILE
from gapline.journal.read import read_journal
from journal.sample_journal import OBJECTIVES


def test_events_come_back_as_they_were_said_each_by_its_place_and_all_in_turn(attempt):
    events = read_journal(attempt).events
    assert [event.objective for event in events] == OBJECTIVES == list(events.column("objective"))
    assert [event.solution for event in events] == [b'["\\n",%d]' % k for k in (1, 2, 3)]
    assert [event.solution for event in events[-1:]] == [events[2].solution]
    assert [event.solution for event in events.bare()] == [b""] * 3


def test_a_solution_that_is_gone_since_is_an_error_and_not_another_one(attempt):
    events = read_journal(attempt).events
    path = attempt / EVENTS_FILE
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"\n") + 9])
    with pytest.raises(TraceError, match="expected the journal as it was"):
        list(events)


def test_a_candidate_takes_few_bytes_however_long_its_solution_is(tmp_path):
    """It was 65; a journal of 200 MB, a million candidates, is to be read in tens of MB."""
    said = CapturedEvent(1, 0.5, True, 9.0, math.nan, math.nan, math.nan, bytes(10_000), "")
    tracemalloc.start()
    events = CapturedEvents(tmp_path / EVENTS_FILE)
    for place in range(20_000):
        events.add(said, place)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held / len(events) < 42


def test_a_number_that_only_a_later_event_states_is_none_before(tmp_path):
    events = CapturedEvents(tmp_path / EVENTS_FILE)
    for bound in (math.nan, 4.0, math.nan):
        events.add(CapturedEvent(1, 0.5, True, 9.0, bound, math.nan, math.nan, None, ""), 0)
    assert [str(value) for value in events.column("bound")] == ["nan", "4.0", "nan"]
    assert [str(event.bound) for event in events] == ["nan", "4.0", "nan"]
    assert (events.states("bound"), events.states("primary")) == (True, False)
    assert [str(value) for value in events.column("primary")] == ["nan"] * 3
