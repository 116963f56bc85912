"""Mean ranks over instances with Friedman's test, Nemenyi's comparisons and the critical difference."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gapline.contract.tables import MEAN_RANKS
from gapline.measures.compared_arms import Compared, compare_cells
from gapline.native.arrays import Floats
from gapline.scoring.run_references import ReadTable
from gapline.scoring.scores import Scores
from gapline.statistics.cells import TIE
from gapline.statistics.intervals import check_level
from gapline.statistics.tails import studentized_range_quantile, studentized_range_sf
from gapline.text import counted

# Limits of the exact distribution; with more instances the F approximation is close.
MOST_INSTANCES, MOST_STATES = 12, 100_000


class Friedman(NamedTuple):
    """Friedman's test: chi-square and Iman and Davenport's F with their tails, and the p-value to report.

    `p` is exact (all orders on each instance equally likely) if the orders can be counted, else that of F; `exact`
    says which, `smallest` is the smallest p possible with these numbers of instances and arms.
    """

    chi2: float
    f: float
    p_chi2: float
    p_f: float
    p: float
    exact: bool
    smallest: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeanRanks(ReadTable):
    """One row per ranked arm, best first: mean and median rank over the instances that all of them ran.

    `friedman` and `critical_difference` are None if there is no test, and `reason` says why. `nemenyi` contains the
    p-value of each pair, arms in the order of the rows; `cliques` are the longest runs of neighbouring arms whose mean
    ranks lie within the critical difference.
    """

    instances: int
    level: float
    friedman: Friedman | None
    critical_difference: float | None
    nemenyi: Floats
    cliques: tuple[tuple[str, ...], ...]
    reason: str | None

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return (
            f"ranks of arms by mean {self.reading.kernels[0]} score on {counted(self.instances, 'instance')}, "
            f"1 is best, ties share the mean rank, every instance counts alike; {self.reading.line()}"
        )

    def verdict(self) -> str:
        """Summarise the tests in one sentence."""
        if self.friedman is None or self.critical_difference is None:
            return f"no test: {self.reason}"
        found = self.friedman
        kind = "exact" if found.exact else "by Iman and Davenport's F"
        least = " (the smallest that they can give)" if found.exact and found.p <= found.smallest * 1.000001 else ""
        return (
            f"Friedman chi-square {found.chi2:.3f}, p {found.p:.3g} {kind}{least}; critical difference of mean ranks "
            f"{self.critical_difference:.3f} (Nemenyi, {1 - self.level:g})"
        )

    def document(self) -> dict[str, Any]:
        """Return ranks and tests for JSON."""
        arms = self.frame["arm"].to_list()
        return {
            "instances": self.instances,
            "arms": self.frame.to_dicts(),
            "friedman": None if self.friedman is None else _finite(self.friedman._asdict()),
            "critical_difference": self.critical_difference,
            "level": self.level,
            "nemenyi": [
                {"a": a, "b": b, "p": float(self.nemenyi[i, j])}
                for i, a in enumerate(arms)
                for j, b in enumerate(arms)
                if i < j and self.friedman is not None
            ],
            "cliques": [list(clique) for clique in self.cliques],
            "reason": self.reason,
        }


def mean_ranks(scores: Scores | Compared, /, *, level: float = 0.95) -> MeanRanks:
    """Rank the arms that ran the same instances on each of them by mean score, and test whether the ranks differ.

    Missing incumbents: an empty run has the score of its kernel (1) and enters the mean of its instance like any other.
    Beaten references: only the order on an instance matters, which another reference can change; the size of a
    difference has no effect. Unbalanced cells: seeds are averaged first, whatever their number; arms that ran other
    instances have no rank. Means within the tie tolerance are tied. Panels do not matter. Adding an arm can change
    which arms differ: Friedman and Nemenyi use all arms at once.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": i, "seed": 1, "horizon": 10, "trace": [(t, 30.0)]}
    ...         for arm, times in {"a": (1, 1, 2), "b": (2, 1, 3), "c": (3, 2, 4)}.items()
    ...         for i, t in zip("ijk", times)]
    >>> snapshot = gl.Snapshot.from_values(dict.fromkeys("ijk", 10.0), name="mine")
    >>> found = mean_ranks(gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot))
    >>> found.frame.select("arm", "mean_rank").rows()[0], round(found.friedman.chi2, 3)
    (('a', 1.1666666666666667), 5.636)
    """
    check_level(level)
    compared = scores if isinstance(scores, Compared) else compare_cells(scores)
    means, chosen = compared.common()
    ranks = average_ranks(means)
    arms, count = len(compared.arms), int(chosen.sum())
    reason = _no_test(arms, count, ranks)
    mean = ranks.mean(axis=1) if count else np.full(arms, np.nan)
    order = np.lexsort((np.arange(arms), mean))
    names = [compared.arms[k] for k in order]
    frame = pl.DataFrame(
        [(compared.arms[k], float(mean[k]), float(np.median(ranks[k]))) for k in order] if count else [],
        schema=MEAN_RANKS,
        orient="row",
    )
    found = MeanRanks(frame, compared.reading, count, level, None, None, np.empty((0, 0)), (), reason)
    if reason is not None:
        return found
    distance, sorted_means = critical_difference(arms, count, level=level), mean[order]
    pairs, cliques = nemenyi(sorted_means, count), _cliques(names, sorted_means, distance)
    return replace(found, friedman=friedman(ranks), critical_difference=distance, nemenyi=pairs, cliques=cliques)


def average_ranks(means: Floats) -> Floats:
    """Return, arms × instances, the rank of each arm on each instance, 1 for the smallest; tied arms share their mean.

    >>> average_ranks(np.array([[0.2], [0.1], [0.2]])).ravel().tolist()
    [2.5, 1.0, 2.5]
    """
    ahead = (means[None, :, :] < means[:, None, :] - TIE).sum(axis=1)
    level = (np.abs(means[None, :, :] - means[:, None, :]) <= TIE).sum(axis=1)
    return np.asarray(ahead + (level + 1) / 2, np.float64)


def friedman(ranks: Floats) -> Friedman:
    """Test whether arms × instances of ranks are exchangeable, corrected for ties.

    χ² = (k - 1) Σ_j (R_j - n(k+1)/2)² / (Σ r² - n k (k+1)²/4) over the rank sums R_j of k arms on n instances, with
    k - 1 degrees of freedom; F = (n - 1) χ² / (n (k - 1) - χ²) with k - 1 and (k - 1)(n - 1).
    """
    from scipy.special import chdtrc, fdtrc

    arms, count = ranks.shape
    spread = float(np.sum(ranks**2)) - count * arms * (arms + 1) ** 2 / 4
    chi2 = (arms - 1) * float(np.sum((ranks.sum(axis=1) - count * (arms + 1) / 2) ** 2)) / spread
    rest = count * (arms - 1) - chi2
    # If all instances agree, the denominator is zero.
    f = (count - 1) * chi2 / rest if rest > 1e-9 * chi2 else math.inf
    p_chi2, p_f = float(chdtrc(arms - 1, chi2)), float(fdtrc(arms - 1, (arms - 1) * (count - 1), f))
    exact = _exact_p(ranks)
    smallest = math.exp((1 - count) * math.lgamma(arms + 1))
    return Friedman(chi2, f, p_chi2, p_f, p_f if exact is None else exact, exact is not None, smallest)


def nemenyi(mean_rank: Floats, instances: int) -> Floats:
    """Return the p-value of every pair of arms from their mean ranks, by a studentized range over all pairs."""
    arms = len(mean_rank)
    scale = math.sqrt(arms * (arms + 1) / (12 * instances))
    found = np.ones((arms, arms))
    for i in range(arms):
        for j in range(i):
            found[i, j] = found[j, i] = studentized_range_sf(abs(mean_rank[i] - mean_rank[j]) / scale, arms)
    return found


def critical_difference(arms: int, instances: int, *, level: float = 0.95) -> float:
    """Return the critical difference of mean ranks: q / √2 · √(k(k+1) / 6n), q a quantile of the studentized range.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    return studentized_range_quantile(level, arms) * math.sqrt(arms * (arms + 1) / (12 * instances))


