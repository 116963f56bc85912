"""Beaten: below by more than the tolerance, for numbers and arrays, whatever the unit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gapline.errors import UsageError
from gapline.reference.beaten import check_tolerance, is_beaten


@given(st.floats(1e-3, 1e6), st.floats(0.5, 1.5), st.integers(-30, 30), st.sampled_from([0.0, 1e-9, 0.01]))
def test_the_unit_does_not_matter(reference, ratio, exponent, tolerance):
    value, scale = reference * ratio, 10.0**exponent
    exact = Fraction(value) < Fraction(reference) * (1 - Fraction(tolerance))
    assume(abs(Fraction(value) / Fraction(reference) - 1 + Fraction(tolerance)) > 1e-14)
    assert is_beaten(value, reference, tolerance) == exact
    assert is_beaten(value * scale, reference * scale, tolerance) == exact


def test_arrays_and_what_is_not_there():
    values = np.array([99.0, 100.0, 100.0 - 1e-8, math.inf])
    assert is_beaten(values, 100.0, 1e-9).tolist() == [True, False, False, False]


def test_a_negative_reference_is_beaten_from_below():
    assert is_beaten(-101.0, -100.0, 1e-9)
    assert not is_beaten(-100.0, -100.0, 1e-9)


@pytest.mark.parametrize("tolerance", [-1e-9, 1.0, math.nan, math.inf])
def test_a_tolerance_is_a_small_relative_difference(tolerance):
    with pytest.raises(UsageError, match="tolerance: expected a relative difference"):
        check_tolerance(tolerance)


def test_what_is_better_by_just_the_tolerance_is_not_beaten():
    assert not is_beaten(10.0, 10.0, 0.0)
    assert not is_beaten(8.0, 16.0, 0.5)
    assert is_beaten(7.0, 16.0, 0.5)
