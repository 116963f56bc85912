"""Sums that are rounded once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gapline.statistics import exact_sum as module
from gapline.statistics.exact_sum import exact_sum

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(arrays.arrays(np.float64, st.integers(0, 60), elements=FINITE), st.sampled_from([1, 3, 1 << 14]))
def test_it_is_what_math_fsum_returns(values, block):
    """Of any numbers, subnormal and nearly overflowing ones too, in one block or in many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        try:
            expected = math.fsum(values)
        except OverflowError:
            with pytest.raises(OverflowError):
                exact_sum(values)
            return
        found = exact_sum(values)
    assert (found, math.copysign(1, found)) == (expected, math.copysign(1, expected))


@given(st.integers(0, 2**32), st.integers(1, 40_000), st.integers(0, 300))
def test_it_is_what_math_fsum_returns_of_many(seed, count, spread):
    """Of more than fit in a block, over few or many powers of ten, with a half that cancels."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(count) * 10.0 ** rng.integers(-spread, spread + 1, count)
    values[: count // 2] = -values[::-1][: count // 2]
    assert exact_sum(values) == math.fsum(values)


def test_ten_tenths_are_one():
    """0.1 is a little more than a tenth, by less than the last bit of one."""
    assert exact_sum(np.full(10, 0.1)) == 1.0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_passed_on(value):
    found = exact_sum(np.array([1.0, value]))
    assert found == value or (math.isnan(found) and math.isnan(value))
