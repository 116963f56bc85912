"""Rankings with their uncertainty, and wins, ties and losses per instance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.tables import RANKING
from gapline.native.arrays import Bools, Floats, Integers
from gapline.scoring.scores import Scores
from gapline.statistics.bootstrap import Bootstrap, JudgedTable
from gapline.statistics.cells import TIE
from gapline.statistics.contrasts import holm
from gapline.statistics.estimate import DEFAULT_METHOD, Method, parse_method
from gapline.statistics.intervals import check_level


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranking(JudgedTable):
    """One row per arm, best first.

    `rank` is the place by pooled mean (ties share the better place). `rank_low` and `rank_high` are the places that
    cannot be ruled out: an arm is behind those that are significantly better and ahead of those that are significantly
    worse, by the p-values of its differences from all others, Holm-adjusted together. They are null if there are no
    p-values. `wins`, `ties` and `losses` count instances, against all other arms at once: a win is an instance on which
    no other arm is as good. `distinguished` are the pairs of arms with a significant difference in both adjustments:
    that of all comparisons of the one arm, and that of the other.
    """

    notes: tuple[str, ...] = ()
    distinguished: frozenset[frozenset[str]] = frozenset()

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return (
            f"ranking of arms by mean {self.reading.kernels[0]} score; places that comparisons with all other "
            f"arms leave open at {self.level:.0%}, Holm-adjusted, by {self.how}; {self.reading.line()}"
        )


def rank_means(means: Floats) -> Integers:
    """Return ranks along the last axis, 1 for the smallest; means within the tie tolerance share the better rank.

    >>> rank_means(np.array([0.2, 0.1, 0.2, 0.3])).tolist()
    [2, 1, 2, 4]
    """
    below = means[..., None, :] < means[..., :, None] - TIE
    ranks: Integers = 1 + below.sum(axis=-1)
    return ranks


def ranking(
    scores: Scores | Bootstrap,
    /,
    *,
    arms: Sequence[str] | None = None,
    method: str | Method = DEFAULT_METHOD,
    level: float = 0.95,
) -> Ranking:
    """Rank the arms that ran the same instances by pooled mean; given `arms`, these, on the instances that all ran.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": i, "seed": 1, "horizon": 10, "trace": [(t, 30.0)]}
    ...         for arm, shift in (("b", 1), ("a", 0)) for i, t in (("i", 2 + shift), ("j", 6 + shift))]
    >>> snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 10.0}, name="mine")
    >>> scores = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot)
    >>> ranking(scores).frame.select("rank", "arm", "wins", "losses").rows()
    [(1, 'a', 2, 0), (2, 'b', 0, 2)]
    """
    check_level(level)
    boot = scores if isinstance(scores, Bootstrap) else Bootstrap(scores)
    names = list(boot.compared if arms is None else arms)
    rows = [boot.cells.arm_number(name) for name in names]
    has = boot.counts[rows] > 0
    common = np.all(has, axis=0)
    notes: list[str] = []
    places: list[tuple[int, int]] | None = None
    frame = pl.DataFrame(schema=RANKING)
    apart: frozenset[frozenset[str]] = frozenset()
    if names and not np.array_equal(common, has.any(axis=0)):
        notes.append(f"ranked on the {int(common.sum())} of {len(common)} instances that all {len(rows)} arms ran")
    if not names:
        notes.append(boot.reading.instance_set.reason or "fewer than two arms are compared: nothing to rank")
    elif boot.why_unranked is not None:
        notes.append(boot.why_unranked)
    elif not common.any():
        notes.append("no instance was run by all arms: nothing to rank")
    else:
        weights = boot.cells.unit_weights(boot.weighting, boot.counts[rows] * common)
        # As exact as the means of every other table, so that all tables order the arms alike.
        pooled = np.array([math.fsum(row) for row in weights * np.where(common, boot.means[rows], 0.0)])
        ranks = rank_means(pooled)
        shown = _shown(boot, names, common, method=method, level=level)
        if shown is not None:
            places = [(1 + int((row > 0).sum()), len(names) - int((row < 0).sum())) for row in shown]
            both = np.argwhere((shown != 0) & (shown.T != 0)).tolist()
            apart = frozenset(frozenset((names[k], names[j])) for k, j in both)
        else:
            notes.append(f"no places can be ruled out: {boot.difference(names[0], names[-1], among=common).reason}")
        wins, ties, losses = _against_all(boot.means[rows][:, common])
        frame = pl.DataFrame(
            [
                (int(ranks[k]), name, float(pooled[k]), *(places[k] if places else (None, None)),
                 int(wins[k]), int(ties[k]), int(losses[k]))
                for k, name in enumerate(names)
            ],
            schema=RANKING,
            orient="row",
        ).sort("rank", "arm")  # fmt: skip
    return Ranking(frame, boot.reading, level, boot.draws, boot.seed, parse_method(method).value, tuple(notes), apart)


def _shown(
    boot: Bootstrap, names: Sequence[str], common: Bools, *, method: str | Method, level: float
) -> NDArray[np.int8] | None:
    """Return, arms × arms, 1 if the arm of the row is significantly worse, -1 if better, among its comparisons.

    The result is None if a difference has no p.
    """
    size = len(names)
    p, side = np.ones((size, size)), np.zeros((size, size), np.int8)
    for k, j in combinations(range(size), 2):
        estimate = boot.difference(names[k], names[j], among=common)
        if estimate.reason is not None:
            return None
        p[k, j] = p[j, k] = estimate.judge(method=method, level=level).p or 0.0
        side[k, j] = np.sign(estimate.value)
        side[j, k] = -side[k, j]
    for k in range(size):
        others = [j for j in range(size) if j != k]
        side[k, others] *= holm(p[k, others]) <= 1 - level
    return side


def _against_all(means: Floats) -> tuple[Floats, Floats, Floats]:
    best = means.min(axis=0)
    leads = means <= best + TIE
    alone = leads.sum(axis=0) == 1
    wins = np.sum(leads & alone, axis=1)
    ties = np.sum(leads & ~alone, axis=1)
    return wins, ties, means.shape[1] - wins - ties
