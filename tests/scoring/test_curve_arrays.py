"""Mean curves in NumPy are those of the compiled pass to the last bit, ties and what happens at 0 included."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from both_paths import assert_same_bits, frozen
from gapline.scoring.curve import _cumulate, _fill_events

moments = st.sampled_from([0.0, 1.0, 2.5]) | st.floats(0, 100)
deltas = st.floats(-1.0, 1.0) | st.sampled_from([1e16, -1e16, 0.1])


@given(st.lists(st.tuples(moments, deltas), max_size=40), st.sampled_from([0.0, 1.0, 37.3]))
def test_breakpoints_and_sums_are_the_same(events, start):
    time = np.sort(np.array([event[0] for event in events], np.float64))
    size = len(events) + 1
    out_time, out_value = np.zeros(size), np.zeros(size)
    # The compiled pass sorts the deltas of equal times where they lie, which are copies: nobody reads them afterwards.
    assert_same_bits(
        _cumulate, time, np.array([event[1] for event in events], np.float64), start, out_time, out_value,
        tidy=lambda _, arguments: arguments[1].fill(0.0),
    )  # fmt: skip


@given(st.lists(st.lists(st.tuples(moments, st.floats(-1, 1)), max_size=9), max_size=6), st.data())
def test_every_run_changes_the_sum_alike(runs, data):
    count = np.array([len(run) for run in runs], np.int64)
    steps = [step for run in runs for step in run]
    floats = st.lists(st.floats(0.1, 50), min_size=len(runs), max_size=len(runs))
    assert_same_bits(
        _fill_events, np.cumsum(count) - count, frozen(count, np.int64), frozen([step[0] for step in steps]),
        np.array([step[1] for step in steps], np.float64), 1.0, np.array(data.draw(floats), np.float64),
        np.array(data.draw(floats), np.float64), np.zeros(len(steps)), np.zeros(len(steps)),
    )  # fmt: skip
