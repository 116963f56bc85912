"""A change turns the state before it into the one after it."""

import copy
import json

from hypothesis import given
from hypothesis import strategies as st
from torture.crowd import apply

from gapline.live.channel import difference

leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=3)
values = st.recursive(
    leaves | st.lists(leaves, max_size=4), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
documents = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)


@given(before=documents, after=documents)
def test_what_is_applied_gives_the_next_document(before, after):
    change = json.loads(json.dumps(difference(before, after)))
    found = apply(copy.deepcopy(before), change)
    assert json.dumps(found, sort_keys=True) == json.dumps(after, sort_keys=True)


@given(st.lists(leaves, max_size=9), st.integers(0, 9), st.lists(leaves, max_size=5))
def test_a_list_that_goes_on_from_some_place_becomes_the_next_one(before, kept, more):
    """Whatever stays is not said again, and 1, 1.0 and true are three values."""
    after = before[:kept] + more
    change = json.loads(json.dumps(difference({"t": before}, {"t": after})))
    assert json.dumps(apply({"t": list(before)}, change)) == json.dumps({"t": after})


@given(document=documents)
def test_nothing_changed_is_nothing(document):
    assert not any(difference(document, copy.deepcopy(document)).values())


def test_a_list_that_grew_is_added_to():
    before, after = {"t": {"time": [1.0, 2.0], "other": [1]}}, {"t": {"time": [1.0, 2.0, 3.0], "other": [2]}}
    found = difference(before, after)
    assert found["append"] == [(["t", "time"], [3.0])]
    assert found["set"] == [(["t", "other"], [2])]


def test_of_a_list_with_another_end_the_end_alone_is_said():
    found = difference({"t": [1.0, 2.0, 3.0]}, {"t": [1.0, 2.0, 5.0, 6.0]})
    assert (found["set"], found["cut"], found["append"]) == ([], [(["t"], 2)], [(["t"], [5.0, 6.0])])
    shorter = difference({"t": [1.0, 2.0, 3.0]}, {"t": [1.0, 2.0]})
    assert (shorter["cut"], shorter["append"]) == ([(["t"], 2)], [])


def test_a_list_of_other_things_is_replaced():
    found = difference({"t": [1.0, 2.0, 3.0]}, {"t": [1.0, 5.0, 6.0, 7.0]})
    assert (found["append"], found["set"]) == ([], [(["t"], [1.0, 5.0, 6.0, 7.0])])


def test_the_same_object_is_not_looked_into():
    class Loud(dict):
        def items(self):
            raise AssertionError

    same = Loud(a=1)
    assert not any(difference({"x": same}, {"x": same}).values())


def test_one_is_not_true():
    assert difference({"a": 1}, {"a": True})["set"] == [(["a"], True)]
