"""Ladders of settings: one solver at several numbers of slices or threads, step by step, with what the checker says.

A contract declares its ladders. Those of tier 2 are evidence of their own beside the campaign: they are described along
their steps, and the sensitivity analyses, which speak of the campaign, leave them out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from gapline.analysis.health import count_runs, ladder_columns
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError, listing
from gapline.model.reading import Reading
from gapline.model.result_table import ResultTable
from gapline.scoring.goals import attainment_name
from gapline.summary.means import summarise

if TYPE_CHECKING:
    from gapline.study import Study


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ladder(ResultTable):
    """One row per step, in the order of the contract, or of the settings where no contract says it.

    After arm and settings: the counts of `Health`, `instances`, `first_valid` (the time by which half of the runs have
    a valid incumbent; null where fewer than half ever have one), and the means of the first kernel, of the final gap
    and of the attainment of the first goal, as `gapline score` has them.
    """

    settings: tuple[str, ...]
    reading: Reading

    @property
    def name(self) -> str:
        """What is varied."""
        return ", ".join(self.settings)

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that are its steps."""
        return tuple(dict.fromkeys(self.frame["arm"].to_list()))

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return f"ladder of {self.name}; {self.reading.line()}"


def declared_steps(study: "Study") -> dict[tuple[str, ...], dict[str, dict[str, object]]]:
    """Return the ladders of a contract: what is varied -> arm -> its setting; of arms that have runs or lack them."""
    found: dict[tuple[str, ...], dict[str, dict[str, object]]] = {}
    present = set(study.cells["arm"].unique())
    for arm in () if study.contract is None else study.contract.arms:
        if arm.steps and arm.name in present:
            found.setdefault(tuple(arm.steps), {})[arm.name] = dict(arm.steps)
    return found


def arms_apart(study: "Study") -> tuple[str, ...]:
    """Return the arms that are steps of declared ladders of tier 2; none where the study has no other arms."""
    steps = [arm for arms in declared_steps(study).values() for arm in arms if arm in study.tier_two]
    everyone = set(study.envelopes.runs["arm"].unique())
    return tuple(arm for arm in steps if arm in everyone) if everyone - set(steps) else ()


def study_ladders(study: "Study", columns: Sequence[str] | None = None, /) -> dict[str, Ladder]:
    """Return the ladders of a study by what they vary.

    Those that the contract declares; without a contract, along each column of the runs table that takes several values
    as a setting does; along `columns` where these are given.
    """
    if columns is None and study.contract is not None:
        found = [_declared_ladder(study, settings, arms) for settings, arms in declared_steps(study).items()]
    else:
        runs = study.envelopes.runs
        names = ladder_columns(runs) if columns is None else list(columns)
        if unknown := [name for name in names if name not in runs.columns]:
            raise UsageError(f"ladder: expected columns of the runs table, got {listing(unknown)}")
        found = [_column_ladder(study, name) for name in names]
    return {ladder.name: ladder for ladder in found}


def _declared_ladder(study: "Study", settings: tuple[str, ...], arms: dict[str, dict[str, object]]) -> Ladder:
    steps = pl.DataFrame(
        {"arm": list(arms), **{name: [step[name] for step in arms.values()] for name in settings}}, strict=False
    )
    part = study.envelopes.select(pl.col("arm").is_in(list(arms)))
    # Steps without any run stay in the table, with a count of 0: that they are missing is what it has to show.
    counts = steps.join(_counts(study, part, ["arm"]), on="arm", how="left", maintain_order="left")
    whole = [name for name in counts.columns if counts[name].dtype == pl.Int64 and name not in settings]
    return _ladder(study, settings, counts.with_columns(pl.col(whole).fill_null(0)))


def _column_ladder(study: "Study", name: str) -> Ladder:
    part = study.envelopes.select(pl.col(name).is_not_null())
    return _ladder(study, (name,), _counts(study, part, ["arm", name]))


def _ladder(study: "Study", settings: tuple[str, ...], frame: pl.DataFrame) -> Ladder:
    arms = frame["arm"].unique().to_list()
    runs = study.envelopes.runs.filter(pl.col("arm").is_in(arms))
    reading = replace(
        study.reading,
        coverage=study.coverage_of(arms),
        horizons=tuple(sorted(runs["horizon"].unique().to_list())),
        kernels=study.kernels[:1],
        tier_two=(),
    )
    return Ladder(frame=frame, settings=settings, reading=reading)


def _counts(study: "Study", part: Envelopes, groups: list[str]) -> pl.DataFrame:
    """Return counts, first valid times and means of each group, sorted by it."""
    counts = count_runs(part, groups)
    scores = study.scores[0].frame
    # An empty run has no first time: it comes after every other one, and where half of the runs are empty so is the
    # middle. Without it a step that fails often would look quick.
    times = pl.col("first_time").sort(nulls_last=True)
    more = scores.group_by(groups).agg(
        instances=pl.col("instance").n_unique().cast(pl.Int64), first_valid=times.gather((pl.len() - 1) // 2).first()
    )
    means = summarise(study.scores[0], by=groups, weighting=study.weighting).frame
    shown = [study.kernels[0], "final_gap", attainment_name(study.goals[0])]
    found = counts.join(more, on=groups, how="left", maintain_order="left", nulls_equal=True)
    return found.join(means.select(*groups, *shown), on=groups, how="left", maintain_order="left", nulls_equal=True)
