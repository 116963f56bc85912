"""Runs of many lengths as rectangles: every one of them, whole, and in none that is much too long."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gapline.native.slices import rectangles


@given(st.lists(st.integers(0, 40), max_size=30))
def test_every_row_is_in_one_rectangle_with_all_its_positions(lengths):
    count = np.array(lengths, np.int64)
    seen = []
    for rows, positions in rectangles(count):
        seen += rows.tolist()
        assert positions.shape == (len(rows), count[rows].max())
        assert positions.shape[1] < 2 * count[rows].min() or positions.shape[1] <= 2
        for row, places in zip(rows.tolist(), positions.tolist(), strict=True):
            assert places[: lengths[row]] == list(range(lengths[row]))
            assert set(places[lengths[row] :]) <= {lengths[row] - 1}
    assert sorted(seen) == np.flatnonzero(count).tolist()
