"""Intervals and p-values from draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.summary.intervals import acceleration, two_sided_p


@given(st.lists(st.floats(0, 1), min_size=3, max_size=20, unique=True))
@settings(max_examples=50, deadline=None)
def test_acceleration_in_one_stratum_is_the_jackknifes(values):
    data = np.array(values)
    n = len(data)
    jackknife = (data.sum() - data) / (n - 1)
    pull = jackknife.mean() - jackknife
    if np.sum(pull**2) < 1e-20:
        return
    want = np.sum(pull**3) / (6 * np.sum(pull**2) ** 1.5)
    got = acceleration(data - data.mean(), np.zeros(n, np.int64))
    assert got == pytest.approx(want, abs=1e-9)


def test_acceleration_over_panels_of_different_sizes():
    """Influences 2 and 0 in a panel of two, 1 in a panel of one: (8/8 + 1) / (6 · (4/4 + 1)^1.5)."""
    assert acceleration(np.array([2.0, 0.0, 1.0]), np.array([0, 0, 1])) == pytest.approx(2 / (6 * 2**1.5))
    assert acceleration(np.zeros(3), np.array([0, 0, 1])) == 0.0


def test_p_values_count_draws_as_far_from_the_estimate_as_zero_is():
    assert two_sided_p(np.array([2.0, 2.0, 2.0]), 2.0) == 1 / 4
    assert two_sided_p(np.array([0.0, 2.0, 4.0]), 2.0) == 3 / 4
    assert two_sided_p(np.array([-1.0, -1.5, -5.0]), -2.0) == 2 / 4
