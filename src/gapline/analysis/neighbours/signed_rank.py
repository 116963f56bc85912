"""Wilcoxon's signed-rank test of paired differences, exact where it can be."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.summary.cells import TIE
from gapline.summary.tails import normal_sf

Floats = NDArray[np.float64]
# Up to how many differences the distribution is counted out: without ties or zeros, and with them.
MOST_EXACT, MOST_EXACT_TIED = 50, 13


class SignedRank(NamedTuple):
    """The smaller rank sum, the two-sided p-value and how it was found, and the least p that so many can give.

    `p` is None where no difference is left; `used` counts the differences that are not zero.
    """

    statistic: float
    p: float | None
    method: str
    used: int
    smallest: float | None


def signed_rank(differences: Floats, /) -> SignedRank:
    """Test whether paired differences are symmetric about zero.

    Zeros (below the tie tolerance) are left out before ranking (Wilcoxon's own rule, `zero_method="wilcox"` in scipy);
    equal sizes share their mean rank. The p-value counts all signs out where there are at most 50 differences without
    ties or zeros, or at most 13 with them; else it is normal with the tie correction and without one for continuity.
    These are the choices of `scipy.stats.wilcoxon`. With n differences no exact p is below 2^(1-n).

    >>> signed_rank(np.array([0.1, 0.2, 0.3]))
    SignedRank(statistic=0.0, p=0.25, method='exact', used=3, smallest=0.25)
    """
    kept = differences[np.abs(differences) > TIE]
    used = len(kept)
    if not used:
        return SignedRank(0.0, None, "none", 0, None)
    ranks, tied = _ranks(np.abs(kept))
    above = float(ranks[kept > 0].sum())
    below = float(ranks[kept < 0].sum())
    whole = used == len(differences) and not tied.any()
    if len(differences) <= (MOST_EXACT if whole else MOST_EXACT_TIED):
        smallest = 2.0 ** (1 - used)
        return SignedRank(min(above, below), _exact_p(ranks, above), "exact", used, min(1.0, smallest))
    spread = math.sqrt((used * (used + 1) * (2 * used + 1) - float(tied.sum()) / 2) / 24)
    z = (above - used * (used + 1) / 4) / spread
    return SignedRank(min(above, below), min(1.0, 2 * float(normal_sf(abs(z)))), "normal", used, None)


def _ranks(sizes: Floats) -> tuple[Floats, Floats]:
    """Return ranks, 1 for the smallest, ties sharing their mean, and t³ - t of each group of ties."""
    order = np.argsort(sizes, kind="stable")
    group = np.cumsum(np.diff(sizes[order], prepend=-np.inf) > TIE) - 1
    members = np.bincount(group).astype(np.float64)
    last = np.cumsum(members)
    ranks = np.empty(len(sizes))
    ranks[order] = (last - (members - 1) / 2)[group]
    return ranks, members**3 - members


def _exact_p(ranks: Floats, above: float) -> float:
    """Return twice the smaller tail of the rank sum under all signs."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for rank in doubled:
        shifted = np.zeros(len(chances))
        shifted[rank:] = chances[: len(chances) - rank]
        chances = (chances + shifted) / 2
    seen = round(2 * above)
    return min(1.0, 2 * min(float(chances[: seen + 1].sum()), float(chances[seen:].sum())))
