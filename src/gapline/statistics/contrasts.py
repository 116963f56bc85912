"""Paired contrasts: signed differences in score units, with intervals, p-values and Holm for declared contrasts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from gapline.contract.tables import CONTRASTS
from gapline.errors import UsageError
from gapline.native.arrays import Floats
from gapline.scoring.scores import Scores
from gapline.statistics.bootstrap import Bootstrap, JudgedTable
from gapline.statistics.cells import Pair, check_arms, finite_or_none, remaining_pairs, sign
from gapline.statistics.estimate import DEFAULT_METHOD, Estimate, Method, parse_method
from gapline.statistics.intervals import joint_level

# Sign flips of fewer instances than this cannot give p ≤ 0.05.
FEW = 6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contrasts(JudgedTable):
    """One row per pair of arms.

    `difference` is the mean of `a` minus that of `b`: if negative, `a` is better. `p_holm` exists only for declared
    contrasts; the others are exploratory. `p_smallest` is the smallest p that the method can give with these instances,
    null if there is no such bound. `wins` counts instances on which `a` has the smaller mean. `each_level` is the level
    of each declared interval at which all of them hold together, None if that was not requested. `why_unranked` says
    why the kernel allows no tests, None if it does.
    """

    each_level: float | None = None
    why_unranked: str | None = None

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        declared = int(self.frame["declared"].sum())
        return (
            f"difference a - b in {self.reading.kernels[0]} score units, {self.level:.0%} interval by "
            f"{self.how}{self._together()}; Holm over {declared} declared contrasts, {len(self) - declared} "
            f"exploratory; {self.reading.line()}"
        )

    def _together(self) -> str:
        if self.each_level is None:
            return ""
        return f", simultaneous for the declared contrasts (each at {self.each_level:.2%})"

    def notes(self) -> list[str]:
        """Return why there are no p-values, or caveats about them, each once."""
        if self.why_unranked is not None:
            return [self.why_unranked]
        rows = self.frame.select("instances", "p", "p_smallest").iter_rows()
        found = [few_notes(count, p, least, self.method) for count, p, least in rows]
        return list(dict.fromkeys(note for notes in found for note in notes))


def few_notes(instances: int, p: float | None, smallest: float | None, method: str) -> list[str]:
    """Return notes on a p-value that is the smallest possible, and on its assumptions if there are few instances.

    >>> few_notes(6, 0.03125, 0.03125, "sign-flip")
    ['p = 0.031, the smallest that 6 instances can give']
    """
    if p is None:
        return []
    found = []
    if smallest is not None and p <= smallest * (1 + 1e-9):
        found.append(f"p = {p:.2g}, the smallest that {instances} instances can give")
    if instances < FEW and method != Method.SIGN_FLIP:
        found.append(
            f"with fewer than {FEW} instances no test can show p ≤ 0.05 without assuming a shape of the differences; "
            f"{method} assumes that they are nearly normal"
        )
    return found


def contrasts(
    scores: Scores | Bootstrap,
    /,
    *,
    declared: Sequence[Pair] = (),
    exploratory: Sequence[Pair] | None = None,
    method: str | Method = DEFAULT_METHOD,
    level: float = 0.95,
    simultaneous: bool = False,
) -> Contrasts:
    """Compare pairs of arms, paired by instance.

    Parameters
    ----------
    scores
        Per-run scores, or a `Bootstrap` of them with your choice of draws, seed and weighting.
    declared
        The pairs named before the data were seen; only these are adjusted (Holm).
    exploratory
        Further pairs, marked as such; by default all remaining pairs of the arms that ran the same instances. An arm of
        tier 2 is descriptive: a contrast that names one is refused.
    method, level
        The method of intervals and p-values (`gapline.statistics.estimate.Method`), and the level of the intervals.
    simultaneous
        Widen the intervals of the declared contrasts so that all of them hold together at the level.
    """
    boot = scores if isinstance(scores, Bootstrap) else Bootstrap(scores)
    named = [*declared, *(exploratory or ())]
    check_arms(sorted({name for pair in named for name in pair}), boot.reading.tier_two, "contrast")
    for a, b in named:
        if a == b:
            raise UsageError(f"contrast: expected two arms, got {a!r} twice")
    taken = {frozenset(pair) for pair in declared}
    if len(taken) < len(declared):
        raise UsageError("contrast: expected each declared pair once, got one twice")
    if exploratory is None:
        exploratory = remaining_pairs(declared, boot.compared)
    pairs = [(*pair, True) for pair in declared]
    pairs += [(*pair, False) for pair in exploratory if frozenset(pair) not in taken]
    estimates = [boot.difference(a, b) for a, b, _ in pairs]
    family = [estimate for estimate, (_, _, known) in zip(estimates, pairs, strict=True) if known]
    each = _joint_level(boot, pairs, family, level) if simultaneous and family else None
    rows = [
        _row(boot, (a, b), estimate, declared=known, method=method, level=(each or level) if known else level)
        for (a, b, known), estimate in zip(pairs, estimates, strict=True)
    ]
    # Only declared contrasts form Holm's family: exploratory pairs would only loosen it.
    adjusted = [row for row in rows if row["declared"] and row["p"] is not None]
    for row, p in zip(adjusted, holm([row["p"] for row in adjusted]), strict=True):
        row["p_holm"] = float(p)
    frame = pl.DataFrame(rows, schema=CONTRASTS)
    return Contrasts(
        frame, boot.reading, level, boot.draws, boot.seed, parse_method(method).value, each, boot.why_unranked
    )


def holm(p_values: ArrayLike, /) -> Floats:
    """Adjust p-values by Holm's step-down rule: the k-th smallest of m times m - k + 1, kept in order, at most 1.

    >>> holm([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)) if len(p) else p
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _joint_level(
    boot: Bootstrap, pairs: Sequence[tuple[str, str, bool]], family: Sequence[Estimate], level: float
) -> float:
    """Return the level of each declared interval at which all of them hold together."""
    pull = np.zeros((len(boot.cells.units), len(family)))
    declared = [(a, b) for a, b, known in pairs if known]
    for column, ((a, b), estimate) in enumerate(zip(declared, family, strict=True)):
        if estimate.reason is None:
            both = (boot.counts[boot.cells.arm_number(a)] > 0) & (boot.counts[boot.cells.arm_number(b)] > 0)
            pull[both, column] = estimate.pull
    kept = pull.any(axis=0)
    panels = np.bincount(boot.cells.panel)[boot.cells.panel] > 1
    return joint_level(pull[panels][:, kept], boot.cells.panel[panels], level=level, seed=boot.seed)


def _row(
    boot: Bootstrap, pair: Pair, estimate: Estimate, *, declared: bool, method: str | Method, level: float
) -> dict[str, Any]:
    a, b = pair
    found = estimate.judge(method=method, level=level)
    signs = sign(boot.means[boot.cells.arm_number(a)] - boot.means[boot.cells.arm_number(b)])
    wins, losses = int(np.sum(signs < 0)), int(np.sum(signs > 0))
    return {
        "a": a,
        "b": b,
        "declared": declared,
        "instances": estimate.instances,
        "mean_a": finite_or_none(estimate.parts[0]),
        "mean_b": finite_or_none(estimate.parts[1]),
        "difference": finite_or_none(estimate.value),
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "p_smallest": found.smallest,
        "p_holm": None,
        "wins": wins,
        "ties": estimate.instances - wins - losses,
        "losses": losses,
        "reason": found.reason,
    }
