"""Events are columns; their solutions stay in the file."""

import pytest

from gapline.errors import TraceError
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
