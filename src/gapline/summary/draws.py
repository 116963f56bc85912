"""Bootstrap draws: the same numbers on every machine for the same seed."""

import numba
import numpy as np
from numpy.typing import NDArray


def draw_counts(strata: NDArray[np.int64], *, draws: int, seed: int) -> NDArray[np.float64]:
    """Draw units with replacement inside each stratum; return draws × units, how often each unit was drawn.

    PCG64 through integers only, so that the draws are the same everywhere.

    >>> draw_counts(np.array([0, 0, 1]), draws=2, seed=1).sum(axis=1).tolist()
    [3.0, 3.0]
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    # Strata in the order of their numbers: the same generator then gives `draw_sums` the same units.
    counts = np.zeros((draws, len(strata)))
    for stratum in np.unique(strata):
        units = np.flatnonzero(strata == stratum)
        picked = generator.integers(0, len(units), size=(draws, len(units)))
        flat = (np.arange(draws)[:, None] * len(units) + picked).ravel()
        counts[:, units] = np.bincount(flat, minlength=draws * len(units)).reshape(draws, len(units))
    return counts


def draw_sums(strata: NDArray[np.int64], values: NDArray[np.float64], *, draws: int, seed: int) -> NDArray[np.float64]:
    """Return draws × columns: the sum over the drawn units of their rows of `values`.

    The same draws as `draw_counts`, whose matrix product with the values this is, without the matrix.

    >>> strata, values = np.array([0, 0, 1]), np.array([[1.0], [2.0], [4.0]])
    >>> counts = draw_counts(strata, draws=5, seed=1)
    >>> bool(np.all(draw_sums(strata, values, draws=5, seed=1) == counts @ values))
    True
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    sums = np.zeros((draws, values.shape[1]))
    for stratum in np.unique(strata):
        units = np.flatnonzero(strata == stratum)
        picked = generator.integers(0, len(units), size=(draws, len(units)))
        _add_rows(picked, np.ascontiguousarray(values[units]), sums)
    return sums


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _add_rows(picked, values, sums):  # type: ignore[no-untyped-def] # pragma: no cover
    for draw in range(picked.shape[0]):
        for place in range(picked.shape[1]):
            unit = picked[draw, place]
            for column in range(values.shape[1]):
                sums[draw, column] += values[unit, column]
