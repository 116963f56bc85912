"""Bootstrap draws: the same numbers on every machine for the same seed."""

import numpy as np
from numpy.typing import NDArray


def draw_counts(strata: NDArray[np.int64], *, draws: int, seed: int) -> NDArray[np.float64]:
    """Draw units with replacement inside each stratum; return draws × units, how often each unit was drawn.

    PCG64 through integers only, so that the draws are the same everywhere.

    >>> draw_counts(np.array([0, 0, 1]), draws=2, seed=1).sum(axis=1).tolist()
    [3.0, 3.0]
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    counts = np.zeros((draws, len(strata)))
    for stratum in np.unique(strata):
        units = np.flatnonzero(strata == stratum)
        picked = generator.integers(0, len(units), size=(draws, len(units)))
        flat = (np.arange(draws)[:, None] * len(units) + picked).ravel()
        counts[:, units] = np.bincount(flat, minlength=draws * len(units)).reshape(draws, len(units))
    return counts
