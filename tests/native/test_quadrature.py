"""Integrals with a stated error: against scipy, against exact areas of steps, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from both_paths import assert_same_bits
from gapline.errors import UsageError
from gapline.native.quadrature import integral_upto, integrate_function
from profiles import examples

SMOOTH = {
    "constant": lambda _: 3.0,
    "falling": lambda t: math.exp(-t / 3),
    "root": math.sqrt,
    "late": lambda t: t**9,
    "waves": lambda t: 1 + math.sin(t),
    "nearly a pole": lambda t: 1 / (t + 0.01),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_the_integral_up_to_every_moment_is_scipys_within_the_stated_error(name):
    found = integrate_function(SMOOTH[name], 30.0)
    assert found.error <= 2e-12 * found.whole
    for time in (0.0, 0.001, 0.7, 5.0, 15.0, 29.999, 30.0):
        oracle, off = quad(SMOOTH[name], 0.0, time, epsabs=0.0, epsrel=1e-13, limit=500)
        assert abs(found.upto(time) - oracle) <= found.error + off


def apart(edges):
    """Keep those a hundredth of the horizon behind the one before: a narrower step may lie between all points."""
    kept: list[float] = []
    for edge in sorted(edges):
        if not kept or edge - kept[-1] >= 1.0:
            kept.append(edge)
    return kept


@settings(max_examples=examples(60))
@given(
    st.lists(st.floats(0.01, 99.0), min_size=1, max_size=5).map(apart),
    st.lists(st.floats(0.0, 10.0), min_size=6, max_size=6),
    st.lists(st.floats(0.0, 100.0), min_size=1, max_size=5),
)
def test_jumps_are_found_and_their_error_is_bounded(edges, values, times):
    """Of a step function the area up to any moment is known exactly."""
    places, heights = [0.0, *edges], np.array(values[: len(edges) + 1]) + 0.1
    found = integrate_function(lambda t: float(heights[np.searchsorted(places, t, side="right") - 1]), 100.0)
    assert found.error <= 1e-9 * found.whole
    for time in (*times, *edges, 100.0):
        ends = [*edges, 100.0]
        exact = math.fsum(
            height * max(0.0, min(time, end) - start)
            for start, end, height in zip(places, ends, heights.tolist(), strict=True)
        )
        assert abs(found.upto(time) - exact) <= found.error


def test_a_weight_in_the_first_moments_alone_is_not_missed():
    found = integrate_function(lambda t: 1.0 if t < 0.001 else 0.0, 3600.0)
    assert found.whole == pytest.approx(0.001, rel=1e-9)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t: -1.0 if t > 5 else 1.0, "expected a finite number of 0 or more, got -1.0 at"),
        (lambda t: math.inf if t == 0 else 1 / t, "expected a finite number of 0 or more, got inf at 0 s"),
        (lambda _: math.nan, "got nan"),
        (lambda t: 1 / t, "ZeroDivisionError at 0 s"),
        (lambda _: "much", "ValueError at"),
        (lambda _: 0.0, "expected some weight before 10 s, got none"),
        (lambda t: float(int(1e7 * t) % 2), "after 5,000 panels"),
    ],
)
def test_what_cannot_be_a_weight_is_refused(function, words):
    with pytest.raises(UsageError, match=words):
        integrate_function(function, 10.0)


@given(st.sampled_from(sorted(SMOOTH)), st.floats(-1, 11))
@settings(max_examples=examples(30))
def test_numpy_reads_the_table_as_compiled_code_does(name, time):
    table = integrate_function(SMOOTH[name], 10.0)
    assert_same_bits(integral_upto, table.edges, table.terms, time)
