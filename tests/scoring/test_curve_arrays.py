"""Mean curves in NumPy are those of the compiled pass to the last bit, ties and what happens at 0 included."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from both_paths import assert_same_bits
from gapline.scoring.curve import _cumulate

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
