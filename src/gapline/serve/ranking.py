"""Ranks while runs are still open: over the cells that every ranked arm has finished, so that all means are alike."""

from dataclasses import replace
from typing import Any

import polars as pl

from gapline.model.instance_set import NO_SOLUTION, InstanceSet
from gapline.model.text import counted
from gapline.report.documents import number_or_overflow
from gapline.report.order import order_arms
from gapline.scoring.scores import Scores
from gapline.summary.means import summarise

_CELL = ["panel", "instance", "seed"]


def rank_finished(scores: Scores | None, cells: pl.DataFrame, ranked: InstanceSet, *, weighting: str) -> dict[str, Any]:
    """Return the ranks of the arms on the cells that all of them have finished, and say on which.

    Parameters
    ----------
    scores
        The runs that have ended and have their verdicts.
    cells
        What every arm is to run: arm, panel, instance, seed.
    ranked
        Which arms are ranked, by the instances that they are to run.

    `arms` has, per kernel, rank and mean of each ranked arm over the common cells; the mean is null where it does not
    exist, the rank where the kernel ranks nothing.
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
    """Return the scores with the arms that are ranked by what they are to run, not by what they have run so far."""
    return replace(scores, reading=replace(scores.reading, instance_set=ranked))


def _common(frame: pl.DataFrame, planned: pl.DataFrame, arms: int) -> pl.DataFrame:
    """Return the cells that have a run of every arm; once every arm has all of its own runs, all of them."""
    if planned.join(frame, on=["arm", *_CELL], how="anti").is_empty():
        return planned.select(_CELL).unique()
    return frame.group_by(_CELL).agg(pl.col("arm").n_unique()).filter(pl.col("arm") == arms).select(_CELL)
