"""Rows of one arm, instance and seed in which time goes back: one run out of order, or several runs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.capture.dialect import Dialect, option
from gapline.capture.direction import check_direction, with_notes
from gapline.errors import TraceError, listing
from gapline.model.campaign import Campaign
from gapline.model.tables import RUN_KEY, RunKey, VerdictCode
from gapline.model.text import counted

# Parallel logs are out of order by less than this share of the span of a run.
_SHARE = 0.15


class StepsBack(NamedTuple):
    """Runs of a table in which time goes back: their rows in the campaign, and the largest step as a share of the run.

    `rises` and `falls` say whether an objective is higher, or lower, than the one before it once rows are sorted.
    """

    run: NDArray[np.int64]
    share: NDArray[np.float64]
    rises: NDArray[np.bool_]
    falls: NDArray[np.bool_]


def find_steps_back(run: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> StepsBack:
    """Find the runs in which time goes back among candidates, in the order of the source and without repeated ones.

    >>> columns = {"time": np.array([1.0, 9.0, 2.0, 8.0]), "objective": np.array([9.0, 5.0, 8.0, 6.0]),
    ...            "verdict": np.ones(4, np.uint8)}
    >>> found = find_steps_back(np.zeros(4, np.int32), columns)
    >>> found.share.tolist(), found.rises.tolist()
    ([0.875], [False])
    """
    time, objective, verdict = columns["time"], columns["objective"], columns["verdict"]
    at = np.flatnonzero((verdict != VerdictCode.BOUND) & (time >= 0))
    at = at[np.argsort(run[at], kind="stable")]
    back = (time[at[1:]] < time[at[:-1]]) & (run[at[1:]] == run[at[:-1]])
    at = at[np.isin(run[at], np.unique(run[at[1:]][back]))]
    accepted = (verdict[at] == VerdictCode.VALID) | (verdict[at] == VerdictCode.UNCHECKED)
    believed = pl.Series(np.where(accepted, objective[at], np.nan)).fill_nan(None)
    rows = pl.DataFrame({"run": run[at], "time": time[at], "z": believed, "written": objective[at]})
    rows = rows.unique(["run", "time", "written"], keep="first", maintain_order=True).drop("written")
    step, stamp = (pl.col("time").shift(1) - pl.col("time")).max(), pl.col("time")
    shares = rows.group_by("run").agg(share=step / (stamp.max() - stamp.min())).filter(pl.col("share") > 0)
    z = pl.col("z")
    in_order = rows.drop_nulls("z").sort("run", "time", maintain_order=True).group_by("run")
    moves = in_order.agg(rises=(z > z.shift(1)).any(), falls=(z < z.shift(1)).any())
    found = shares.join(moves, on="run", how="left").sort("run").fill_null(value=False)
    return StepsBack(*(found[name].to_numpy() for name in ("run", "share", "rises", "falls")))


class RowOrder:
    """Looks at the rows of a table as they stand, and settles what it means that time goes back within runs."""

    def __init__(self, source: str, dialect: Dialect) -> None:
        self._source, self._sort_rows = source, dialect.sort_rows
        self._found: StepsBack | None = None

    def look(self, run: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> None:
        """Look at the rows before they are sorted."""
        self._found = find_steps_back(run, columns)

    def settle(self, campaign: Campaign) -> Campaign:
        """Return the campaign with a note on rows that were sorted, or refuse rows that seem to be of several runs."""
        found = self._found
        if found is None or not len(found.run):
            return campaign
        if not self._sort_rows and (doubtful := _doubtful(campaign, found)).any():
            # Which of two objectives is worse is known once the direction is.
            check_direction(campaign)
            keys = campaign.runs[found.run[doubtful]].select(RUN_KEY)
            shown = listing((str(RunKey(*key)) for key in keys.iter_rows()), most=3)
            share = 100 * found.share[doubtful].max()
            split, order = (option(name, True, self._source) for name in ("number_runs", "sort_rows"))
            raise TraceError(
                f"{self._source}: several runs seem to share one arm, instance and seed: {shown}; time goes back by up "
                f"to {share:.3g} % of the run, and sorted by time the objective gets worse again",
                hint=f"{split} begins a new run wherever time goes back; {order} confirms that each is one run whose "
                "rows are out of order",
            )
        confirmed = " (--sort-rows)" if self._sort_rows else ""
        runs, share = counted(len(found.run), "run"), 100 * found.share.max()
        return with_notes(
            campaign, [f"rows of {runs} were out of order by up to {share:.3g} % of the run: sorted by time{confirmed}"]
        )


def _doubtful(campaign: Campaign, found: StepsBack) -> NDArray[np.bool_]:
    stated = campaign.facts.get("sense") or "min"
    senses = campaign.runs.get_column("sense", default=pl.Series([None] * len(campaign), dtype=pl.String))
    maximised = (senses.cast(pl.String).gather(found.run).fill_null(stated) == "max").to_numpy()
    doubtful: NDArray[np.bool_] = (found.share > _SHARE) & np.where(maximised, found.falls, found.rises)
    return doubtful


def renumber(rows: pl.DataFrame, parts: pl.Series) -> tuple[pl.Series, str]:
    """Return a seed for each row whose run was split: the first part keeps its own, the others get the next free ones.

    >>> rows = pl.DataFrame({"arm": ["a"] * 4, "instance": ["i"] * 4, "seed": [1, 1, 1, 2]})
    >>> seeds, note = renumber(rows, pl.Series([0, 1, 2, 0]))
    >>> seeds.to_list(), note
    ([1, 3, 4, 2], '--number-runs: 2 runs became 4, because time goes back in 1 of them')
    """
    keyed = rows.select(RUN_KEY).with_columns(part=parts)
    each = keyed.unique(maintain_order=True)
    pair, more = ["arm", "instance"], pl.col("part") > 0
    following = pl.col("seed").max().over(pair) + more.cast(pl.Int64).cum_sum().over(pair)
    named = each.with_columns(own=pl.when(more).then(following).otherwise(pl.col("seed")))
    before, split = each.select(RUN_KEY).n_unique(), each.filter(more).select(RUN_KEY).n_unique()
    seeds = keyed.join(named, on=[*RUN_KEY, "part"], how="left", maintain_order="left")["own"].alias("seed")
    if not split:
        return seeds, f"--number-runs: time goes back in none of {counted(before, 'run')}"
    return seeds, (
        f"--number-runs: {counted(before, 'run')} became {each.height:,}, because time goes back in {split:,} of them"
    )
