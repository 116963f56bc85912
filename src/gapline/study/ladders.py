"""Ladders of settings: one solver at several values of a setting, such as slices or threads, step by step.

A contract declares its ladders, and the runs record them (`contract/ladders.py`). Ladders of tier 2 are separate
evidence: they are described step by step, and left out of the sensitivity analyses of the campaign.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from gapline.contract.instance_set import InstanceSet, decide_instance_set
from gapline.contract.reading import Reading
from gapline.contract.result_table import ResultTable
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError, listing
from gapline.scoring.endpoints import attainment_name
from gapline.statistics.means import summarise
from gapline.statistics.ranking import rank_means
from gapline.study.health import count_runs, ladder_columns

if TYPE_CHECKING:
    from gapline.study import Study


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ladder(ResultTable):
    """One row per step of `settings`, the smallest first.

    After arm and settings: `rank` by the mean of the first kernel, among the steps that ran the same instances (null
    for the others, and if the kernel ranks nothing); the counts of `Health`, `instances`, `first_valid` (the time by
    which half of the runs have a valid incumbent; null if fewer than half ever have one), and the means of the first
    kernel, of the final gap and of the attainment of the first goal, as in `gapline score`.
    """

    name: str
    settings: tuple[str, ...]
    reading: Reading

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms of its steps."""
        return tuple(dict.fromkeys(self.frame["arm"].to_list()))

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return f"ladder of {self.name}; {self.reading.line()}"


def study_ladders(study: "Study", names: Sequence[str] | None = None, /) -> dict[str, Ladder]:
    """Return the ladders of a study by the settings that they vary.

    These are the ladders that the contract declares or the runs record; if there are none, one along each column of the
    runs table that varies like a setting. `names` selects ladders, or columns of the runs table.
    """
    known, runs = study.ladders, study.envelopes.runs
    if names is None:
        names = list(known) or ([] if study.contract is not None else ladder_columns(runs))
    if unknown := [name for name in names if name not in known and name not in runs.columns]:
        raise UsageError(f"ladder: expected ladders or columns of the runs table, got {listing(unknown)}")
    return {name: _steps(study, name) if name in known else _column(study, name) for name in names}


def _steps(study: "Study", name: str) -> Ladder:
    arms = study.ladders[name]
    settings = tuple(next(iter(arms.values())))
    steps = pl.DataFrame(
        {"arm": list(arms), **{setting: [step[setting] for step in arms.values()] for setting in settings}},
        strict=False,
    )
    part = study.envelopes.select(pl.col("arm").is_in(list(arms)))
    # Steps without any run stay in the table with a count of 0, to show that they are missing.
    counts = steps.join(_counts(study, part, ["arm"]), on="arm", how="left", maintain_order="left")
    whole = [column for column in counts.columns if counts[column].dtype == pl.Int64 and column not in settings]
    return _ladder(study, name, settings, counts.with_columns(pl.col(whole).fill_null(0)), ["arm"])


def _column(study: "Study", name: str) -> Ladder:
    # Some readers put the column into the names of the arms: then only these arms are the steps.
    named = pl.col("arm").str.contains(f" {name}=", literal=True)
    part = study.envelopes.select(pl.col(name).is_not_null() & (named | ~named.any()))
    return _ladder(study, name, (name,), _counts(study, part, ["arm", name]).sort(name, "arm"), ["arm", name])


def _ladder(study: "Study", name: str, settings: tuple[str, ...], frame: pl.DataFrame, groups: Sequence[str]) -> Ladder:
    arms = frame["arm"].unique().to_list()
    runs = study.envelopes.runs.filter(pl.col("arm").is_in(arms))
    # Steps are ranked like arms: the largest group that ran the same instances.
    members = study.envelopes.runs.join(frame.select(groups), on=groups, how="semi", nulls_equal=True)
    steps = members.select("panel", "instance", "steps", arm=_label(groups))
    found = decide_instance_set(steps, ladders=[], rule=study.missing, left_out=study.lacking)
    frame = frame.with_columns(rank=_ranks(study, frame, groups, found)).select(
        *groups,
        *(setting for setting in settings if setting not in groups),
        "rank",
        pl.exclude(*groups, *settings, "rank"),
    )
    reading = replace(
        study.reading,
        coverage=study.coverage_of(arms),
        horizons=tuple(sorted(runs["horizon"].unique().to_list())),
        kernels=study.kernels[:1],
        tier_two=(),
        instance_set=found,
    )
    return Ladder(frame=frame, name=name, settings=settings, reading=reading)


def _label(groups: Sequence[str]) -> pl.Expr:
    """Return the name of a step: its arm, with the setting if an arm has several."""
    several = [
        pl.when(pl.col(name).n_unique().over("arm") > 1).then(pl.format(f" {name}={{}}", name)).otherwise(pl.lit(""))
        for name in groups
        if name != "arm"
    ]
    return pl.concat_str(pl.col("arm"), *several)


def _ranks(study: "Study", frame: pl.DataFrame, groups: Sequence[str], found: InstanceSet) -> pl.Series:
    kernel = study.kernels[0]
    runs = study.scores[0].frame.join(frame.select(groups), on=groups, how="semi", nulls_equal=True)
    reading = replace(study.scores[0].reading, instance_set=found)
    steps = replace(study.scores[0], frame=runs.with_columns(arm=_label(groups)), reading=reading, known=None)
    outside = steps.why_unranked(kernel) is not None
    names, means = frame.select(_label(groups)).to_series().to_list(), frame[kernel].to_list()
    known = [k for k, name in enumerate(names) if found.ranked(name) and means[k] is not None and not outside]
    ranks = dict(zip(known, rank_means(np.array([means[k] for k in known], np.float64)).tolist(), strict=True))
    return pl.Series([ranks.get(k) for k in range(len(names))], dtype=pl.Int64)


def _counts(study: "Study", part: Envelopes, groups: list[str]) -> pl.DataFrame:
    """Return counts, first valid times and means of each group, sorted by it."""
    counts = count_runs(part, groups)
    scores = study.scores[0].frame
    # An empty run has no first time: it sorts after all others, and if half of the runs are empty, the median is null.
    # Otherwise a step that often fails would look fast.
    times = pl.col("first_time").sort(nulls_last=True)
    more = scores.group_by(groups).agg(
        instances=pl.col("instance").n_unique().cast(pl.Int64), first_valid=times.gather((pl.len() - 1) // 2).first()
    )
    means = summarise(study.scores[0], by=groups, weighting=study.weighting).frame
    shown = [study.kernels[0], "final_gap", attainment_name(study.goals[0])]
    found = counts.join(more, on=groups, how="left", maintain_order="left", nulls_equal=True)
    return found.join(means.select(*groups, *shown), on=groups, how="left", maintain_order="left", nulls_equal=True)
