"""Intervals and p-values from draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.statistics.intervals import (
    acceleration,
    bca_interval,
    bca_p,
    calibrated_interval,
    calibrated_p,
    studentized_interval,
    studentized_p,
    two_sided_p,
)
from profiles import examples


@given(st.lists(st.floats(0, 1), min_size=3, max_size=20, unique=True))
@settings(max_examples=examples(50), deadline=None)
def test_acceleration_in_one_stratum_is_the_jackknifes(values):
    data = np.array(values)
    n = len(data)
    jackknife = (data.sum() - data) / (n - 1)
    pull = jackknife.mean() - jackknife
    if np.sum(pull**2) < 1e-20:
        return
    want = np.sum(pull**3) / (6 * np.sum(pull**2) ** 1.5)
    got = acceleration((data - data.mean()) / n)
    assert got == pytest.approx(want, abs=1e-9)


def test_acceleration_over_panels_of_different_sizes():
    """Pulls of 1 and 0 in a panel of two, 1 in another: (1 + 1) / (6 · (1 + 1)^1.5)."""
    assert acceleration(np.array([1.0, 0.0, 1.0])) == pytest.approx(2 / (6 * 2**1.5))
    assert acceleration(np.zeros(3)) == 0.0


def test_p_values_count_draws_as_far_from_the_estimate_as_zero_is():
    assert two_sided_p(np.array([2.0, 2.0, 2.0]), 2.0) == 1 / 4
    assert two_sided_p(np.array([0.0, 2.0, 4.0]), 2.0) == 3 / 4
    assert two_sided_p(np.array([-1.0, -1.5, -5.0]), -2.0) == 2 / 4


@pytest.mark.parametrize("shift", [0.05, 0.1, 0.2])
def test_p_and_interval_of_a_method_say_the_same(shift):
    """Where the interval at some level just reaches 0, p is one minus that level."""
    rng = np.random.default_rng(8)
    draws = rng.gamma(6.0, 0.05, 20001) - 0.3 + shift
    estimate, pace = float(np.median(draws)), 0.05
    checks = [
        (bca_p(draws, estimate, pace), lambda level: bca_interval(draws, estimate, pace, level=level)),
        (calibrated_p(draws, estimate, 1.1, 7.0), lambda level: calibrated_interval(draws, 1.1, 7.0, level=level)),
    ]
    for p, interval in checks:
        # Quantiles are interpolated between draws, which moves the end by one draw at most.
        slack = 0.02 * p + 1e-4
        low, high = interval(min(1 - p - slack, 0.9999))
        assert low > 0 or high < 0
        low, high = interval(1 - p + slack)
        assert low <= 0 <= high


def test_the_studentized_interval_is_the_textbooks():
    """One panel: scipy has no bootstrap-t, so each draw's t is computed the long way."""
    rng = np.random.default_rng(2)
    data = rng.exponential(size=9)
    picked = rng.integers(0, 9, size=(999, 9))
    drawn = data[picked]
    errors = drawn.std(axis=1, ddof=1) / 3
    t = (drawn.mean(axis=1) - data.mean()) / errors
    error = data.std(ddof=1) / 3
    low, high = studentized_interval(drawn.mean(axis=1) - data.mean(), errors, data.mean(), error, level=0.9)
    ordered = np.sort(t)
    assert low == pytest.approx(data.mean() - error * ordered[int(np.ceil(0.95 * 999)) - 1])
    assert high == pytest.approx(data.mean() - error * ordered[int(np.ceil(0.05 * 999)) - 1])
    p = studentized_p(drawn.mean(axis=1) - data.mean(), errors, data.mean(), error)
    assert p == pytest.approx(
        2 * min((t <= data.mean() / error).sum() + 1, (t >= data.mean() / error).sum() + 1) / 1000
    )


def test_draws_without_spread_make_the_studentized_interval_endless():
    deviations, errors = np.array([0.5, 0.5, 0.5, 0.0]), np.array([0.0, 0.0, 0.0, 0.0])
    low, high = studentized_interval(deviations, errors, 1.0, 0.2, level=0.5)
    assert low == -np.inf
    assert high == 1.0
