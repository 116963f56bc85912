"""Time weights: closed forms against sixty digits, and what is refused."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from gapline.contract.names import parse_weight, step_weight
from gapline.errors import UsageError
from gapline.native.time_weights import weight_arrays, width, width_arrays

WEIGHTS = ("uniform", "early-log:0.001", "early-log:0.01", "end-log:0.01", "end-log:0.001", "steps:0=1,0.5=0,2=3")


@given(
    st.floats(0.02, 1e6), st.floats(0, 1), st.floats(0, 1), st.sampled_from(WEIGHTS)
)  # fmt: skip
def test_closed_forms_agree_with_sixty_digits(horizon, one, other, name):
    start, end = sorted((one * horizon, other * horizon))
    weight = parse_weight(name)
    edges, values = weight_arrays(weight)
    got = width(int(weight.code), weight.cutoff, edges, values, start, end, horizon)
    whole = oracle.weight_between(name, Fraction(0), Fraction(horizon), Fraction(horizon))
    exact = oracle.weight_between(name, Fraction(start), Fraction(end), Fraction(horizon))
    assert abs(Fraction(got) - exact) <= Fraction(1e-14) * whole


@given(st.floats(0.02, 1e6), st.lists(st.floats(0, 1), max_size=6), st.sampled_from(WEIGHTS))
def test_the_weight_of_the_parts_is_the_weight_of_the_whole(horizon, cuts, name):
    weight = parse_weight(name)
    edges, values = weight_arrays(weight)
    points = [0.0, *sorted(cut * horizon for cut in cuts), horizon]
    parts = [width(int(weight.code), weight.cutoff, edges, values, a, b, horizon) for a, b in pairwise(points)]
    whole = width(int(weight.code), weight.cutoff, edges, values, 0.0, horizon, horizon)
    assert all(part >= 0 for part in parts)
    assert sum(parts) == pytest.approx(whole, rel=1e-13)


def test_a_cutoff_far_below_the_horizon_does_not_overflow():
    for name in ("early-log:1e-300", "end-log:1e-300"):
        weight = parse_weight(name)
        got = width(int(weight.code), weight.cutoff, *weight_arrays(weight), 0.0, 1e10, 1e10)
        assert got == pytest.approx(310 * np.log(10), rel=1e-12)


@pytest.mark.parametrize(
    "name",
    [
        "early-log",
        "early-log:",
        "early-log:0",
        "early-log:-1",
        "end-log:nan",
        "end-log:inf",
        "early-log:x",
        "early-log:1_0",
        "early-log: 1",
    ],
)
def test_logarithmic_weights_need_their_cutoff(name):
    with pytest.raises(UsageError, match="expected its cutoff in seconds"):
        parse_weight(name)


@pytest.mark.parametrize("name", ["late-log:1", "uniform:2", "uniform:", "unifrom", ""])
def test_unknown_weights_are_refused(name):
    with pytest.raises(UsageError, match="weight: expected one of uniform"):
        parse_weight(name)


@pytest.mark.parametrize(
    ("edges", "values"),
    [([], []), ([1.0], [1.0]), ([0.0, 0.0], [1.0, 1.0]), ([0.0], [-1.0]), ([0.0], [float("nan")]), ([0.0, 1.0], [1.0])],
)
def test_step_weights_are_increasing_edges_from_zero_and_nonnegative_values(edges, values):
    with pytest.raises(UsageError, match="expected increasing edges from 0"):
        step_weight("mine", edges, values)


@pytest.mark.parametrize("text", ["steps:", "steps:0", "steps:0=x", "steps:1=1", "steps:0=1,0=2"])
def test_bad_step_weights_as_text(text):
    with pytest.raises(UsageError, match="expected"):
        parse_weight(text)


def test_a_weight_that_leaves_nothing_of_a_budget_is_refused():
    with pytest.raises(UsageError, match="below every horizon"):
        parse_weight("end-log:30").check_horizons(np.array([60.0, 30.0]))
    with pytest.raises(UsageError, match="expected some weight before 5 s"):
        parse_weight("steps:0=0,10=1").check_horizons(np.array([60.0, 5.0]))


def test_stamps_that_lie_close_keep_their_digits_under_a_logarithmic_weight():
    """ln(1 + x) is x - x²/2 to all digits of a double where x is 1e-9, and 1 + x has lost half of them."""
    edges, values = weight_arrays(parse_weight("early-log:0.1"))
    start, end = 5.0, 5.0 * (1 + 1e-9)
    x = (Fraction(end) - Fraction(start)) / Fraction(start)
    found = width(1, 0.1, edges, values, start, end, 10.0)
    assert found == pytest.approx(float(x - x * x / 2), rel=1e-15, abs=0.0)


def test_nothing_after_the_cutoff_has_an_end_logarithmic_weight():
    edges, values = weight_arrays(parse_weight("end-log:1"))
    assert width(2, 1.0, edges, values, 9.5, 9.75, 10.0) == 0.0
    assert width(2, 1.0, edges, values, 9.0, 10.0, 10.0) == 0.0
    assert width(2, 1.0, edges, values, 8.0, 9.5, 10.0) == pytest.approx(math.log(2), rel=1e-15, abs=0.0)


def test_stamps_that_lie_close_keep_their_digits_under_an_end_logarithmic_weight():
    """The two remaining times are near a million and differ by a billionth: their difference has no digits left."""
    edges, values = weight_arrays(parse_weight("end-log:1"))
    start, end, horizon = 1.0, 1.0 + 1e-9, 1e6
    x = (Fraction(end) - Fraction(start)) / (Fraction(horizon) - Fraction(end))
    assert width(2, 1.0, edges, values, start, end, horizon) == pytest.approx(float(x - x * x / 2), rel=1e-14, abs=0.0)


@pytest.mark.parametrize("name", WEIGHTS)
def test_numpy_has_the_widths_of_compiled_code(name):
    """Of stamps that lie close to each other too, where the logarithm of a quotient would lose its digits."""
    weight = parse_weight(name)
    generator = np.random.Generator(np.random.PCG64(5))
    start = generator.random(200) * 10.0
    end = np.minimum(start + 10.0 ** -generator.integers(0, 14, 200), 10.0)
    choices = (int(weight.code), weight.cutoff, *weight_arrays(weight))
    found = width_arrays(*choices, start, end, np.full(200, 10.0)).tolist()
    assert found == [width(*choices, one, other, 10.0) for one, other in zip(start.tolist(), end.tolist(), strict=True)]
