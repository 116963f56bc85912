"""Simultaneous intervals: the level at which each of several has to be read so that all hold together."""

import numpy as np
from numpy.typing import NDArray

from gapline.summary.student import stratified_moments
from gapline.summary.tails import t_sf

Floats = NDArray[np.float64]
# Enough to know the level of 95 % to about ±0.2 %.
DRAWS = 10_000
_BLOCK = 1000


def joint_level(pull: Floats, strata: NDArray[np.int64], *, level: float, seed: int = 1) -> float:
    """Return the level of each interval at which all hold together with probability `level`.

    `pull` is units × estimates (`gapline.summary.estimate.Estimate.pull`, 0 for an instance that an estimate does not
    rest on). The largest of correlated t statistics is simulated: instances are weighed by normal numbers, which keeps
    the correlation of the estimates, and divided by one χ with the fewest degrees of freedom among them. Estimates
    that move together cost little, independent ones as much as Bonferroni's rule.

    >>> same = np.outer([-1.0, 0.0, 1.0], [1.0, 1.0])
    >>> abs(joint_level(same, np.zeros(3, np.int64), level=0.95) - 0.95) < 0.01
    True
    """
    moments = stratified_moments(pull, strata)
    moving = moments.error > 0
    if np.count_nonzero(moving) < 2:
        return level
    df = float(moments.df[moving].min())
    # Within a panel of n the weights are centred, and what that takes off the variance is put back.
    size = np.bincount(strata)[strata].astype(np.float64)
    scaled = pull[:, moving] * np.sqrt(size / (size - 1))[:, None]
    scaled = scaled / np.sqrt(np.sum(scaled**2, axis=0))
    generator = np.random.Generator(np.random.PCG64(seed))
    largest = np.empty(DRAWS)
    for start in range(0, DRAWS, _BLOCK):
        weights = generator.standard_normal((_BLOCK, len(strata)))
        largest[start : start + _BLOCK] = np.abs(weights @ scaled).max(axis=1)
    largest /= np.sqrt(generator.chisquare(df, DRAWS) / df)
    return max(level, 1 - 2 * float(t_sf(np.quantile(largest, level), df)))
