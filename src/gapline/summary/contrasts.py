"""Paired contrasts: signed differences in score units, with intervals, p-values and Holm over the declared ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from gapline.errors import UsageError
from gapline.model.tables import CONTRASTS
from gapline.scoring.scores import Scores
from gapline.summary.bootstrap import Bootstrap, DrawnTable
from gapline.summary.cells import finite_or_none, sign
from gapline.summary.intervals import Method, parse_method, two_sided_p

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contrasts(DrawnTable):
    """One row per pair of arms.

    `difference` is the mean of `a` minus that of `b`: negative, `a` is better. `p_holm` exists for declared contrasts
    alone; the others are exploratory. `wins` counts instances on which `a` has the smaller mean.
    """

    method: str

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        declared = int(self.frame["declared"].sum())
        return (
            f"difference a - b in {self.reading.kernels[0]} score units, {self.level:.0%} {self.method} interval from "
            f"{self.drawn}; Holm over {declared} declared contrasts, {len(self) - declared} exploratory; "
            f"{self.reading.line()}"
        )


def contrasts(
    scores: Scores | Bootstrap,
    /,
    *,
    declared: Sequence[Pair] = (),
    exploratory: Sequence[Pair] | None = None,
    method: str | Method = "percentile",
    level: float = 0.95,
) -> Contrasts:
    """Compare pairs of arms on the same draws.

    Parameters
    ----------
    scores
        Per-run scores, or a `Bootstrap` of them with draws, seed or weighting of your own.
    declared
        The pairs named before the data were seen; only these are adjusted (Holm).
    exploratory
        Further pairs, marked as such; all remaining pairs of tier-1 arms where not given. An arm of tier 2 is
        descriptive: a contrast that names one is refused.
    """
    boot = scores if isinstance(scores, Bootstrap) else Bootstrap(scores)
    for name in sorted({name for pair in (*declared, *(exploratory or ())) for name in pair}):
        if name in boot.reading.tier_two:
            raise UsageError(f"contrast: expected arms of tier 1, got {name!r} of tier 2, which is descriptive")
    for a, b in (*declared, *(exploratory or ())):
        if a == b:
            raise UsageError(f"contrast: expected two arms, got {a!r} twice")
    taken = {frozenset(pair) for pair in declared}
    if len(taken) < len(declared):
        raise UsageError("contrast: expected each declared pair once, got one twice")
    if exploratory is None:
        exploratory = list(combinations(boot.compared, 2))
    pairs = [(*pair, True) for pair in declared]
    pairs += [(*pair, False) for pair in exploratory if frozenset(pair) not in taken]
    rows = [_row(boot, (a, b), declared=known, method=method, level=level) for a, b, known in pairs]
    # Holm's family are the declared contrasts alone: pairs that were looked at afterwards would only loosen it.
    adjusted = [row for row in rows if row["declared"] and row["p"] is not None]
    for row, p in zip(adjusted, holm([row["p"] for row in adjusted]), strict=True):
        row["p_holm"] = float(p)
    frame = pl.DataFrame(rows, schema=CONTRASTS)
    return Contrasts(frame, boot.reading, level, boot.draws, boot.seed, parse_method(method).value)


def holm(p_values: ArrayLike, /) -> NDArray[np.float64]:
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


def _row(boot: Bootstrap, pair: Pair, *, declared: bool, method: str | Method, level: float) -> dict[str, Any]:
    a, b = pair
    estimate = boot.difference(a, b)
    low, high = estimate.interval(method=method, level=level) or (None, None)
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
        "low": low,
        "high": high,
        "p": None if estimate.reason is not None else two_sided_p(estimate.draws, estimate.value),
        "p_holm": None,
        "wins": wins,
        "ties": estimate.instances - wins - losses,
        "losses": losses,
        "reason": estimate.reason,
    }
