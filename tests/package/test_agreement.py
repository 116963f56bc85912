"""Kendall's tau-b against a slow one in exact numbers and against SciPy's, and the verdict on a difference."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.package.comparison import judge_agreement, order_of, rank_agreement
from gapline.study.replication import Agreement, Measured
from package.two_studies import slow_tau

ranks = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=0, max_size=9)


@given(ranks)
def test_tau_is_that_of_the_slow_count(pairs):
    old, new = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    found, slow = rank_agreement(old, new), slow_tau(old, new)
    assert (found.tau is None) == (slow is None)
    if slow is not None:
        assert found.tau == pytest.approx(math.copysign(math.sqrt(abs(slow)), slow), abs=1e-15)
    counted = found.concordant + found.discordant + found.tied_old + found.tied_new + found.tied_both
    assert counted == len(pairs) * (len(pairs) - 1) // 2


@given(ranks)
def test_tau_is_that_of_scipy(pairs):
    stats = pytest.importorskip("scipy.stats")
    old, new = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    found = rank_agreement(old, new)
    if found.tau is not None:
        assert found.tau == pytest.approx(stats.kendalltau(old, new).statistic, abs=1e-12)


def test_by_hand():
    """Of six pairs: one tied there alone, one here alone, four in the same order."""
    found = rank_agreement([1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 4.0, 4.0])
    assert (found.concordant, found.discordant, found.tied_old, found.tied_new, found.tied_both) == (4, 0, 1, 1, 0)
    assert found.tau == 4 / 5
    assert rank_agreement([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]).tau == -1.0


def test_means_nearer_than_the_tie_are_tied():
    found = rank_agreement([0.1, 0.1 + 1e-14], [0.1, 0.2])
    assert (found.tied_old, found.tau) == (1, None)


@pytest.mark.parametrize("means", [[], [0.5]])
def test_without_a_pair_there_is_no_tau(means):
    assert rank_agreement(means, means).tau is None


def measured(difference, low, high):
    return Measured(instances=8, difference=difference, low=low, high=high)


BELOW, ABOVE = measured(-0.2, -0.3, -0.1), measured(0.2, 0.1, 0.3)
OPEN_BELOW, OPEN_ABOVE, LEVEL = measured(-0.1, -0.4, 0.2), measured(0.1, -0.2, 0.4), measured(0.0, -0.1, 0.1)
NONE = Measured(instances=1, difference=-0.2, reason="one instance")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (BELOW, BELOW, Agreement.AGREES),
        (ABOVE, ABOVE, Agreement.AGREES),
        (BELOW, ABOVE, Agreement.CONTRADICTS),
        (BELOW, OPEN_BELOW, Agreement.SAME_SIGN),
        (OPEN_BELOW, OPEN_BELOW, Agreement.SAME_SIGN),
        (BELOW, OPEN_ABOVE, Agreement.OTHER_SIGN),
        (OPEN_BELOW, OPEN_ABOVE, Agreement.OTHER_SIGN),
        (LEVEL, LEVEL, Agreement.SAME_SIGN),
        (LEVEL, OPEN_ABOVE, Agreement.OTHER_SIGN),
        (BELOW, NONE, Agreement.NOT_TESTED),
        (Measured(instances=0), BELOW, Agreement.NOT_TESTED),
    ],
)
def test_what_becomes_of_a_difference(old, new, expected):
    assert judge_agreement(old, new) is expected
    assert judge_agreement(new, old) is expected


def test_an_interval_that_touches_zero_tells_nothing_apart():
    assert not measured(-0.2, -0.4, 0.0).told_apart
    assert order_of(-1e-13) == 0
