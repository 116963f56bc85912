"""Sign flips: scipy's permutation test, the inversion by brute force, and what few instances can show at all."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from gapline.statistics.estimate import EXACT, flip_interval, flip_p, flip_signs, smallest_flip_p


def flips_of(differences, weights=None):
    data = np.asarray(differences, float)
    share = np.full(len(data), 1 / len(data)) if weights is None else np.asarray(weights, float)
    return flip_signs(share * data, share, draws=4999, seed=1)


@pytest.mark.parametrize("size", [3, 6, 9])
def test_the_exact_p_is_scipys(size):
    data = np.random.default_rng(size).normal(0.5, 1.0, size)
    want = stats.permutation_test((data,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert flip_p(flips_of(data)) == pytest.approx(want.pvalue, abs=1e-12)


def slow_p(data, weights, shift):
    moved = weights * (data - shift)
    seen = abs(moved.sum())
    sums = [abs(np.dot(signs, moved)) for signs in product((1, -1), repeat=len(data))]
    return np.mean([value >= seen - 1e-12 for value in sums])


@given(st.lists(st.integers(-50, 50), min_size=6, max_size=8), st.sampled_from([0.5, 0.8, 0.9, 0.95]))
@example([1, 1, 1, 1, 1, 1], 0.95)
@example([0, 0, 0, 5, -7, 9], 0.8)
def test_the_interval_holds_what_the_test_does_not_reject(values, level):
    data = np.array(values, float)
    weights = np.linspace(1, 2, len(data))
    weights /= weights.sum()
    ends = flip_interval(flips_of(data, weights), level=level)
    if ends is None:
        return
    width = max(1.0, ends[1] - ends[0])
    for end, outward in ((ends[0], -1), (ends[1], 1)):
        inward = min(1e-7 * width, (ends[1] - ends[0]) / 3)
        assert slow_p(data, weights, end - outward * inward) > 1 - level
        assert slow_p(data, weights, end + outward * 1e-6 * width) <= 1 - level


def test_six_instances_are_needed_for_five_percent():
    assert [smallest_flip_p(np.ones(n), 99) for n in (3, 5, 6)] == [0.25, 0.0625, 0.03125]
    assert flip_p(flips_of([1.0, 2, 3, 4, 5, 6])) == 0.03125
    assert flip_interval(flips_of([1.0, 2, 3, 4, 5]), level=0.95) is None
    assert flip_interval(flips_of([1.0, 2, 3, 4, 5, 6]), level=0.95) is not None


def test_instances_without_a_difference_lower_nothing():
    assert smallest_flip_p(np.array([1.0, 0.0, 2.0]), 99) == 0.5
    assert flip_p(flips_of([1.0, 0.0, 2.0])) == 0.5


def test_many_instances_are_drawn_and_agree_with_the_normal():
    data = np.random.default_rng(5).normal(0.25, 1.0, 60)
    flips = flips_of(data)
    assert not flips.exact
    assert len(data) > EXACT
    want = stats.ttest_1samp(data, 0.0)
    assert flip_p(flips) == pytest.approx(want.pvalue, abs=0.02)
    assert flip_interval(flips, level=0.95) == pytest.approx(list(want.confidence_interval()), abs=0.05)
    assert smallest_flip_p(data, 4999) == 1 / 5000
