"""Scores and raw gaps: inverses worked out by hand, the round trip, and what has no inverse."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import oracle
from gapline.errors import UsageError
from gapline.scoring.convert import SCALE_KERNELS, RawGaps, kernel_inverse, scale_table, score_of_raw_gap


@pytest.mark.parametrize(
    ("score", "kernel", "above", "below"),
    [
        # 2 · 0.05 / 0.95 = 2/19, and 2 · -0.2 / 1.2 = -1/3: the paper's "a squeezed 5 % is a raw gap of 10.5 %".
        (0.05, "squeezed", 2 / 19, None),
        (-0.2, "squeezed", -1 / 3, None),
        (1 / 3, "squeezed", 1.0, None),
        # (z - z*) / z = 0.2 at z = 1.25 z*; below the reference it is the raw gap.
        (0.2, "maxform", 0.25, None),
        (-0.2, "maxform", -0.2, None),
        # |z - z*| / max: 0.2 at z = 1.25 z* and at z = 0.8 z*.
        (0.2, "berthold", 0.25, -0.2),
        (0.0, "berthold", 0.0, None),
        (0.05, "dimacs:1.1", 0.05, None),
        (-0.5, "dimacs:2", -0.5, None),
        (3.0, "raw", 3.0, None),
    ],
)
def test_inverses_by_hand(score, kernel, above, below):
    found = kernel_inverse(score, kernel)
    assert found.above == pytest.approx(above, rel=1e-15)
    assert found.below == (None if below is None else pytest.approx(below, rel=1e-15))
    assert not found.saturated


@pytest.mark.parametrize(
    ("score", "kernel", "words"),
    [
        (1.0, "squeezed", "empty run"),
        (1.0, "maxform", "empty run"),
        (1.0, "berthold", "empty run"),
        (1.5, "squeezed", "between -1 and 1"),
        (-1.0, "squeezed", "between -1 and 1"),
        (-1.0, "maxform", "between -1 and 1"),
        (-0.01, "berthold", "between 0 and 1"),
        (1.01, "berthold", "between 0 and 1"),
        (0.2, "dimacs:1.1", "at most 0.1"),
        (-1.0, "dimacs:2", "above -1"),
        (-1.0, "raw", "above -1"),
    ],
)
def test_scores_that_no_raw_gap_has_say_why(score, kernel, words):
    found = kernel_inverse(score, kernel)
    assert (found.above, found.below, found.saturated) == (None, None, False)
    assert words in found.note


def test_a_threshold_saturates_at_its_decimals_not_at_its_last_bit():
    # 1.1 - 1 is 0.10000000000000009; both it and 0.1 are what a user means.
    for score in (0.1, 1.1 - 1, 0.1 + 1e-12):
        found = kernel_inverse(score, "dimacs:1.1")
        assert found.saturated
        assert found.above == pytest.approx(0.1)
    assert kernel_inverse(0.1 - 1e-6, "dimacs:1.1") == RawGaps(0.1 - 1e-6)
    assert score_of_raw_gap(0.1, "dimacs:1.1") == pytest.approx(0.1)
    assert score_of_raw_gap(5.0, "dimacs:1.1") == pytest.approx(0.1)


@given(st.floats(-0.999, 1e6), st.sampled_from(SCALE_KERNELS))
def test_back_and_forth_is_where_it_began(raw, kernel):
    score = score_of_raw_gap(raw, kernel)
    exact = oracle.gap(kernel, 1 + Fraction(raw), Fraction(1))
    assert score == pytest.approx(float(exact), rel=1e-9, abs=1e-15)
    found = kernel_inverse(score, kernel)
    if found.saturated:
        assert raw >= found.above - 1e-8
    elif kernel == "berthold" and raw < 0:
        assert found.below is None or found.below == pytest.approx(raw, rel=1e-9, abs=1e-15)
    else:
        # Near 1 the score has few digits of a large raw gap left.
        assert found.above == pytest.approx(raw, rel=1e-15 * max(1, raw) + 1e-9, abs=1e-15)


def test_a_constant_run_has_the_score_of_its_raw_gap_under_every_weight():
    for kernel in ("squeezed", "maxform", "berthold", "dimacs:1.1", "raw"):
        for weight in ("uniform", "early-log:0.1", "steps:0=1,4=0.5"):
            found = gl.primal_integral([0.0], [105.0], reference=100.0, horizon=10.0, kernel=kernel, weight=weight)
            assert found == pytest.approx(score_of_raw_gap(0.05, kernel), rel=1e-12)


def test_the_table_has_a_row_per_question_and_kernel():
    table = scale_table([0.05, 0.2], [0.01], kernels=["squeezed", "berthold"])
    assert table.select("given", "kernel").rows() == [
        ("score", "squeezed"), ("score", "berthold"), ("score", "squeezed"), ("score", "berthold"),
        ("raw gap", "squeezed"), ("raw gap", "berthold"),
    ]  # fmt: skip
    assert table["raw_gap_below"].to_list() == [None, -0.05, None, -0.2, None, None]
    # 0.01 / 2.01 and 0.01 / 1.01.
    assert table["score"].to_list()[-2:] == pytest.approx([1 / 201, 1 / 101])
    assert scale_table(kernels=["raw"])["raw_gap"].to_list() == [-0.5, -0.1, -0.05, 0.0, 0.05, 0.1, 1.0]


def test_what_is_no_number_and_what_has_no_inverse_is_refused():
    for raw in (-1.0, -2.0, math.nan, math.inf):
        with pytest.raises(UsageError, match="expected a number above -1"):
            score_of_raw_gap(raw)
    with pytest.raises(UsageError, match="expected a finite number"):
        kernel_inverse(math.nan)
    mine = gl.register_kernel("of convert", lambda z, reference: z / reference, before=9.0)
    for kernel in (mine, "of convert", "python:mine:kernel"):
        with pytest.raises(UsageError, match="known inverse"):
            kernel_inverse(0.5, kernel)
