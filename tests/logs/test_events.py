"""Events are the same whether they are in memory or wait on disk."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.logs import events as events_module
from gapline.logs.events import Event, EventList, Reasons

EVENTS = st.lists(
    st.builds(
        Event,
        st.floats(0, 9),
        st.floats(-9, 9),
        st.floats(-1, 1),
        st.sampled_from(["", "late", "heavy"]),
        st.integers(0, 3),
    ),
    max_size=20,
)
NAMES = ("time", "objective", "verdict", "bound")


def filled(events, most, monkeypatch):
    monkeypatch.setattr(events_module, "IN_MEMORY", most)
    found = EventList([])
    for event in events:
        found.append(event)
    return found


@given(EVENTS)
def test_columns_do_not_depend_on_where_they_wait(events):
    with pytest.MonkeyPatch.context() as patch:
        plain = filled(events, 10**9, patch)
        for most in (1, 3):
            away = filled(events, most, patch)
            assert len(away) == len(events)
            for name in NAMES:
                np.testing.assert_array_equal(away.rows()[name], plain.rows()[name])
                assert list(away.values(name)) == list(plain.values(name))
            mine, others = away.columns(), plain.columns()
            assert mine.keys() == others.keys()
            assert list(mine.get("reason", ())) == list(others.get("reason", ()))
            assert list(away) == list(plain) == events
            assert [away[place] for place in range(len(events))] == events
            if events:
                # One may be looked at and changed wherever it lies, and nothing is lost by it.
                new = Event(1.0, 2.0, math.inf, "new", 1)
                away[0] = new
                away.append(events[0])
                assert away[0] == new
                assert list(away) == [new, *events[1:], events[0]]


def test_events_go_on_after_a_column_was_looked_at(monkeypatch):
    events = filled([Event(1.0, 5.0, 0.0), Event(2.0, 4.0, 0.0)], 2, monkeypatch)
    assert events.rows()["time"].tolist() == [1.0, 2.0]
    events.append(Event(3.0, 3.0, 0.0, "x"))
    assert events.rows()["time"].tolist() == [1.0, 2.0, 3.0]
    events.append(Event(4.0, 2.0, 0.0))
    assert events.rows()["time"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert list(events.columns()["reason"]) == ["", "", "x", ""]


def test_reasons_are_a_sequence_of_their_names():
    reasons = Reasons(np.array([0, 1, 0]), ["", "late", "never"])
    assert (len(reasons), reasons[1], reasons[1:]) == (3, "late", ["late", ""])
    assert "late" in reasons
    assert "never" not in reasons
    assert reasons == ["", "late", ""]


@pytest.mark.parametrize("most", [1, 3, 10**9])
def test_valid_candidates_in_bulk_are_as_if_they_came_one_by_one(most, monkeypatch):
    time, objective = np.arange(7.0), 9 - np.arange(7.0)
    one_by_one = filled([Event(t, z) for t, z in zip(time, objective, strict=True)], most, monkeypatch)
    bulk = filled([], most, monkeypatch)
    for part in (slice(0, 2), slice(2, 2), slice(2, 7)):
        bulk.add_valid(time[part], objective[part])
    assert bulk.columns().keys() == {"time", "objective", "verdict"}
    for name in NAMES:
        np.testing.assert_array_equal(bulk.rows()[name], one_by_one.rows()[name])


def test_an_event_on_disk_is_set_where_it_lies(monkeypatch):
    events = filled([Event(float(k), 5.0) for k in range(5)], 2, monkeypatch)
    events[1] = Event(1.5, 4.0, 3.0, "late", 0)
    events[4] = Event(9.0, 3.0, 2.0)
    assert isinstance(events.columns()["time"], np.memmap)
    assert events.rows()["time"].tolist() == [0.0, 1.5, 2.0, 3.0, 9.0]
    assert events.rows()["verdict"].tolist() == [1, 0, 1, 1, 1]
    assert list(events.columns()["reason"]) == ["", "late", "", "", ""]
