import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.report.numbers import DASH, interval, number, objective, percent, signed

TINY = st.floats(-1e-6, 1e-6)


@given(TINY)
def test_what_rounds_to_zero_has_no_sign(value):
    for text in (number(value), percent(value / 100), signed(value), interval(value, value)):
        assert "-0.00000" not in text
        assert "−0.00000" not in text
        assert "-0.00 %" not in text
        assert "+0.00000" not in text
    assert objective(-0.0, 2) == "0.00"


@given(st.floats(-1e6, 1e6))
def test_other_numbers_keep_their_sign_and_five_decimals(value):
    text = number(value)
    assert float(text) == pytest.approx(value, abs=5.1e-6)
    assert text.startswith("-") == (float(text) < 0)
    assert float(signed(value).replace("−", "-")) == float(text)


def test_what_does_not_exist_is_a_dash_and_what_overflowed_says_so():
    assert [number(None), percent(None), signed(None), number(math.nan)] == [DASH] * 4
    assert [number(math.inf), percent(-math.inf), signed(math.inf)] == ["overflow"] * 3
