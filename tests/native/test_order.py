"""The order of times: stable, whatever the bits."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.files.memory import limited_memory
from gapline.native.order import sort_by_time, stable_order
from profiles import examples


@given(st.lists(st.one_of(st.sampled_from([0.0, 1.0, 2.5]), st.floats(0, 1e9)), max_size=60), st.booleans())
@settings(max_examples=examples(80), deadline=None)
def test_the_fast_order_is_the_stable_one(times, crowded):
    time = np.array(times) * (1e-14 if crowded else 1.0) + (1000.0 if crowded else 0.0)
    assert stable_order(time).tolist() == np.argsort(time, kind="stable").tolist()


def test_a_negative_zero_is_a_zero():
    assert stable_order(np.array([0.0, -0.0, 1.0, -0.0])).tolist() == [0, 1, 3, 2]
    assert stable_order(np.array([-0.0, 0.0, 1.0])).tolist() == [0, 1, 2]


def test_stamps_that_differ_in_the_last_bit_alone_are_told_apart():
    """The position takes the place of the lowest bits of the key, so these need the pass afterwards."""
    time = 1.0 + np.arange(1000)[::-1] * 2.0**-52
    assert stable_order(time).tolist() == list(range(999, -1, -1))


def test_equal_stamps_keep_their_order_where_the_fast_way_gives_up():
    """A thousand stamps that fall in their last bits, each of them twice: far more moves than it has patience for."""
    time = 1.0 + np.repeat(np.arange(1000)[::-1], 2) * 2.0**-52
    expected = [place for first in range(1998, -1, -2) for place in (first, first + 1)]
    assert stable_order(time).tolist() == expected


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0, -3.0, 1e300]), max_size=40), st.sampled_from([1, 3, 7, 100]))
def test_columns_sorted_in_parts_are_in_the_stable_order(times, most):
    time, place = np.array(times, np.float64), np.arange(len(times))
    order = np.argsort(time, kind="stable")
    with limited_memory(128 * most):
        found = sort_by_time(time, place, time * 2)
    assert [column.tolist() for column in found] == [time[order].tolist(), order.tolist(), (2 * time[order]).tolist()]
