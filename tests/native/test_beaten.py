"""Beaten: below by more than the tolerance, for numbers and arrays, whatever the unit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gapline as gl
from gapline.errors import UsageError
from gapline.native.kernel_formulas import check_tolerance, is_beaten
from gapline.references.fold import fold
from gapline.report.statements.remarks import negative_lines
from gapline.study.analyse import analyse


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


PROVEN = 0.258052699348924


def printed(unit, **more):
    """Return a study of one run whose log prints 0.2580526 for a certified 0.258052699…, to so many digits."""
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10.0, "trace": [(0, 0.2580526)]}
    campaign = gl.Campaign.from_runs([run | ({} if unit is None else {"value_resolution": unit}) | more])
    snapshot = gl.Snapshot.from_values({"i": PROVEN}, name="proven", certified=["i"])
    return gl.open_study(campaign, snapshots=[snapshot])


def test_a_value_within_the_last_printed_digit_of_the_optimum_is_no_discovery():
    exact, rounded = printed(None), printed(2e-7)
    assert (len(exact.alarms), len(rounded.alarms)) == (1, 0)
    assert [study.scores[0].frame["beaten"].to_list() for study in (exact, rounded)] == [[True], [False]]
    assert (len(negative_lines(exact.scores[0])) > 0, negative_lines(rounded.scores[0])) == (True, [])
    assert [analyse(study).readings.beaten[0].tolist() for study in (exact, rounded)] == [[True], [False]]
    # A value that is better by more than its digits allow stays one.
    assert len(printed(1e-9).alarms) == 1


def test_a_fold_takes_nothing_that_only_its_print_makes_better():
    for unit, changes in ((None, 1), (2e-7, 0)):
        study = printed(unit)
        known = gl.Snapshot.from_values({"i": PROVEN}, name="known")
        assert len(fold(known, study.envelopes, name="new", trust_solver=True).changes) == changes


@pytest.mark.parametrize(
    ("transform", "slack"),
    [("none", 0.5), ("shift:10", 0.5), ("negate-shift:100", 0.5), ("reciprocal", 1 / 19.5 - 0.05)],
)
def test_the_slack_of_a_print_is_on_the_scale_that_is_scored(transform, slack):
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10.0, "trace": [(1, 20.0)], "value_resolution": 1.0}
    envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]), transform=transform)
    assert envelopes.runs["print_slack"].to_list() == [pytest.approx(slack)]
    assert envelopes.worst_best.tolist() == [pytest.approx(envelopes.runs["best"][0] + slack)]
