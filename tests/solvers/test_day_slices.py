"""A day cut into slices keeps its mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.solvers.static_model import mean_travel
from profiles import examples


@settings(deadline=None, max_examples=examples(50))
@given(st.lists(st.integers(1, 50), min_size=2, max_size=8), st.integers(1, 12), st.data())
def test_slices_of_equal_length_have_the_mean_of_the_day_as_their_mean(steps, count, data):
    leave = np.concatenate([[0.0], np.cumsum(steps)])
    travel = np.array(data.draw(st.lists(st.integers(1, 40), min_size=len(leave), max_size=len(leave))), dtype=float)
    means = mean_travel(leave, leave + travel, np.linspace(0, leave[-1], count + 1))
    (whole,) = mean_travel(leave, leave + travel, np.array([0.0, leave[-1]]))
    assert means.mean() == pytest.approx(whole)
    assert travel.min() - 1e-9 <= means.min()
    assert means.max() <= travel.max() + 1e-9
