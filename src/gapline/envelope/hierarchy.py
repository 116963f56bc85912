"""Check whether a hierarchical objective M·K + C keeps the lexicographic order of the observed solutions."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.campaign import Campaign
from gapline.contract.tables import HIERARCHY_VIOLATIONS, VerdictCode
from gapline.contract.transforms import Transform
from gapline.errors import listing
from gapline.files.scratch_arrays import piece_size
from gapline.text import counted

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class HierarchyCheck:
    """The condition on M for every two values of K that were observed on one instance.

    A solution with K must score below one with K' > K, whatever their C: M·(K' - K) > C - C'. `pairs` is the number of
    compared pairs, `needed` the largest observed (C - C') / (K' - K) (None without a pair), and `violations` has a row
    for each pair whose ratio is not below M, worst first.
    """

    transform: Transform
    pairs: int
    needed: float | None
    violations: pl.DataFrame

    @property
    def holds(self) -> bool:
        """Whether M keeps the order of all observed solutions."""
        return self.violations.height == 0

    def __str__(self) -> str:
        if not self.pairs:
            return f"transform {self.transform}: no instance has solutions with two values of K, so M was not tested"
        if self.holds:
            pairs = counted(self.pairs, "observed pair")
            return f"transform {self.transform} keeps the lexicographic order in all {pairs} of values of K"
        shown = (f"{i} (K={k:g} against {o:g}: needs M > {n:g}, has {m:g})" for i, k, o, n, m in self.violations.rows())
        return (
            f"transform {self.transform} breaks the lexicographic order in {self.violations.height:,} of "
            f"{counted(self.pairs, 'observed pair')} of values of K: {listing(shown, most=3)}"
        )


def _piece_extremes(whole: Campaign, transform: Transform, counting: list[VerdictCode]) -> pl.DataFrame:
    """Return the largest and the smallest C for each K of each instance."""
    size = whole.runs["size"].cast(pl.Float64).to_numpy() if transform.per_size else None
    multiplier = np.broadcast_to(transform.multiplier(size), (len(whole),))
    count = whole.runs["count"].to_numpy()
    candidates = pl.DataFrame(
        {
            "instance": pl.Series(np.repeat(whole.runs["instance"].to_numpy(), count), dtype=pl.String),
            "multiplier": np.repeat(multiplier, count),
            "primary": whole.primary,
            "most": whole.secondary,
            "least": whole.secondary,
        }
    )
    return _extremes(candidates.filter(pl.Series(np.isin(whole.verdict, counting))))


def _extremes(found: pl.DataFrame) -> pl.DataFrame:
    ends = (pl.col("most").max(), pl.col("least").min(), pl.col("multiplier").min())
    return found.group_by("instance", "primary").agg(*ends)


def check_hierarchy(campaign: Campaign, transform: Transform, *, count_unchecked: bool = False) -> HierarchyCheck:
    """Compare every two values of K observed on an instance, among the candidates that count.

    Comparing K and K + 1 is not enough: with M = 10, C = 100 at K = 3 scores 130, but C = 70 at K = 5 scores 120, and
    no solution with K = 4 may have been observed.
    """
    counting = [VerdictCode.VALID, *([VerdictCode.UNCHECKED] if count_unchecked else [])]
    # The extremes of the whole are the extremes over those of the pieces.
    extremes = _extremes(
        pl.concat(_piece_extremes(piece.compact(), transform, counting) for _, piece in campaign.pieces(piece_size()))
    ).sort("instance", "primary")
    pairs, needs, rows = 0, [], []
    for (instance,), part in extremes.group_by("instance", maintain_order=True):
        primary, most, least = (part[name].to_numpy() for name in ("primary", "most", "least"))
        limit = float(part["multiplier"].to_numpy().min())
        for k in range(part.height - 1):
            # One row of pairs at a time, because all pairs together would need quadratic memory.
            needed: Floats = (most[k] - least[k + 1 :]) / (primary[k + 1 :] - primary[k])
            pairs += len(needed)
            needs.append(float(needed.max()))
            for other in np.flatnonzero(needed >= limit).tolist():
                rows.append((instance, primary[k], primary[k + 1 + other], float(needed[other]), limit))
    return HierarchyCheck(
        transform=transform,
        pairs=pairs,
        needed=max(needs, default=None),
        violations=pl.DataFrame(rows, schema=HIERARCHY_VIOLATIONS, orient="row").sort(
            "needed", "instance", "primary", descending=[True, False, False]
        ),
    )
