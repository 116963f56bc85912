"""The live table of arms and their curves over finished runs, as `gapline score` prints them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import polars as pl

from gapline.campaign.assembly import RunTrace
from gapline.campaign.campaign import Campaign
from gapline.contract.contract import Contract
from gapline.contract.tables import RUN_KEY, RunKey
from gapline.envelope.build import Envelopes, build_envelopes
from gapline.errors import GaplineError
from gapline.journal.campaign import build_campaign, campaign_of_journals, survey_study
from gapline.journal.index import Index
from gapline.journal.plan_coverage import runs_of_contract
from gapline.journal.rebuild import ReusableCampaign, stored_campaign
from gapline.journal.verdicts import Judge
from gapline.live.time_share import TimeShare
from gapline.references.alarms import Alarm, find_alarms
from gapline.references.choice import choose_references
from gapline.references.contradictions import dual_bounds, find_contradictions, find_stored_contradictions
from gapline.references.policy import Policy, settle_scale
from gapline.references.resolve import lacks_value
from gapline.report.statements.remarks import negative_lines
from gapline.report.tables.means import score_document
from gapline.scoring.attainment import attainment_curve
from gapline.scoring.curve import mean_curve
from gapline.scoring.run_references import count_coverage, descriptive_arms
from gapline.scoring.scores import Scores
from gapline.statistics.means import Summary, summarise
from gapline.study import Study, declared_choices, open_study

# Share of the time that reading everything again may take, after an initial allowance in seconds.
SHARE = 0.02
ALLOWANCE = 5.0
T = TypeVar("T")


class Latest(Generic[T]):
    """The latest result of some work, which is repeated when its mark changes."""

    def __init__(self) -> None:
        self._kept: tuple[object, T] | None = None

    def of(self, mark: object, work: Callable[[], T]) -> T:
        """Return the result for a mark, computing it if the mark changed."""
        if self._kept is None or self._kept[0] != mark:
            self._kept = mark, work()
        return self._kept[1]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts over all whole runs: runs by status, candidates by arm, and the best run below each reference."""

    statuses: dict[str, int] = field(default_factory=dict)
    captured: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    beaten: dict[str, dict[str, Any]] = field(default_factory=dict)


