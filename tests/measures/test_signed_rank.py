"""Wilcoxon's test equals scipy's, its choice of method included."""

import numpy as np
import pytest
from scipy import stats

from gapline.measures.pairs import signed_rank


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3, 6, 13, 14, 50, 51, 200])
@pytest.mark.parametrize("kind", ["plain", "ties", "zeros"])
def test_equal_to_scipy(size, kind):
    draw = np.random.default_rng(size)
    for shift in (0.0, 0.3, 2.0):
        values = draw.standard_normal(size) + shift
        if kind != "plain":
            values = np.round(values * 2)
        if kind == "ties":
            values = np.where(values == 0, 1.0, values)
        if not values.any():
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            known = stats.wilcoxon(values)
        found = signed_rank(values)
        assert found.p == pytest.approx(known.pvalue, rel=1e-9)
        assert found.statistic == known.statistic


def test_the_smallest_p_is_that_of_one_sided_differences():
    for size in (3, 6, 13):
        found = signed_rank(np.arange(1.0, size + 1))
        assert found.p == pytest.approx(found.smallest, rel=1e-12)
        assert found.smallest == 2.0 ** (1 - size)
    assert signed_rank(np.arange(1.0, 60)).smallest is None


def test_zeros_by_the_tolerance_and_nothing_but_zeros():
    found = signed_rank(np.array([1e-14, 1.0, 2.0]))
    assert (found.used, found.p, found.smallest) == (2, 0.5, 0.5)
    assert signed_rank(np.zeros(4)).p is None
    assert signed_rank(np.array([])).p is None
