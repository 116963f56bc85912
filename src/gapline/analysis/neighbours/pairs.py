"""Pairs of arms by the classical comparisons, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from gapline.analysis.neighbours.compared import Compared
from gapline.analysis.neighbours.improvement import probability_of_improvement
from gapline.analysis.neighbours.ranks import MeanRanks
from gapline.analysis.neighbours.signed_rank import SignedRank, signed_rank
from gapline.model.tables import PAIRS
from gapline.scoring.reading import ReadTable
from gapline.scoring.weighting import parse_weighting
from gapline.summary.cells import Pair, remaining_pairs
from gapline.summary.contrasts import holm


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NeighbourPairs(ReadTable):
    """One row per pair of tier-1 arms, declared contrasts first.

    `signed_rank`, `p`, `smallest_p` and `method` are Wilcoxon's on the differences of instance means; `p_holm` is
    adjusted over the declared contrasts, the others are exploratory and have none. `nemenyi_p` is of all arms at once.
    `improvement` is the probability that a run of a scores below one of b. `signed_area`, `absolute_area` and `ahead`
    are of the mean curves, null where the kernel has none.
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
    """Compare every pair of tier-1 arms; `ranks` and `areas` of the same arms are put beside what is found.

    Missing incumbents, beaten references and unbalanced cells as in `signed_rank`, `probability_of_improvement` and
    `curve_areas`: a pair is compared on the instances that both of its arms ran.
    """
    taken = {frozenset(pair) for pair in declared}
    pairs = [*declared, *remaining_pairs(declared, compared.arms)]
    chances = probability_of_improvement(compared, pairs, weighting=weighting, level=level)
    places = {} if ranks is None or ranks.friedman is None else {a: k for k, a in enumerate(ranks.frame["arm"])}
    rows: list[dict[str, Any]] = []
    for (a, b), chance in zip(pairs, chances, strict=True):
        one, other, chosen = compared.pair(a, b)
        test = signed_rank(one - other)
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
                "signed_area": None,
                "absolute_area": None,
                "ahead": None,
                "reason": _reason(test, int(chosen.sum()), 1 - level),
            }
        )
    tested = [row for row in rows if row["declared"] and row["p"] is not None]
    for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
        row["p_holm"] = float(p)
    if areas is not None:
        by_pair = {(row["a"], row["b"]): row for row in areas.iter_rows(named=True)}
        for row in rows:
            found = by_pair[row["a"], row["b"]]
            row.update(signed_area=found["signed"], absolute_area=found["absolute"], ahead=found["ahead"])
    reading = replace(compared.reading, weighting=parse_weighting(weighting).value)
    return NeighbourPairs(pl.DataFrame(rows, schema=PAIRS), reading, level)


def _reason(test: SignedRank, instances: int, alpha: float) -> str | None:
    """Say where there is no test, or where so few instances cannot show anything."""
    if not instances:
        return "no instance that both arms ran"
    if test.p is None:
        return "tied on every instance"
    if test.smallest is not None and test.smallest > alpha:
        return f"{test.used} instances that differ cannot give p below {test.smallest:.3g}"
    if test.smallest is not None and test.p <= test.smallest * 1.000001:
        return f"p {test.p:.3g} is the smallest that {test.used} instances can give"
    return None
