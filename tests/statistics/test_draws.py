"""Draws of instances inside their panels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.statistics.intervals import draw_counts


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 1000))
def test_draws_keep_the_size_of_every_stratum(strata, seed):
    strata = np.array(strata)
    counts = draw_counts(strata, draws=20, seed=seed)
    for stratum in np.unique(strata):
        assert np.all(counts[:, strata == stratum].sum(axis=1) == np.sum(strata == stratum))
    assert counts.tobytes() == draw_counts(strata, draws=20, seed=seed).tobytes()


def test_another_seed_draws_other_units():
    strata = np.zeros(5, np.int64)
    assert draw_counts(strata, draws=50, seed=1).tolist() != draw_counts(strata, draws=50, seed=2).tolist()


def test_each_unit_is_drawn_as_its_stratum_is_wherever_it_stands():
    """Three of stratum 0 and two of stratum 1, side by side or mixed: the draws of a stratum are the same."""
    apart = draw_counts(np.array([0, 0, 0, 1, 1]), draws=30, seed=1)
    mixed = draw_counts(np.array([1, 0, 0, 1, 0]), draws=30, seed=1)
    assert mixed.tolist() == apart[:, [3, 0, 1, 4, 2]].tolist()


@pytest.mark.parametrize(("units", "bytes_each"), [(255, 1), (256, 2)])
def test_counts_are_as_small_as_a_stratum_allows(units, bytes_each):
    assert draw_counts(np.zeros(units, np.int64), draws=3, seed=1).itemsize == bytes_each


def test_blocks_of_draws_show_in_no_draw(monkeypatch):
    strata = np.array([0, 0, 0, 1, 1])
    whole = draw_counts(strata, draws=30, seed=1)
    monkeypatch.setattr("gapline.statistics.intervals._PICKS", 7)
    assert draw_counts(strata, draws=30, seed=1).tolist() == whole.tolist()
