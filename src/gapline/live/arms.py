"""Means and ranks of arms while runs are open, and pairs of arms whose order is already decided."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from gapline.contract.instance_set import NO_SOLUTION, InstanceSet, decide_instance_set
from gapline.contract.tables import RUN_KEY, RunKey
from gapline.live.bounds import LiveReading, ScoreBounds, bound_means, bound_unbegun, is_decided
from gapline.live.table import Latest, LiveScores
from gapline.report.numbers import number_or_overflow
from gapline.report.order import order_arms
from gapline.scoring.kernels import Kernel
from gapline.scoring.scores import Scores
from gapline.scoring.weighting import run_weights
from gapline.statistics.means import summarise
from gapline.text import counted

_CELL = ["panel", "instance", "seed"]


def rank_finished(scores: Scores | None, cells: pl.DataFrame, ranked: InstanceSet, *, weighting: str) -> dict[str, Any]:
    """Return the ranks of the arms on the cells that all of them have finished, with a description of these cells.

    Parameters
    ----------
    scores
        The runs that have ended and have their verdicts.
    cells
        The planned cells: arm, panel, instance, seed.
    ranked
        The arms to rank, according to their planned instances.

    `arms` has, per kernel, rank and mean of each ranked arm over the common cells; the mean is null if it does not
    exist, the rank if the kernel ranks nothing.
    """
    arms = list(ranked.arms)
    theirs = cells.filter(pl.col("arm").is_in(arms))
    planned = theirs.select(_CELL).unique().height
    found: dict[str, Any] = {"cells": 0, "planned": planned, "arms": {}, "words": ""}
    if not arms:
        return found | {"words": f"no rank: {ranked.reason}" if ranked.reason else ""}
    others = f"; other instances, not ranked: {', '.join(one.arm for one in ranked.others)}" if ranked.others else ""
    every = f"all {len(arms)} arms" if len(arms) > 2 else "both arms"
    frame = None if scores is None else scores.frame.filter(pl.col("arm").is_in(arms))
    common = None if frame is None else _common(frame, theirs, len(arms))
    if scores is None or frame is None or common is None or not common.height:
        return found | {"words": f"no rank yet: {every} have finished no cell in common{others}"}
    if not (scores.frame["steps"] > 0).any():
        return found | {"words": f"no rank{'' if common.height == planned else ' yet'}: {NO_SOLUTION}{others}"}
    kept = replace(scores, frame=frame.join(common, on=_CELL, how="semi", maintain_order="left"))
    summary = summarise(rank_among(kept, ranked), weighting=weighting)
    for kernel in summary.kernels:
        order = order_arms(replace(summary, reading=replace(summary.reading, kernels=(kernel,))))
        means = dict(summary.frame.select("arm", kernel).iter_rows())
        found["arms"][kernel] = {
            arm: {"rank": order.ranks.get(arm), "mean": number_or_overflow(means[arm])} for arm in order.compared
        }
    if common.height == planned:
        words = f"ranked on {'all ' if planned > 1 else ''}{counted(planned, 'cell')}"
    else:
        words = f"ranked on {common.height:,} of {counted(planned, 'cell')}, those that {every} have finished so far"
    return found | {"cells": common.height, "words": words + others}


def rank_among(scores: Scores, ranked: InstanceSet) -> Scores:
    """Return the scores, ranking the arms by their planned instances instead of those that they have run so far."""
    return replace(scores, reading=replace(scores.reading, instance_set=ranked))


def _common(frame: pl.DataFrame, planned: pl.DataFrame, arms: int) -> pl.DataFrame:
    """Return the cells that have a run of every arm; once every arm has all its planned runs, all of them."""
    if planned.join(frame, on=["arm", *_CELL], how="anti").is_empty():
        return planned.select(_CELL).unique()
    return frame.group_by(_CELL).agg(pl.col("arm").n_unique()).filter(pl.col("arm") == arms).select(_CELL)


# Reference and best possible value of an instance.
BestKnown = Callable[[str], tuple[float | None, float | None]]
_ENDS = {"low": pl.Float64, "high": pl.Float64}


class ArmBounds:
    """The planned cells with the weight of each in the final mean of its arm."""

    def __init__(self, cells: pl.DataFrame, reading: LiveReading, ladders: Sequence[Sequence[str]]) -> None:
        self._reading = reading
        self._cells, self._ladders = cells, ladders
        self._tier_two = frozenset(reading.tier_two)
        self.ranked = decide_instance_set(cells, tier_two=self._tier_two, ladders=ladders)
        self._place = {RunKey(*row): place for place, row in enumerate(cells.select(RUN_KEY).iter_rows())}
        self._weights = run_weights(cells, by=["arm"], weighting=reading.weighting) if self._place else np.empty(0)
        arms = cells["arm"].to_numpy()
        self._rows = {arm: np.flatnonzero(arms == arm) for arm in sorted(set(arms.tolist()))}
        self._ranking: Latest[dict[str, Any]] = Latest()
        self._ends: dict[str, Latest[pl.DataFrame]] = {kernel.name: Latest() for kernel in reading.kernels}

    def describe(self, arms: Iterable[str]) -> None:
        """Stop ranking these arms, because their runs state that they are of tier 2."""
        if not self._tier_two.issuperset(arms):
            self._tier_two = self._tier_two.union(arms)
            self.ranked = decide_instance_set(self._cells, tier_two=self._tier_two, ladders=self._ladders)

    def ranking(self, table: LiveScores) -> dict[str, Any]:
        """Return the ranks of the arms on the cells that all of them have finished; recomputed if runs joined."""

        def work() -> dict[str, Any]:
            return rank_finished(table.scores, self._cells, self.ranked, weighting=self._reading.weighting)

        return self._ranking.of((table.mark, self._tier_two), work)

    def document(
        self, table: LiveScores, running: Mapping[RunKey, Sequence[ScoreBounds]], best_known: BestKnown
    ) -> dict[str, Any]:
        """Return the bounds of every arm's mean and the pairs of compared arms, per kernel."""
        return {
            kernel.name: self._of_kernel(
                kernel, table, {key: bounds[place] for key, bounds in running.items()}, best_known
            )
            for place, kernel in enumerate(self._reading.kernels)
        }

    def _of_kernel(
        self, kernel: Kernel, table: LiveScores, running: Mapping[RunKey, ScoreBounds], best_known: BestKnown
    ) -> dict[str, Any]:
        mark = (table.mark, id(self._reading.snapshot), tuple(table.bounds.values()))
        known = self._ends[kernel.name].of(mark, lambda: self._known_ends(kernel, table.scores, best_known))
        low, high = known["low"].to_numpy().copy(), known["high"].to_numpy().copy()
        settled = known["settled"].to_numpy()
        for key, one in running.items():
            row = self._place.get(key)
            if row is not None and not settled[row]:
                low[row], high[row] = (np.nan, np.nan) if one.low is None else (one.low, one.high)
        ends = {}
        arms = []
        for arm, rows in self._rows.items():
            if not (np.isnan(low[rows]).any() or np.isnan(high[rows]).any()):
                ends[arm] = bound_means(low[rows], high[rows], self._weights[rows])
            bottom, top = ends.get(arm, (None, None))
            arms.append({"arm": arm, "low": bottom, "high": top, "open": int(np.count_nonzero(~settled[rows]))})
        # A mean over other instances, or of a kernel that ranks nothing here, decides nothing.
        unranked = table.scores is not None and rank_among(table.scores, self.ranked).why_unranked(kernel.name)
        compared = [] if unranked else [arm for arm in self._rows if self.ranked.ranked(arm)]
        pairs = []
        for a, b in combinations(compared, 2):
            decided = a in ends and b in ends and is_decided(ends[a], ends[b])
            first = None if not decided else a if ends[a][1] < ends[b][0] else b
            pairs.append({"a": a, "b": b, "decided": decided, "better": first})
        return {"arms": arms, "pairs": pairs}

    def _known_ends(self, kernel: Kernel, scores: Scores | None, best_known: BestKnown) -> pl.DataFrame:
        """Return the ends of every cell's score, `settled` if it has a whole run; runs under way count as unbegun."""
        names, low, high = sorted(set(self._cells["instance"])), [], []
        for instance in names:
            reference, best = best_known(instance)
            ends = None if reference is None else bound_unbegun(best, reference, kernel)
            low.append(np.nan if ends is None else ends[0])
            high.append(np.nan if ends is None else ends[1])
        open_ends = pl.DataFrame({"instance": names, "low": low, "high": high}, schema_overrides=_ENDS)
        found = self._cells.join(open_ends, on="instance", how="left", maintain_order="left")
        if scores is None or kernel.name not in scores.frame.columns:
            return found.with_columns(settled=pl.lit(False))
        score = pl.col(kernel.name).cast(pl.Float64).fill_null(np.nan).alias("_score")
        whole = scores.frame.select(*RUN_KEY, score, settled=pl.lit(True))
        joined = found.join(whole, on=RUN_KEY, how="left", maintain_order="left")
        settled = pl.col("settled").fill_null(False)
        scored = [pl.when(settled).then("_score").otherwise(name).alias(name) for name in _ENDS]
        return joined.with_columns(*scored, settled=settled)
