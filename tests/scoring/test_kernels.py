"""Kernels: the definitions, their laws on hostile numbers, inverses, and kernels of one's own."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import oracle
import strategies
from gapline.errors import UsageError
from gapline.scoring.kernels import PAPER_KERNELS, Kernel, KernelCode, parse_kernel, raw_gap, squeezed_gap

maxform_gap, berthold_gap, dimacs_gap = map(parse_kernel, ("maxform", "berthold", "dimacs:2"))


@given(strategies.positives, strategies.positives, st.sampled_from(strategies.KERNELS))
def test_kernels_are_the_oracles(z, reference, kernel):
    got = float(parse_kernel(kernel)(z, reference))
    assert math.isfinite(got)
    assert oracle.close(got, oracle.gap(kernel, z, reference), within=1e-15)


@given(strategies.positives, strategies.positives)
def test_bounded_kernels_stay_in_their_range_and_know_the_sign(z, reference):
    for kernel in (squeezed_gap, maxform_gap):
        gap = float(kernel(z, reference))
        assert -1 <= gap <= 1
        assert np.sign(gap) == np.sign(z - reference)
    assert 0 <= float(berthold_gap(z, reference)) <= 1


@given(strategies.positives)
def test_equality_is_exactly_zero(z):
    assert all(float(parse_kernel(kernel)(z, z)) == 0.0 for kernel in ("squeezed", "maxform", "berthold", "raw"))
    assert float(dimacs_gap(z, z)) == 0.0


@given(strategies.positives, strategies.positives)
def test_log_symmetry(z, reference):
    """Reciprocal ratios have opposite gaps, to the last bit."""
    assert float(squeezed_gap(z, reference)) == -float(squeezed_gap(reference, z))
    assert float(maxform_gap(z, reference)) == -float(maxform_gap(reference, z))


@given(strategies.positives, strategies.positives, strategies.positives)
def test_a_better_objective_never_has_a_worse_gap(z, other, reference):
    low, high = min(z, other), max(z, other)
    for kernel in ("squeezed", "maxform", "dimacs:1.1", "dimacs:2"):
        assert float(parse_kernel(kernel)(low, reference)) <= float(parse_kernel(kernel)(high, reference))


@given(st.floats(1e-100, 1e100), st.floats(1e-100, 1e100), st.integers(-200, 200), st.sampled_from(PAPER_KERNELS))
def test_scale_invariance_is_exact_for_powers_of_two(z, reference, exponent, kernel):
    scale = math.ldexp(1.0, exponent)
    assert float(parse_kernel(kernel)(z * scale, reference * scale)) == float(parse_kernel(kernel)(z, reference))


@pytest.mark.parametrize("kernel", strategies.KERNELS)
def test_no_incumbent_has_the_value_before_the_first(kernel):
    parsed = parse_kernel(kernel)
    assert float(parsed(math.inf, 10.0)) == parsed.before
    assert oracle.close(parsed.before, oracle.gap(kernel, None, 10.0), within=1e-15)


def test_raw_has_no_value_before_and_reports_overflow_as_infinite():
    assert parse_kernel("raw").before is None
    assert float(raw_gap(math.inf, 10.0)) == math.inf
    assert float(raw_gap(1e308, 1e-308)) == math.inf
    assert float(raw_gap(5e-324, 1e308)) == -1.0


def test_dimacs_accepts_strictly_below_its_threshold():
    assert dimacs_gap([19.0, 20.0, 25.0], 10.0).tolist() == [0.9, 1.0, 1.0]
    assert float(dimacs_gap(20 * (1 - 2e-9), 10.0)) < 1.0
    # What is nearer than the tolerance is at the threshold, unless none is wanted.
    below = math.nextafter(20, 0)
    assert float(dimacs_gap(below, 10.0)) == 1.0
    assert float(parse_kernel("dimacs:2", tolerance=0.0)(below, 10.0)) == float(raw_gap(below, 10.0)) < 1.0


@pytest.mark.parametrize("exponent", range(-12, 13))
def test_the_threshold_of_dimacs_does_not_depend_on_the_unit(exponent):
    """11 against 10 was saturated under 1.1, and 110 against 100 was not: the last bit of 1.1 · 100 decided."""
    z, reference = float(f"11e{exponent}"), float(f"10e{exponent}")
    assert float(parse_kernel("dimacs:1.1")(z, reference)) == 1.1 - 1


@given(st.integers(1, 10**6), st.integers(1, 300), st.integers(-9, 9), st.sampled_from(["1.1", "1.01", "2", "1.5"]))
def test_scaling_by_powers_of_ten_changes_no_verdict_of_dimacs(whole, percent, exponent, theta):
    """Decimals as people write them: z* whole, z at a whole percentage above it, in any unit."""
    kernel = parse_kernel(f"dimacs:{theta}")
    z, reference = float(f"{whole * (100 + percent)}e{exponent - 2}"), float(f"{whole}e{exponent}")
    accepted = Fraction(whole * (100 + percent), 100) < Fraction(theta) * whole
    assert (float(kernel(z, reference)) < kernel.before) == accepted


@pytest.mark.parametrize(
    "name", ["squeeze", "raw:", "dimacs", "dimacs:1", "dimacs:0.5", "dimacs:nan", "dimacs:x", "dimacs:1_1", ""]
)
def test_unknown_kernels_are_named_with_what_would_be_right(name):
    with pytest.raises(UsageError, match="expected") as caught:
        parse_kernel(name)
    assert name in str(caught.value)


def test_a_registered_kernel_is_found_by_name_and_may_not_take_a_built_in_one():
    kernel = gl.register_kernel("test half", lambda z, ref: 0.5 * squeezed_gap(z, ref), before=0.5)
    assert parse_kernel("test half") is kernel
    for taken in ("squeezed", "raw", "dimacs:3", ""):
        with pytest.raises(UsageError, match="not taken"):
            gl.register_kernel(taken, squeezed_gap, before=1.0)
    with pytest.raises(UsageError, match="finite value before"):
        gl.register_kernel("test endless", raw_gap, before=math.inf)


def test_a_registered_kernel_must_give_one_gap_per_objective():
    kernel = gl.register_kernel("test scalar", lambda z, ref: np.zeros(7), before=1.0)  # noqa: ARG005
    with pytest.raises(UsageError, match="one gap per objective"):
        kernel([1.0, 2.0], 3.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_gap_that_is_no_number_names_kernel_objective_and_reference(bad):
    kernel = gl.register_kernel(f"test {bad}", lambda z, ref: np.where(z > ref, bad, 0.0), before=1.0)
    with pytest.raises(UsageError, match=rf"kernel test {bad}: expected a finite gap, got {bad} for objective 12.0 ag"):
        kernel([9.0, 12.0], 10.0)


def test_another_function_does_not_take_a_registered_name_unless_told_to():
    kernel = gl.register_kernel("test twice", squeezed_gap, before=1.0)
    assert gl.register_kernel("test twice", squeezed_gap, before=1.0) == kernel
    for function, before in ((maxform_gap, 1.0), (squeezed_gap, 0.5)):
        with pytest.raises(UsageError, match="registered for another function"):
            gl.register_kernel("test twice", function, before=before)
    gl.register_kernel("test twice", maxform_gap, before=1.0, replace=True)
    assert float(parse_kernel("test twice")(20.0, 10.0)) == 0.5


@pytest.mark.parametrize("code", [KernelCode.CUSTOM, 6, -1])
def test_a_kernel_with_a_code_that_nothing_computes_cannot_be_made(code):
    with pytest.raises(UsageError, match="expected a known code or a function"):
        Kernel("mine", code, 1.0)
