"""Pairs of arms by the classical comparisons, with Wilcoxon's signed-rank test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gapline.contract.tables import PAIRS
from gapline.measures.compared_arms import Compared
from gapline.measures.improvement import probability_of_improvement
from gapline.measures.ranks import MeanRanks
from gapline.native.arrays import Floats
from gapline.scoring.run_references import ReadTable
from gapline.scoring.weighting import parse_weighting
from gapline.statistics.cells import TIE, Pair, remaining_pairs
from gapline.statistics.contrasts import holm

# The largest numbers of differences for an exact p: without ties or zeros, and with them.
MOST_EXACT, MOST_EXACT_TIED = 50, 13


class SignedRank(NamedTuple):
    """The smaller rank sum, the two-sided p-value and its method, and the smallest p that these differences can give.

    `p` is None if no difference is left; `used` counts the differences that are not zero.
    """

    statistic: float
    p: float | None
    method: str
    used: int
    smallest: float | None


def signed_rank(differences: Floats, /) -> SignedRank:
    """Test whether paired differences are symmetric about zero.

    Zeros (below the tie tolerance) are left out before ranking (Wilcoxon's own rule, `zero_method="wilcox"` in scipy);
    equal sizes share their mean rank. The p-value is exact, over all signs, for at most 50 differences without ties or
    zeros, or at most 13 with them; otherwise it is normal, with tie correction and without continuity correction.
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
    from scipy.special import ndtr

    z = (above - used * (used + 1) / 4) / spread
    return SignedRank(min(above, below), min(1.0, 2 * float(ndtr(-abs(z)))), "normal", used, None)


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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NeighbourPairs(ReadTable):
    """One row per pair of tier-1 arms, declared contrasts first.

    `signed_rank`, `p`, `smallest_p` and `method` are Wilcoxon's on the differences of instance means; `p_holm` is
    adjusted over the declared contrasts, the others are exploratory and have none. `nemenyi_p` compares all arms at
    once. `improvement` is the probability that a run of a scores below one of b. `signed_area`, `absolute_area` and
    `ahead` compare the mean curves; they are null if the kernel has none.
    """

    level: float

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        declared = int(self.frame["declared"].sum())
        return (
            f"pairs by {self.reading.kernels[0]} score: Wilcoxon signed rank on instance means, zeros left out, Holm "
            f"over {declared} declared contrasts, {len(self) - declared} exploratory; probability of improvement with "
            f"{self.level:.0%} interval by Student's t over instances, guarded against skewness; area between the mean "
            f"curves over the horizon; "
            f"{self.reading.line()}"
        )


def neighbour_pairs(
    compared: Compared,
    /,
    *,
    declared: Sequence[Pair] = (),
    ranks: MeanRanks | None = None,
    areas: pl.DataFrame | None = None,
    weighting: str = "panel",
    level: float = 0.95,
) -> NeighbourPairs:
    """Compare every pair of tier-1 arms; columns from `ranks` and `areas` of the same arms are added.

    Missing incumbents, beaten references and unbalanced cells as in `signed_rank`, `probability_of_improvement` and
    `curve_areas`: a pair is compared on the instances that both of its arms ran.
    """
    taken = {frozenset(pair) for pair in declared}
    pairs = [*declared, *remaining_pairs(declared, compared.arms)]
    chances = probability_of_improvement(compared, pairs, weighting=weighting, level=level)
    places = {} if ranks is None or ranks.friedman is None else {a: k for k, a in enumerate(ranks.frame["arm"])}
    between = {} if areas is None else {(row["a"], row["b"]): row for row in areas.iter_rows(named=True)}
    rows: list[dict[str, Any]] = []
    for (a, b), chance in zip(pairs, chances, strict=True):
        one, other, chosen = compared.pair(a, b)
        test, area = signed_rank(one - other), between.get((a, b), {})
        rows.append(
            {
                "a": a,
                "b": b,
                "declared": frozenset((a, b)) in taken,
                "instances": int(chosen.sum()),
                "signed_rank": test.statistic if test.used else None,
                "p": test.p,
                "p_holm": None,
                "smallest_p": test.smallest,
                "method": test.method,
                "nemenyi_p": float(ranks.nemenyi[places[a], places[b]]) if ranks is not None and places else None,
                "improvement": chance.value,
                "improvement_low": chance.low,
                "improvement_high": chance.high,
                "signed_area": area.get("signed"),
                "absolute_area": area.get("absolute"),
                "ahead": area.get("ahead"),
                "reason": _reason(test, int(chosen.sum()), 1 - level),
            }
        )
    tested = [row for row in rows if row["declared"] and row["p"] is not None]
    for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
        row["p_holm"] = float(p)
    reading = replace(compared.reading, weighting=parse_weighting(weighting).value)
    return NeighbourPairs(pl.DataFrame(rows, schema=PAIRS), reading, level)


def _reason(test: SignedRank, instances: int, alpha: float) -> str | None:
    """Return why there is no test, or a note that so few instances cannot show anything."""
    if not instances:
        return "no instance that both arms ran"
    if test.p is None:
        return "tied on every instance"
    if test.smallest is not None and test.smallest > alpha:
        return f"{test.used} instances that differ cannot give p below {test.smallest:.3g}"
    if test.smallest is not None and test.p <= test.smallest * 1.000001:
        return f"p {test.p:.3g} is the smallest that {test.used} instances can give"
    return None