def _no_test(arms: int, instances: int, ranks: Floats) -> str | None:
    if arms < 3:
        return (
            f"Friedman's test needs three arms that ran the same instances, got {arms}; two are compared by Wilcoxon's"
        )
    if instances < 2:
        return f"Friedman's test needs two instances that all arms ran, got {instances}"
    if np.all(ranks == ranks[:1]):
        return "all arms are tied on every instance"
    return None


def _cliques(names: list[str], means: Floats, distance: float) -> tuple[tuple[str, ...], ...]:
    """Return the longest runs of arms, sorted by mean rank, whose ends are within the critical difference."""
    ends = [int(np.searchsorted(means, mean + distance, side="right")) for mean in means]
    starts = [0, *(k for k, (before, end) in enumerate(pairwise(ends), 1) if end > before)]
    return tuple(tuple(names[k : ends[k]]) for k in starts if ends[k] - k > 1)


def _exact_p(ranks: Floats) -> float | None:
    """Return the share of all orders of the ranks of every instance that are as extreme; None if there are too many.

    Rank sums are added up instance by instance. Arms are exchangeable, so sorted sums represent all others.
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    arms, count = doubled.shape
    if count > MOST_INSTANCES or math.factorial(arms) > MOST_STATES:
        return None
    states = np.sort(doubled[:, :1].T, axis=1)
    chances: Floats = np.ones(1)
    for column in range(1, count):
        orders, times = np.unique(list(permutations(doubled[:, column].tolist())), axis=0, return_counts=True)
        if len(states) * len(orders) > MOST_STATES:
            return None
        reached = np.sort((states[:, None, :] + orders[None, :, :]).reshape(-1, arms), axis=1)
        weights = (chances[:, None] * (times / times.sum())[None, :]).ravel()
        states, place = np.unique(reached, axis=0, return_inverse=True)
        chances = np.bincount(place.ravel(), weights=weights).astype(np.float64)
    seen = int(np.sum(doubled.sum(axis=1) ** 2))
    return min(1.0, float(chances[np.sum(states**2, axis=1) >= seen].sum()))


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(v, float) and math.isinf(v) else v for name, v in values.items()}