class LiveScores:
    """The scores of the whole runs, and their means.

    `refused` says why there are none, as `gapline score` would; `fulls` counts how often everything was read, and
    `joined` how many runs were added one by one.
    """

    def __init__(self, study: Path, contract: Contract, index: Index, *, clock: Callable[[], float] = time.monotonic):
        self.path = study
        self.contract = contract
        self._index = index
        self.study: Study | None = None
        self.scores: Scores | None = None
        self.parts: list[Envelopes] = []
        self.alarms: tuple[Alarm, ...] = ()
        self.refused: tuple[str, str | None] | None = None
        self.bounds: dict[str, float] = {}
        self.stale = self.is_unjudged = True
        self.fulls = self.joined = 0
        self.judge: Judge | None = None
        self._reused: ReusableCampaign | None = None
        self._time = TimeShare(SHARE, ALLOWANCE, clock=clock)
        self._notes: dict[str, None] = {}
        self._summary: Latest[Summary] = Latest()
        self._counts: Latest[Counts] = Latest()
        self._document: Latest[dict[str, Any]] = Latest()

    @property
    def mark(self) -> tuple[int, int]:
        """Identifies the scores: with the same mark, they are the same."""
        return self.fulls, self.joined

    @property
    def is_due(self) -> bool:
        """Whether everything has to be read again, and there is time for it."""
        return self.stale and not self._time.wait()

    def read_all(self, running: frozenset[str], *, in_progress: bool) -> None:
        """Read everything that is whole, like `gapline score`; `running` are the names of the cells under way.

        While runs are to come (`in_progress`), a direction that the contract does not state is not judged.
        """
        with self._time.spent():
            self.fulls += 1
            try:
                campaign = self._campaign(running)
                study = open_study(str(self.path), campaign=campaign, allow_empty=True, in_progress=in_progress)
                self.study, self.scores, self.alarms = study, study.scores[0], study.alarms
                self.parts, self.refused = [study.envelopes], None
                self.bounds = dual_bounds(study.campaign, study.envelopes.scale)
                self._notes = dict.fromkeys([*study.notes(), *study.summary.notes, *negative_lines(self.scores)])
            except GaplineError as error:
                self.study = self.scores = None
                self.parts, self.alarms, self.refused = [], (), (error.message, error.hint)
            self.stale = False
            self.is_unjudged = in_progress and len(self.contract.stated_senses) < len(self.contract.instances)

    def _campaign(self, running: frozenset[str]) -> Campaign:
        survey = survey_study(self.path, self._index, running=running)
        self.judge = survey.judge
        known = self._reused
        reused = known if known is not None and known.fits(survey) else stored_campaign(self.path, survey)
        campaign = build_campaign(survey, self._index, reuse=(lambda *_: None) if reused is None else reused.run)
        self._reused = ReusableCampaign.of(campaign, survey)
        return campaign

    def join(self, traces: Sequence[RunTrace]) -> None:
        """Add runs that have ended; if they cannot be added one by one, the table becomes stale."""
        if traces and not self.stale:
            try:
                self.stale = not self._join(traces)
            except GaplineError:
                # Reading everything reports the error as `gapline score` does.
                self.stale = True

    def _join(self, traces: Sequence[RunTrace]) -> bool:
        study, scores = self.study, self.scores
        if study is None or scores is None or not self._is_separable(study):
            return False
        campaign = campaign_of_journals(list(traces), source=str(self.path), facts=dict(study.campaign.facts))
        kept, removed = runs_of_contract(campaign, self.contract, cells=True)
        part = score_part(study, kept, self.contract)
        label, known = part.references[0].label, study.references[0].label
        if removed or (label.policy, label.digest) != (known.policy, known.digest):
            return False
        # The new runs may show that further arms are of tier 2.
        described = descriptive_arms(kept.runs, exact=declared_choices(self.contract)["exact"])
        new = part.scores[0].frame
        if new.join(scores.frame, on=RUN_KEY, how="semi").height or not set(study.tier_two).issuperset(described):
            return False
        reading = scores.reading
        horizons = tuple(sorted({*reading.horizons, *part.reading.horizons}))
        announced = tuple(sorted({*reading.announced, *part.reading.announced}))
        self.scores = replace(
            scores,
            frame=pl.concat([scores.frame, new], how="diagonal_relaxed"),
            reading=replace(reading, horizons=horizons, announced=announced),
        )
        alarms = find_part_alarms(study, part.campaign, part.envelopes)
        self.alarms = tuple(dict.fromkeys([*self.alarms, *alarms]))
        self.parts.append(part.envelopes)
        self.joined += len(traces)
        for name, bound in dual_bounds(part.campaign, part.envelopes.scale).items():
            self.bounds[name] = max(bound, self.bounds.get(name, -np.inf))
        return True

    def _is_separable(self, study: Study) -> bool:
        """Whether the score of a run depends on this run only."""
        return (
            len(study.references) == 1
            and study.references[0].policy != Policy.ANALYSIS
            and study.time_scale is None
            and not study.envelopes.scale.signed
            and not any(lacks_value(study.snapshot, instance.name) for instance in self.contract.instances)
        )

    @property
    def summary(self) -> Summary | None:
        """The means of every arm."""
        scores, study = self.scores, self.study
        if scores is None or study is None:
            return None
        return self._summary.of(self.mark, lambda: summarise(scores, weighting=study.weighting))

    @property
    def counts(self) -> Counts:
        """The counts over all whole runs."""
        scores = self.scores
        return Counts() if scores is None else self._counts.of(self.mark, lambda: count_runs(scores.frame))

    def document(self, states: dict[str, int]) -> dict[str, Any]:
        """Return the table in the shape of `gapline score --json`; `states` counts planned cells by their state."""
        return self._document.of((self.mark, states), lambda: self._make_document(states))

    def _make_document(self, states: dict[str, int]) -> dict[str, Any]:
        scores, summary, study = self.scores, self.summary, self.study
        if scores is None or summary is None or study is None:
            message, hint = self.refused or ("no run is whole yet", None)
            return {"arms": [], "refused": {"message": message, "hint": hint}}
        # Counted here and not when everything was last read: runs have joined since.
        coverage = replace(
            count_coverage(scores.frame, study.references[0].label.unreferenced),
            planned=study.coverage.planned,
            removed=study.coverage.removed,
            **states,
        )
        counted = replace(summary, reading=replace(summary.reading, coverage=coverage))
        read = study.campaign.diagnostics
        return score_document(scores, counted, per_run=False) | {
            "refused": None,
            # Of all runs together, from when everything was last read.
            "notes": list(self._notes),
            "unreadable": {"count": read.problem_count, "problems": list(read.problems)},
            **read.attempts_document(),
        }

    def envelopes(self) -> Envelopes | None:
        """Return the steps of all runs in the table."""
        return join_envelopes(self.parts) if self.parts else None


