"""Rankings with their uncertainty, and wins, ties and losses per instance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.model.tables import RANKING
from gapline.scoring.scores import Scores
from gapline.summary.bootstrap import Bootstrap, DrawnTable
from gapline.summary.cells import TIE
from gapline.summary.intervals import check_level

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranking(DrawnTable):
    """One row per arm, best first.

    `rank` is the place by pooled mean (ties share the better place), `rank_low` and `rank_high` hold the level of the
    draws, `first` is the share of draws in which no arm is better. `wins`, `ties` and `losses` count instances, against
    every other arm at once: a win is an instance on which no other arm is as good.
    """

    notes: tuple[str, ...] = ()

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return (
            f"ranking of tier-1 arms by mean {self.reading.kernels[0]} score; {self.level:.0%} of {self.drawn}; "
            f"{self.reading.line()}"
        )


def rank_means(means: Floats) -> NDArray[np.int64]:
    """Return ranks along the last axis, 1 for the smallest; means nearer than the tie tolerance share the better rank.

    >>> rank_means(np.array([0.2, 0.1, 0.2, 0.3])).tolist()
    [2, 1, 2, 4]
    """
    below = means[..., None, :] < means[..., :, None] - TIE
    ranks: NDArray[np.int64] = 1 + below.sum(axis=-1)
    return ranks


def ranking(scores: Scores | Bootstrap, /, *, arms: Sequence[str] | None = None, level: float = 0.95) -> Ranking:
    """Rank the arms of tier 1 by pooled mean, on the instances that all of them ran.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": i, "seed": 1, "horizon": 10, "trace": [(t, 30.0)]}
    ...         for arm, shift in (("b", 1), ("a", 0)) for i, t in (("i", 2 + shift), ("j", 6 + shift))]
    >>> snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 10.0}, name="mine")
    >>> scores = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot)
    >>> ranking(scores).frame.select("rank", "arm", "first", "wins", "losses").rows()
    [(1, 'a', 1.0, 2, 0), (2, 'b', 0.0, 0, 2)]
    """
    check_level(level)
    boot = scores if isinstance(scores, Bootstrap) else Bootstrap(scores)
    names = list(boot.compared if arms is None else arms)
    rows = [boot.cells.arm_number(name) for name in names]
    common = np.all(boot.counts[rows] > 0, axis=0)
    notes = []
    if not common.all():
        notes.append(f"ranked on the {int(common.sum())} of {len(common)} instances that all {len(rows)} arms ran")
    if not names or not common.any():
        notes.append("no instance was run by all arms: nothing to rank")
        frame = pl.DataFrame(schema=RANKING)
    else:
        pooled, draws = boot.pooled_on(rows, common)
        ranks, drawn = rank_means(pooled), rank_means(draws)
        tail = (1 - level) / 2
        # Ranks are whole: an interpolated rank of 1.5 is a place that nobody held.
        low = np.quantile(drawn, tail, axis=0, method="inverted_cdf")
        high = np.quantile(drawn, 1 - tail, axis=0, method="inverted_cdf")
        wins, ties, losses = _against_all(boot.means[rows][:, common])
        frame = pl.DataFrame(
            [
                (int(ranks[k]), name, float(pooled[k]), int(low[k]), int(high[k]), float(np.mean(drawn[:, k] == 1)),
                 int(wins[k]), int(ties[k]), int(losses[k]))
                for k, name in enumerate(names)
            ],
            schema=RANKING,
            orient="row",
        ).sort("rank", "arm")  # fmt: skip
    return Ranking(frame, boot.reading, level, boot.draws, boot.seed, tuple(notes))


def _against_all(means: Floats) -> tuple[Floats, Floats, Floats]:
    best = means.min(axis=0)
    leads = means <= best + TIE
    alone = leads.sum(axis=0) == 1
    wins = np.sum(leads & alone, axis=1)
    ties = np.sum(leads & ~alone, axis=1)
    return wins, ties, means.shape[1] - wins - ties
