"""The simulations of docs/statistics.md in small: the default keeps its error rate, the paper's bootstrap does not."""

import numpy as np
import pytest
from simulations.nulls import LAWS, Design, draw_null
from simulations.rates import FAST, _fast_rate, null_rates, power

from gapline.statistics.estimate import DEFAULT_METHOD, Method, panel_equal


def normal_rates(design, **given):
    return null_rates("normal", design, 1, **({"campaigns": 400, "fast": 4000, "seed": 3} | given))


@pytest.mark.parametrize("design", [Design(1, 3), Design(2, 3), Design(1, 10), Design(4, 20)], ids=str)
def test_the_default_is_not_too_sure_with_few_instances(design):
    """Of 4,000 comparisons of arms that do not differ at most 6 % are called different: 5 %, and three errors of it."""
    rates = normal_rates(design, campaigns=1)
    assert 0.015 <= rates[DEFAULT_METHOD].error <= 0.06
    assert rates[DEFAULT_METHOD].covered == pytest.approx(1 - rates[DEFAULT_METHOD].error)
    assert rates[Method.T].error == pytest.approx(0.05, abs=0.018)


@pytest.mark.slow
def test_the_papers_bootstrap_is_far_too_sure_with_three():
    rates = normal_rates(Design(1, 3), fast=10)
    assert rates[Method.PERCENTILE].error > 0.2
    assert rates[Method.PERCENTILE].covered < 0.85
    assert rates[Method.SIGN_FLIP] == (0.0, pytest.approx(float("nan"), nan_ok=True), 0.0, 400)


@pytest.mark.parametrize("law", [law for law in LAWS if law != "skewed"])
def test_the_default_holds_for_every_shape_but_strong_skewness(law):
    design = Design(3, 10)
    rate = null_rates(law, design, 2, campaigns=1, fast=4000, seed=5)[DEFAULT_METHOD]
    assert rate.error <= 0.06


def test_strong_skewness_costs_the_default_less_than_student():
    rates = null_rates("skewed", Design(1, 10), 1, campaigns=1, fast=4000, seed=6)
    assert rates[Method.SKEW_T].error < 0.7 * rates[Method.T].error


@pytest.mark.parametrize("law", list(LAWS))
def test_campaigns_of_a_law_have_mean_zero(law):
    rows = draw_null(law, Design(2, 4), seeds=2, campaigns=40_000, generator=np.random.default_rng(1))
    assert rows.shape == (40_000, 8)
    assert abs(rows.mean()) < 4 * rows.std() / np.sqrt(rows.size)


def test_judging_all_campaigns_at_once_is_judging_each():
    """The fast path is the method that the commands use, not another one of that name."""
    design = Design(2, 4)
    rows = draw_null("skewed", design, seeds=1, campaigns=60, generator=np.random.default_rng(2))
    for method in FAST:
        judged = [panel_equal(row, design.strata, draws=9).judge(method=method) for row in rows]
        fast = _fast_rate(rows, design, method)
        assert fast.error == np.mean([one.p <= 0.05 for one in judged])
        assert fast.covered == np.mean([one.low <= 0 <= one.high for one in judged])


def test_the_guard_costs_little_power():
    found = power(Design(3, 10), campaigns=1, fast=4000, seed=4)
    assert found[Method.T] == pytest.approx(0.8, abs=0.03)
    assert found[Method.SKEW_T] > 0.72
