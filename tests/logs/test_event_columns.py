"""Events are the same whether they are in memory or wait on disk."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.logs import event_columns
from gapline.logs.event_columns import EventColumns, Reasons

EVENTS = st.lists(
    st.tuples(
        st.floats(0, 9), st.floats(-9, 9), st.integers(0, 3), st.floats(-1, 1), st.sampled_from(["", "late", "heavy"])
    ),
    max_size=20,
)


def columns(events, most, monkeypatch):
    monkeypatch.setattr(event_columns, "IN_MEMORY", most)
    return EventColumns(events)


@given(EVENTS)
def test_columns_do_not_depend_on_where_they_wait(events):
    with pytest.MonkeyPatch.context() as patch:
        plain = columns(events, 10**9, patch)
        for most in (1, 3):
            away = columns(events, most, patch)
            assert len(away) == len(events)
            for name in ("time", "objective", "verdict", "bound"):
                np.testing.assert_array_equal(away.whole(name), plain.whole(name))
                assert list(away.values(name)) == list(plain.values(name))
            mine, others = away.reasons(), plain.reasons()
            assert (mine is None) == (others is None)
            assert mine is None or list(mine) == others
            assert list(away) == list(plain) == events
            if events:
                assert away.last_time() == plain.last_time() == events[-1][0]
                # Looking at one brings all back, and nothing is lost by it; setting one does not.
                away[0] = (1.0, 2.0, 1, math.inf, "new")
                away.append(events[0])
                assert away[0] == (1.0, 2.0, 1, math.inf, "new")
                del away[0]
                assert list(away) == [*events[1:], events[0]]


def test_events_go_on_after_a_column_was_looked_at(monkeypatch):
    events = columns([(1.0, 5.0, 0, 0.0, ""), (2.0, 4.0, 0, 0.0, "")], 2, monkeypatch)
    assert events.whole("time").tolist() == [1.0, 2.0]
    events.append((3.0, 3.0, 0, 0.0, "x"))
    assert events.whole("time").tolist() == [1.0, 2.0, 3.0]
    events.append((4.0, 2.0, 0, 0.0, ""))
    assert events.whole("time").tolist() == [1.0, 2.0, 3.0, 4.0]
    assert list(events.reasons()) == ["", "", "x", ""]


def test_reasons_are_a_sequence_of_their_names():
    reasons = Reasons(np.array([0, 1, 0]), ["", "late", "never"])
    assert (len(reasons), reasons[1], reasons[1:]) == (3, "late", ["late", ""])
    assert "late" in reasons
    assert "never" not in reasons
    assert reasons == ["", "late", ""]


@pytest.mark.parametrize("most", [1, 3, 10**9])
def test_valid_candidates_in_bulk_are_as_if_they_came_one_by_one(most, monkeypatch):
    time, objective = np.arange(7.0), 9 - np.arange(7.0)
    one_by_one = columns([(t, z, 1, math.nan, "") for t, z in zip(time, objective, strict=True)], most, monkeypatch)
    bulk = columns([], most, monkeypatch)
    for part in (slice(0, 2), slice(2, 2), slice(2, 7)):
        bulk.add_valid(time[part], objective[part])
    assert bulk.reasons() is None
    for name in ("time", "objective", "verdict", "bound"):
        np.testing.assert_array_equal(bulk.whole(name), one_by_one.whole(name))


def test_an_event_on_disk_is_set_where_it_lies(monkeypatch):
    events = columns([(float(k), 5.0, 1, math.nan, "") for k in range(5)], 2, monkeypatch)
    events[1] = (1.5, 4.0, 0, 3.0, "late")
    events[4] = (9.0, 3.0, 1, 2.0, "")
    assert isinstance(events.whole("time"), np.memmap)
    assert events.whole("time").tolist() == [0.0, 1.5, 2.0, 3.0, 9.0]
    assert events.whole("verdict").tolist() == [1, 0, 1, 1, 1]
    assert list(events.reasons()) == ["", "late", "", "", ""]
