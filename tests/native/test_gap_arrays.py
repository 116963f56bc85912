"""The gap of arrays is that of the compiled formula to the last bit, at the ends of the range of numbers too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from both_paths import assert_same_bits, frozen
from gapline.native.kernel_formulas import _fill
from gapline.scoring.kernels import PAPER_KERNELS, parse_kernel

KERNELS = [parse_kernel(name) for name in (*PAPER_KERNELS, "raw")]
# Without an incumbent the objective is infinite.
objectives = strategies.positives | st.just(np.inf)


@given(st.lists(st.tuples(objectives, strategies.positives), max_size=9), st.sampled_from(KERNELS), st.booleans())
def test_every_gap_is_that_of_the_compiled_formula(pairs, kernel, equal):
    z, reference = ([pair[k] for pair in pairs] for k in (0, 1))
    if equal:
        # At the threshold of dimacs:1.1, as near as a double comes to it.
        z = [min(1.1 * one, 1.7e308) for one in reference]
    assert_same_bits(
        _fill, int(kernel.code), kernel.parameter, frozen(z), frozen(reference), kernel.tolerance, 1.0,
        np.zeros(len(pairs)),
    )  # fmt: skip


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), max_size=9))
def test_berthold_takes_any_sign(pairs):
    kernel = parse_kernel("berthold")
    z, reference = ([pair[k] for pair in pairs] for k in (0, 1))
    assert_same_bits(
        _fill, int(kernel.code), 0.0, frozen([*z, 0.0, -0.0]), frozen([*reference, 0.0, 0.0]), kernel.tolerance, 1.0,
        np.zeros(len(pairs) + 2),
    )  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_ends_of_the_range_are_the_same(kernel):
    ends = [strategies.HUGE, strategies.HUGE / 2, 1e308, 1.0, strategies.SMALL_NORMAL, strategies.TINY]
    z, reference = ([one for one in ends for _ in ends], ends * len(ends))
    assert_same_bits(
        _fill, int(kernel.code), kernel.parameter, frozen(z), frozen(reference), kernel.tolerance, 1.0, np.zeros(len(z))
    )
