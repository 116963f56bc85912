"""Which integers a double holds."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gapline.contract.number_limits import is_exact, is_rounded

powers = st.integers(0, 80).map(lambda n: 2**n)


@given(st.integers(-(2**64), 2**64) | powers | powers.map(lambda n: n + 1))
@example(2**53)
@example(2**53 + 1)
@example(10**22)
@example(10**23)
def test_exact_is_what_python_says(number):
    assert is_exact(number) == (int(float(number)) == number)
    assert is_rounded(str(number)) != is_exact(number)
    assert is_rounded(f"+{abs(number)}") != is_exact(number)


@pytest.mark.parametrize("text", ["", "x", "9007199254740993.0", "9007199254740993e0", "9" * 400, "9007199254740993\n"])
def test_what_is_written_as_no_integer_is_no_rounded_one(text):
    """A number with a point is one of a double's writer; what is longer than any double is refused as infinite."""
    assert not is_rounded(text)
