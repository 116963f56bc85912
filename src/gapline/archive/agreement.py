"""Whether two measurements of one thing agree: a difference of two arms, and the order of all of them."""

import math
from collections.abc import Sequence
from itertools import combinations

from gapline.model.replication import Agreement, Measured, RankAgreement
from gapline.summary.cells import TIE


def order_of(difference: float | None) -> int | None:
    """Return which arm is better by a difference: -1 the first, 1 the second, 0 neither; None without one.

    >>> order_of(-0.1), order_of(1e-13), order_of(None)
    (-1, 0, None)
    """
    if difference is None:
        return None
    return 0 if abs(difference) < TIE else (1 if difference > 0 else -1)


def judge_agreement(old: Measured, new: Measured) -> Agreement:
    """Say what became of a difference.

    >>> told = Measured(instances=9, difference=-0.2, low=-0.3, high=-0.1)
    >>> open_ = Measured(instances=9, difference=0.1, low=-0.3, high=0.5)
    >>> turned = Measured(instances=9, difference=0.2, low=0.1, high=0.3)
    >>> [judge_agreement(told, other).value for other in (told, open_, turned)]
    ['agrees', 'differs in sign, not told apart', 'contradicts']
    """
    if any(one.difference is None or one.low is None for one in (old, new)):
        return Agreement.NOT_TESTED
    same = order_of(old.difference) == order_of(new.difference)
    if old.told_apart and new.told_apart:
        # By the intervals: one by bootstrap need not hold the difference that it is of.
        return Agreement.AGREES if _side(old) == _side(new) else Agreement.CONTRADICTS
    return Agreement.SAME_SIGN if same else Agreement.OTHER_SIGN


def _side(told: Measured) -> bool:
    return told.low is not None and told.low > 0


def rank_agreement(old: Sequence[float], new: Sequence[float]) -> RankAgreement:
    """Return Kendall's tau-b of two lists of means, each pair of arms looked at; means nearer than 1e-12 are tied.

    With C concordant and D discordant pairs, T of them tied on the one side alone and U on the other alone,
    tau = (C - D) / √((C + D + T)(C + D + U)): 1 for the same order, -1 for the reverse one.

    >>> rank_agreement([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]).tau
    0.3333333333333333
    """
    counts = dict.fromkeys(("concordant", "discordant", "tied_old", "tied_new", "tied_both"), 0)
    for i, j in combinations(range(len(old)), 2):
        one, two = order_of(old[i] - old[j]), order_of(new[i] - new[j])
        if one == 0 or two == 0:
            counts["tied_both" if one == two else "tied_old" if one == 0 else "tied_new"] += 1
        else:
            counts["concordant" if one == two else "discordant"] += 1
    ordered = counts["concordant"] + counts["discordant"]
    # A root of the product of two whole numbers: exact where both sides have the same ties.
    product = (ordered + counts["tied_old"]) * (ordered + counts["tied_new"])
    tau = (counts["concordant"] - counts["discordant"]) / math.sqrt(product) if product else None
    return RankAgreement(arms=len(old), tau=tau, **counts)
