"""Compensated addition loses nothing."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from gapline.native.compensated_sums import two_sum


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_sum_and_loss_are_exact(a, b):
    total, lost = two_sum.py_func(a, b)
    assert total == a + b
    assert Fraction(total) + Fraction(lost) == Fraction(a) + Fraction(b)
    assert two_sum(a, b) == (total, lost)
