"""The live table of arms and their curves over finished runs, as `gapline score` prints them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.campaign.assembly import RunTrace
from gapline.campaign.campaign import Campaign
from gapline.contract.contract import Contract
from gapline.contract.tables import RUN_KEY, RunKey
from gapline.envelope.build import Envelopes, build_envelopes
from gapline.errors import GaplineError
from gapline.journal.campaign import Tally, build_campaign, campaign_of_journals, survey_study
from gapline.journal.index import Index
from gapline.journal.plan_coverage import planned_cells, runs_of_contract
from gapline.journal.rebuild import Reused, standing_campaign
from gapline.journal.verdicts import Judge
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

# Reading everything anew may take this share of the time, and some seconds before anybody counts.
SHARE = 0.02
ALLOWANCE = 5.0
Refusal = tuple[str, str | None]


class Table:
    """The scores of the runs that are whole, and their means.

    `refused` says why there are none, where `gapline score` would refuse; `fulls` and `joined` count how often
    everything was read and how many runs joined by themselves.
    """

    def __init__(self, study: Path, contract: Contract, index: Index, *, clock: Callable[[], float] = time.monotonic):
        self.path = study
        self.contract = contract
        self._index = index
        self._clock = clock
        self.study: Study | None = None
        self.scores: Scores | None = None
        self.parts: list[Envelopes] = []
        self.alarms: tuple[Alarm, ...] = ()
        self.refused: Refusal | None = None
        self.bounds: dict[str, float] = {}
        self.stale = self.is_unjudged = True
        self.keys: set[RunKey] = set()
        self.fulls = self.joined = 0
        self.judge: Judge | None = None
        self._reused: Reused | None = None
        self._since = clock()
        self._spent = 0.0
        self._summary: Summary | None = None
        self._notes: dict[str, None] = {}
        self._document: tuple[Any, dict[str, Any]] | None = None

    @property
    def is_due(self) -> bool:
        """Whether everything is to be read anew, and may be."""
        allowed = ALLOWANCE + SHARE * (self._clock() - self._since)
        return self.stale and (self.fulls == 0 or self._spent <= allowed)

    def read_all(self, running: frozenset[str], *, in_progress: bool) -> None:
        """Read everything that is whole, as `gapline score` does; `running` are the names of the cells under way.

        While runs are to come (`in_progress`), a direction that nobody states is not judged.
        """
        began = self._clock()
        self.fulls += 1
        self._summary = None
        try:
            campaign = self._campaign(running)
            self.study = open_study(str(self.path), campaign=campaign, allow_empty=True, in_progress=in_progress)
            self.scores, self.alarms = self.study.scores[0], self.study.alarms
            self.parts, self.refused = [self.study.envelopes], None
            self.bounds = dual_bounds(self.study.campaign, self.study.envelopes.scale)
            self._notes = dict.fromkeys([*self.study.notes(), *self.study.summary.notes, *negative_lines(self.scores)])
        except GaplineError as error:
            self.study = self.scores = None
            self.parts, self.alarms, self.refused = [], (), (error.message, error.hint)
        self.keys = set() if self.scores is None else _keys(self.scores.frame)
        self.stale = False
        self.is_unjudged = in_progress and len(self.contract.stated_senses) < len(self.contract.instances)
        if self.fulls > 1:
            # The first one loads what all the others use.
            self._spent += self._clock() - began

    def _campaign(self, running: frozenset[str]) -> Campaign:
        survey = survey_study(self.path, self._index, running=running)
        self.judge = survey.judge
        known = self._reused
        reused = known if known is not None and known.fits(survey) else standing_campaign(self.path, survey)
        campaign = build_campaign(survey, self._index, reuse=(lambda *_: None) if reused is None else reused.run)
        self._reused = Reused.of(campaign, survey)
        return campaign

    def join(self, traces: Sequence[RunTrace]) -> None:
        """Let runs that have ended join the others; where they cannot by themselves, the table is stale."""
        if not traces or self.stale:
            return
        study = self.study
        if study is None or self.scores is None or not self._is_separable(study):
            self.stale = True
            return
        try:
            part = self._score(study, traces)
        except GaplineError:
            # Whatever it is, reading everything says it as `gapline score` does.
            self.stale = True
            return
        rows = pl.DataFrame() if part is None else part.scores[0].frame
        if part is None or self.keys & _keys(rows) or not set(study.tier_two).issuperset(self._described(part)):
            self.stale = True
            return
        frame = pl.concat([self.scores.frame, rows], how="diagonal_relaxed")
        self.keys |= _keys(rows)
        reading = self.scores.reading
        horizons = tuple(sorted({*reading.horizons, *part.reading.horizons}))
        announced = tuple(sorted({*reading.announced, *part.reading.announced}))
        self.scores = replace(
            self.scores, frame=frame, reading=replace(reading, horizons=horizons, announced=announced)
        )
        self.alarms = tuple(dict.fromkeys([*self.alarms, *find_part_alarms(study, part)]))
        self.parts.append(part.envelopes)
        self.joined += len(traces)
        self._summary = None
        for name, bound in dual_bounds(part.campaign, part.envelopes.scale).items():
            self.bounds[name] = max(bound, self.bounds.get(name, -np.inf))

    def _is_separable(self, study: Study) -> bool:
        """Whether the score of a run depends on it alone."""
        names = {cell.name for cell in self.contract.instances}
        return (
            len(study.references) == 1
            and study.references[0].policy != Policy.ANALYSIS
            and study.time_scale is None
            and not study.envelopes.scale.signed
            and not any(lacks_value(study.snapshot, name) for name in names)
        )

    def _score(self, study: Study, traces: Sequence[RunTrace]) -> Study | None:
        """Return runs as a study of their own, under the choices of the whole one; None where these differ."""
        campaign = campaign_of_journals(
            list(traces), Tally(), source=str(self.path), problems=[], notes=[], facts=dict(study.campaign.facts)
        )
        kept, removed = runs_of_contract(campaign, self.contract, cells=True)
        part = score_part(study, kept, self.contract)
        label, known = part.references[0].label, study.references[0].label
        return None if removed or (label.policy, label.digest) != (known.policy, known.digest) else part

    def _described(self, part: Study) -> tuple[str, ...]:
        """Return the arms among some runs that are of tier 2, as the runs say."""
        return descriptive_arms(part.campaign.runs, exact=declared_choices(self.contract)["exact"])

    @property
    def summary(self) -> Summary | None:
        """The means of every arm."""
        if self._summary is None and self.scores is not None and self.study is not None:
            self._summary = summarise(self.scores, weighting=self.study.weighting)
        return self._summary

    def document(self, states: dict[str, int]) -> dict[str, Any]:
        """Return the table in the shape of `gapline score --json`; `states` counts planned cells by their state."""
        mark = (self.scores, self.refused, tuple(states.items()))
        if self._document is None or self._document[0] != mark:
            self._document = (mark, self._make_document(states))
        return self._document[1]

    def _make_document(self, states: dict[str, int]) -> dict[str, Any]:
        scores, summary, study = self.scores, self.summary, self.study
        if scores is None or summary is None or study is None:
            message, hint = self.refused or ("no run is whole yet", None)
            return {"arms": [], "refused": {"message": message, "hint": hint}}
        # Counted here and not when everything was read last: runs have joined since.
        coverage = replace(
            count_coverage(scores.frame, study.references[0].label.unreferenced),
            planned=study.coverage.planned,
            removed=study.coverage.removed,
            **{name: states.get(name, 0) for name in ("running", "interrupted", "missing", "unchecked")},
        )
        counted = replace(summary, reading=replace(summary.reading, coverage=coverage))
        read = study.campaign.diagnostics
        return score_document(scores, counted, per_run=False) | {
            "refused": None,
            # Of all runs together, as they were when everything was read last.
            "notes": list(self._notes),
            "unreadable": {"count": read.problem_count, "problems": list(read.problems)},
            **read.attempts_document(),
        }

    def cells(self) -> pl.DataFrame:
        """Return every planned cell: arm, panel, instance, seed."""
        nothing = campaign_of_journals([], Tally(), source="", problems=[], notes=[])
        return planned_cells(nothing, self.contract, {})

    def envelopes(self) -> Envelopes | None:
        """Return the steps of all runs that are in it."""
        return join_envelopes(self.parts) if self.parts else None


def _keys(frame: pl.DataFrame) -> set[RunKey]:
    return {RunKey(*row) for row in frame.select(RUN_KEY).iter_rows()}


def score_part(study: Study, campaign: Campaign, contract: Contract) -> Study:
    """Return some runs as a study of their own, under the choices of an opened one."""
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


def find_part_alarms(study: Study, part: Study) -> list[Alarm]:
    """Look for contradictions that some runs bring: with what is stored, among themselves, and with all others."""
    tolerance = study.tolerance
    found = [
        *(find_alarms(study.stored, part.envelopes, tolerance=tolerance) if study.stored else ()),
        *find_contradictions(part.campaign, part.envelopes, tolerance=tolerance),
        *find_stored_contradictions(part.campaign, part.envelopes, study.stored, tolerance=tolerance),
        *find_contradictions(part.campaign, part.envelopes, tolerance=tolerance, solutions=study.envelopes),
        *find_contradictions(study.campaign, study.envelopes, tolerance=tolerance, solutions=part.envelopes),
    ]
    return list(dict.fromkeys(found))


def join_envelopes(parts: Sequence[Envelopes]) -> Envelopes:
    """Put the steps of disjoint runs into one."""
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


def curves_document(table: Table) -> dict[str, Any]:
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
        # `raw` has no mean curve where a run starts without a candidate.
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
