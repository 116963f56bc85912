"""The order of the arms: which are compared, which rank each has, and why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gapline.errors import listing
from gapline.report.numbers import DASH
from gapline.scoring.kernels import KernelCode, parse_kernel
from gapline.summary.means import Summary
from gapline.summary.ranking import rank_means


@dataclass(frozen=True, slots=True)
class ArmOrder:
    """The arms as every output lists them: compared ones (tier 1) best first, then descriptive ones (tier 2) by name.

    `ranks` are of the compared arms that have a mean, ties sharing the better one; it is empty where the kernel ranks
    nothing, and `unrankable` says why. `outside` are the kernels that are out of their envelope here: shown, nothing of
    them is ranked or bold. A descriptive arm never has a rank, is never bold and never named as ahead.
    """

    compared: tuple[str, ...]
    descriptive: tuple[str, ...]
    ranks: dict[str, int]
    unrankable: str | None = None
    outside: frozenset[str] = frozenset()

    @property
    def arms(self) -> tuple[str, ...]:
        """All arms, in the order of the rows."""
        return (*self.compared, *self.descriptive)

    def rank(self, arm: str) -> str:
        """Return the rank for printing, a dash where there is none."""
        return str(self.ranks[arm]) if arm in self.ranks else DASH

    def notes(self) -> list[str]:
        """Say who is not compared, and why nothing is ranked."""
        notes = [f"Descriptive, not compared: {listing(self.descriptive)}."] if self.descriptive else []
        return notes + ([f"{self.unrankable[:1].upper()}{self.unrankable[1:]}."] if self.unrankable else [])


def order_arms(summary: Summary, /, *, tier_two: Sequence[str] = (), beaten: int = 0) -> ArmOrder:
    """Order the arms of a summary by the mean of its first kernel.

    `beaten` is how many runs end below their reference: there, Berthold's absolute gap reads an improvement as a loss,
    so that it is out of its envelope and ranks nothing.

    >>> import gapline as gl
    >>> runs = [{"arm": a, "instance": "i", "seed": 1, "horizon": 9, "trace": [(0, z)]}
    ...         for a, z in (("b", 12.0), ("a", 13.0), ("c", 11.0))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> scores = gl.score(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="known"))
    >>> order = order_arms(gl.summarise(scores), tier_two=["c"])
    >>> order.arms, order.ranks
    (('b', 'a', 'c'), {'b': 1, 'a': 2})
    """
    kernel = summary.kernels[0]
    # Equal means are listed by name, so that the order does not depend on that of the files.
    means = dict(summary.frame.select("arm", kernel).sort(kernel, "arm", nulls_last=True).iter_rows())
    compared = tuple(arm for arm in means if arm not in tier_two)
    known = [arm for arm in compared if means[arm] is not None]
    outside = {name for name in summary.kernels if beaten and parse_kernel(name).code is KernelCode.BERTHOLD}
    reason = None
    if kernel in outside:
        reason = f"berthold is out of its envelope: {beaten:,} runs end below their reference; shown, not ranked"
        known = []
    ranks = rank_means(np.array([means[arm] for arm in known], np.float64))
    return ArmOrder(
        compared=compared,
        descriptive=tuple(sorted(arm for arm in means if arm in tier_two)),
        ranks=dict(zip(known, ranks.tolist(), strict=True)),
        unrankable=reason,
        outside=frozenset(outside),
    )
