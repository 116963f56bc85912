"""Sign flips: if two arms do not differ, swapping them on any instance changes nothing.

The test assumes only that differences lie symmetrically about their mean. Its p-values are whole multiples of 2 / 2ⁿ
over n instances that differ, so that six are needed for p ≤ 0.05; the interval holds every shift that it does not
reject.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# So many instances are enumerated, which is exact; of more, signs are drawn.
EXACT = 14
# Sums that differ by rounding alone are the same sum.
_ROUNDING = 1e-12


class Flips(NamedTuple):
    """Under each assignment of signs: the pooled difference and the sum of the weights; the first flips nothing."""

    difference: Floats
    weight: Floats
    exact: bool


def flip_signs(parts: Floats, weights: Floats, *, draws: int, seed: int) -> Flips:
    """Flip the instances of a pooled difference in every way, or of many instances in `draws` ways.

    `parts` are the instances' shares of the difference, which is their sum; `weights` their weights in it.
    """
    moving = (parts != 0) | (weights != 0)
    count = int(moving.sum())
    exact = count <= EXACT
    if exact:
        # One sign can stay: turning all of them round gives the same absolute sums.
        numbers = np.arange(2 ** max(0, count - 1))[:, None]
        signs = 1.0 - 2.0 * ((numbers >> np.arange(count)) & 1)
    else:
        generator = np.random.Generator(np.random.PCG64(seed))
        signs = 1.0 - 2.0 * generator.integers(0, 2, size=(draws + 1, count))
        signs[0] = 1.0
    return Flips(_signed_sums(signs, parts[moving]), _signed_sums(signs, weights[moving]), exact)


def _signed_sums(signs: NDArray[np.floating[Any]], values: Floats) -> Floats:
    """Add up the values under each row of signs, one after the other: the page adds them alike."""
    total = np.zeros(len(signs))
    for column, value in zip(signs.T, values.tolist(), strict=True):
        total += column * value
    return total


def flip_p(flips: Flips) -> float:
    """Return the share of flips that leave a difference as large as the one seen, which is one of them.

    >>> equal = np.full(6, 1 / 6)
    >>> flip_p(flip_signs(equal * 0.1, equal, draws=9, seed=1))
    0.03125
    """
    seen = abs(flips.difference[0])
    return float(np.mean(np.abs(flips.difference) >= seen - _ROUNDING * max(1.0, seen)))


def smallest_flip_p(parts: Floats, draws: int) -> float:
    """Return the smallest p that so many instances can give: instances without a difference give none."""
    count = int(np.count_nonzero(parts))
    return 2.0 ** (1 - max(1, count)) if count <= EXACT else 1 / (draws + 1)


def flip_interval(flips: Flips, *, level: float) -> tuple[float, float] | None:
    """Return the shifts of the difference that the test does not reject, None where no level as high can be had.

    A flip with sum B and weight W keeps a shift δ of the difference A while |B - Wδ| ≥ |A - δ|: between (A - B)/(1 - W)
    and (A + B)/(1 + W). The ends are the quantiles of these ends.

    >>> equal = np.full(5, 0.2)
    >>> flip_interval(flip_signs(equal * np.arange(5), equal, draws=9, seed=1), level=0.95) is None
    True
    """
    seen, whole = flips.difference[0], flips.weight[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        one = (seen - flips.difference) / (whole - flips.weight)
        other = (seen + flips.difference) / (whole + flips.weight)
    # Flips of instances that weigh nothing, and the one that flips nothing, reject no shift at all.
    free = (np.abs(flips.weight) >= abs(whole) - _ROUNDING) | np.isnan(one) | np.isnan(other)
    low = np.sort(np.where(free, -np.inf, np.minimum(one, other)))
    high = np.sort(np.where(free, np.inf, np.maximum(one, other)))
    place = int(np.floor((1 - level) * len(low) + _ROUNDING))
    ends = float(low[place]), float(high[len(high) - 1 - place])
    return ends if np.isfinite(ends).all() else None
