"""Draws of instances inside their panels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gapline.summary.draws import draw_counts


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