def count_runs(frame: pl.DataFrame) -> Counts:
    """Return the counts over whole runs."""
    arms = frame.group_by("arm").agg(pl.col("captured", "rejected").sum()).sort("arm")
    below = frame.filter("beaten").sort("best", "best_time", "arm", "seed")
    beaten = {}
    for row in below.unique("instance", keep="first", maintain_order=True).iter_rows(named=True):
        run = str(RunKey(row["arm"], row["instance"], row["seed"]))
        beaten[row["instance"]] = {
            "instance": row["instance"], "reference": row["reference"], "best": row["best"],
            "value": row["best_raw"], "run": run, "running": False, "checked": row["validation"] == "checker",
        }  # fmt: skip
    statuses = dict(sorted(frame.group_by("status").len().iter_rows()))
    captured, rejected = (dict(arms.select("arm", name).iter_rows()) for name in ("captured", "rejected"))
    return Counts(statuses, captured, rejected, beaten)


def score_part(study: Study, campaign: Campaign, contract: Contract) -> Study:
    """Return some runs as a separate study, under the choices of an opened one."""
    stated, unchecked = declared_choices(contract), study.envelopes.unchecked
    scale = settle_scale(
        campaign,
        stated["transform"],
        study.stored,
        kernels=study.kernels,
        sense=stated["sense"],
        unchecked=unchecked,
    )
    envelopes = build_envelopes(campaign, transform=scale, unchecked=unchecked)
    registered = None if study.register is None else study.register.snapshot_digests()
    late = () if study.register is None else study.register.late_digests()
    entries = choose_references(study.stored, envelopes, stated["policy"], registered, study.tolerance, late=late)
    return replace(study, campaign=campaign, envelopes=envelopes, references=entries)


def find_part_alarms(study: Study, campaign: Campaign, envelopes: Envelopes) -> list[Alarm]:
    """Find contradictions of some runs: with stored values, among themselves, and with all other runs."""
    tolerance = study.tolerance
    found = [
        *(find_alarms(study.stored, envelopes, tolerance=tolerance) if study.stored else ()),
        *find_contradictions(campaign, envelopes, tolerance=tolerance),
        *find_stored_contradictions(campaign, envelopes, study.stored, tolerance=tolerance),
        *find_contradictions(campaign, envelopes, tolerance=tolerance, solutions=study.envelopes),
        *find_contradictions(study.campaign, study.envelopes, tolerance=tolerance, solutions=envelopes),
    ]
    return list(dict.fromkeys(found))


def join_envelopes(parts: Sequence[Envelopes]) -> Envelopes:
    """Concatenate the steps of disjoint runs."""
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0, *(len(part.time) for part in parts)])
    tables = [
        part.runs.with_columns(first=pl.col("first") + int(offset))
        for part, offset in zip(parts, offsets, strict=False)
    ]
    return replace(
        parts[0],
        runs=pl.concat(tables, how="diagonal_relaxed"),
        time=np.concatenate([part.time for part in parts]),
        objective=np.concatenate([part.objective for part in parts]),
    )


POINTS = 200


def curves_document(table: LiveScores) -> dict[str, Any]:
    """Return the curves of every arm; `refused` says why there are none."""
    study, envelopes = table.study, table.envelopes()
    if study is None or envelopes is None:
        return {
            "relative": False,
            "mean": [],
            "attainment": [],
            "refused": (table.refused or ("no run is whole", ""))[0],
        }
    relative = envelopes.runs["horizon"].n_unique() > 1
    choices: dict[str, Any] = {"weighting": study.weighting, "relative": relative, "tolerance": study.tolerance}
    refused, mean = None, []
    try:
        found = mean_curve(envelopes, study.snapshot, kernel=study.kernels[0], points=POINTS, **choices)
        mean = _lines(found.frame, "value")
    except GaplineError as error:
        # `raw` has no mean curve if a run starts without a candidate.
        refused = error.message
    attained = attainment_curve(envelopes, study.snapshot, goals=study.goals, **choices)
    lines = []
    for goal in study.goals:
        part = attained.frame.filter(pl.col("goal") == goal)
        lines += [line | {"goal": goal} for line in _lines(part, "value")]
    return {"relative": relative, "mean": mean, "attainment": lines, "refused": refused}


def _lines(frame: pl.DataFrame, value: str) -> list[dict[str, Any]]:
    lines = []
    for (arm,), part in frame.group_by("arm", maintain_order=True):
        places = np.unique(np.linspace(0, part.height - 1, min(part.height, 2 * POINTS)).round().astype(np.int64))
        thin = part[places.tolist()]
        lines.append({"arm": arm, "time": thin["time"].to_list(), "value": thin[value].to_list()})
    return lines
