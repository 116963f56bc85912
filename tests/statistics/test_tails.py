"""Tails against scipy, to ten digits and more."""

import math

import numpy as np
import pytest
from scipy import stats

from gapline.errors import UsageError
from gapline.statistics.tails import (
    noncentral_t_sf,
    studentized_range_quantile,
    studentized_range_sf,
    t_quantile,
    t_sf,
)

DRAWS = np.random.default_rng(20260101)


def test_t_for_fractional_degrees_of_freedom():
    x = DRAWS.standard_normal(2000) * 10 ** DRAWS.uniform(-3, 2, 2000)
    df = 10 ** DRAWS.uniform(-0.5, 4, 2000)
    np.testing.assert_allclose(t_sf(x, df), stats.t.sf(x, df), rtol=1e-11, atol=1e-300)


def test_t_quantiles_from_the_middle_to_the_far_tail():
    p = np.concatenate([10 ** DRAWS.uniform(-20, -0.31, 1000), DRAWS.uniform(0.01, 0.99, 1000)])
    df = 10 ** DRAWS.uniform(-0.3, 4, 2000)
    np.testing.assert_allclose(t_quantile(p, df), stats.t.ppf(p, df), rtol=1e-10)
    assert t_quantile(0.5, 3.0) == 0.0
    assert t_quantile(0.9, 2.5) == pytest.approx(-t_quantile(0.1, 2.5), rel=1e-14)


def test_infinite_degrees_of_freedom_are_the_normal():
    assert t_sf(1.5, math.inf) == pytest.approx(stats.norm.sf(1.5), rel=1e-14)
    assert t_quantile(0.975, math.inf) == pytest.approx(stats.norm.ppf(0.975), rel=1e-15)


def test_t_at_its_ends():
    assert t_sf([-math.inf, 0.0, math.inf], 3.0).tolist() == [1.0, 0.5, 0.0]
    assert np.isnan(t_sf(math.nan, 3.0))


@pytest.mark.parametrize("groups", [2, 3, 5, 10, 40])
def test_the_studentized_range(groups):
    for q in (0.01, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0):
        known = stats.studentized_range.sf(q, groups, math.inf)
        assert studentized_range_sf(q, groups) == pytest.approx(known, abs=1e-12)
    for level in (0.5, 0.9, 0.95, 0.99):
        known = stats.studentized_range.ppf(level, groups, math.inf)
        assert studentized_range_quantile(level, groups) == pytest.approx(known, rel=1e-9)


def test_the_range_of_two_is_a_normal_difference_however_far_out():
    for z in (0.1, 1.0, 5.0, 9.0, 20.0):
        assert studentized_range_sf(z * math.sqrt(2), 2) == pytest.approx(2 * stats.norm.sf(z), rel=1e-12)


def test_what_cannot_be_is_refused():
    with pytest.raises(UsageError, match=r"degrees of freedom: expected positive numbers, got 0\.0"):
        t_sf(1.0, 0.0)
    with pytest.raises(UsageError, match="probability"):
        t_quantile(1.0, 3)
    with pytest.raises(UsageError, match="at least 2 groups, got 1"):
        studentized_range_sf(1.0, 1)
    with pytest.raises(UsageError, match=r"probability: expected a share between 0 and 1, got 1\.5"):
        studentized_range_quantile(1.5, 3)
    assert studentized_range_sf(-1.0, 3) == 1.0
    assert math.isnan(studentized_range_sf(math.nan, 3))


def test_the_noncentral_t():
    for _ in range(300):
        df, shift, x = 10 ** DRAWS.uniform(0, 4), DRAWS.uniform(-3, 12), DRAWS.uniform(-2, 14)
        assert noncentral_t_sf(x, df, shift) == pytest.approx(stats.nct.sf(x, df, shift), abs=1e-11)
    assert noncentral_t_sf(2.0, 1e9, 3.0) == pytest.approx(stats.norm.sf(-1.0), rel=1e-7)
    # Differences that spread by rounding alone: what is asked for is 1 or 0, not the work of 1e15 steps.
    assert [noncentral_t_sf(x, 1.5, shift) for x, shift in ((3.0, 1e14), (-3.0, 1e14), (3.0, -1e14))] == [1.0, 1.0, 0.0]
    with pytest.raises(UsageError, match="degrees of freedom"):
        noncentral_t_sf(1.0, 0.0, 1.0)
