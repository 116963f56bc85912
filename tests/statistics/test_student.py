"""Student's t over panels: scipy's tests where they exist, and the two halves of the guard agree with each other."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from gapline.statistics.student import Moments, panel_centred, stratified_moments, student_interval, student_p


def of_panels(*panels):
    """Panel-equal mean of several samples: its value and moments."""
    strata = np.repeat(np.arange(len(panels)), [len(panel) for panel in panels])
    weights = np.concatenate([np.full(len(panel), 1 / len(panel) / len(panels)) for panel in panels])
    values = np.concatenate(panels)
    pull = weights[:, None] * panel_centred(values[:, None], strata)
    return float(weights @ values), stratified_moments(pull, strata)


@pytest.mark.parametrize("size", [2, 3, 8, 40])
def test_one_panel_is_the_one_sample_t_test(size):
    data = np.random.default_rng(size).normal(0.3, 1.0, size)
    value, moments = of_panels(data)
    want = stats.ttest_1samp(data, 0.0)
    assert student_p(value, moments, guarded=False)[0] == pytest.approx(want.pvalue, rel=1e-10)
    ends = [float(end[0]) for end in student_interval(value, moments, level=0.9, guarded=False)]
    assert ends == pytest.approx(list(want.confidence_interval(0.9)), rel=1e-10)
    assert moments.error[0] == pytest.approx(stats.sem(data), rel=1e-12)


@pytest.mark.parametrize(("n", "m", "scale"), [(3, 3, 1.0), (3, 9, 10.0), (20, 4, 0.1)])
def test_two_panels_are_welchs_test(n, m, scale):
    """(mean x + mean y) / 2 is zero where x and -y have one mean: Welch's degrees of freedom are Satterthwaite's."""
    rng = np.random.default_rng(n)
    x, y = rng.normal(0.2, 1.0, n), rng.normal(0.1, scale, m)
    value, moments = of_panels(x, y)
    want = stats.ttest_ind(x, -y, equal_var=False)
    assert student_p(value, moments, guarded=False)[0] == pytest.approx(want.pvalue, rel=1e-10)
    assert moments.df[0] == pytest.approx(want.df, rel=1e-12)
    low, high = student_interval(value, moments, level=0.95, guarded=False)
    assert [2 * low[0], 2 * high[0]] == pytest.approx(list(want.confidence_interval(0.95)), rel=1e-9)


def test_the_skewness_is_that_of_the_mean():
    """In one panel: scipy's unbiased skewness over the root of the number."""
    data = np.random.default_rng(4).exponential(size=30)
    _, moments = of_panels(data)
    n, second, third = len(data), stats.moment(data, 2), stats.moment(data, 3)
    unbiased = third * n**2 / ((n - 1) * (n - 2)) / (second * n / (n - 1)) ** 1.5
    assert moments.skewness[0] == pytest.approx(unbiased / np.sqrt(n), rel=1e-12)


@given(st.floats(-5, 5), st.floats(0.01, 10), st.floats(1, 50), st.floats(-3, 3), st.floats(0.5, 0.99), st.booleans())
@example(1.0, 0.5, 2.0, 0.0, 0.95, True)
@example(1.0, 0.5, 2.0, 1e-9, 0.95, True)
@example(-6.0, 1.0, 8.0, 0.5, 0.95, True)
@example(-6.0, 1.0, 8.0, -0.5, 0.95, True)
@example(6.0, 1.0, 8.0, 0.5, 0.95, True)
@example(6.0, 1.0, 8.0, -0.5, 0.95, True)
def test_the_interval_leaves_zero_out_exactly_where_p_is_small(value, error, df, skewness, level, guarded):
    moments = Moments(np.array([error]), np.array([df]), np.array([skewness]))
    low, high = student_interval(value, moments, level=level, guarded=guarded)
    p = float(student_p(value, moments, guarded=guarded)[0])
    if abs(p - (1 - level)) > 1e-6:
        assert (p < 1 - level) == (low[0] > 0 or high[0] < 0)


@given(st.floats(-5, 5), st.floats(0.01, 10), st.floats(1, 50), st.floats(-3, 3))
def test_the_guard_never_narrows(value, error, df, skewness):
    moments = Moments(np.array([error]), np.array([df]), np.array([skewness]))
    plain, guarded = (student_interval(value, moments, level=0.95, guarded=flag) for flag in (False, True))
    assert guarded[0][0] <= plain[0][0]
    assert guarded[1][0] >= plain[1][0]
    assert student_p(value, moments, guarded=True)[0] >= student_p(value, moments, guarded=False)[0]


def test_without_spread_there_is_no_error_and_no_number_that_is_none():
    moments = stratified_moments(np.zeros((4, 2)), np.zeros(4, np.int64))
    assert moments.error.tolist() == [0.0, 0.0]
    assert np.isfinite(moments.df).all()
    assert student_p(np.array([0.0, 1.0]), moments, guarded=True).tolist() == [1.0, 0.0]


def test_columns_are_judged_each_by_itself():
    rng = np.random.default_rng(3)
    strata = np.array([0, 0, 0, 1, 1, 1, 1])
    pull = panel_centred(rng.normal(size=(7, 3)) / 7, strata)
    together = stratified_moments(pull, strata)
    for column in range(3):
        alone = stratified_moments(pull[:, [column]], strata)
        assert [float(part[0]) for part in alone] == pytest.approx([float(part[column]) for part in together])
