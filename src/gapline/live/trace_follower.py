"""A trace file (CSV or JSONL) that somebody else's solver is still writing, followed like a study.

Whole lines are copied to a scratch file as they come, from where the last look stopped; what stands behind the last
line end is not yet whole. What was copied is read as `gapline score` reads it, no more often than a small share of the
time allows. No table says that a run has ended unless it has a `status`: the others are open up to their horizon, and
the means are those of runs that hold their incumbents. A recording knows its open runs, and its means are without
them. Where scoring is refused, for want of a reference above all, the
runs are shown by their traces alone.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.contract.tables import FAILED, RUN_KEY, RunKey, RunStatus
from gapline.envelope.build import Envelopes, build_envelopes
from gapline.errors import GaplineError, TraceError
from gapline.files.open_file import open_regular
from gapline.live.arms import ArmBounds
from gapline.live.bounds import Against, Bounds, OpenRun, bound_runs
from gapline.live.event_log import Happenings, Kind
from gapline.live.hub import Followable
from gapline.live.live import SCHEMA, Document, LiveStudy
from gapline.live.open_runs import best_possible, is_certified, thinned
from gapline.live.table import ALLOWANCE, SHARE
from gapline.references.contradictions import dual_bounds
from gapline.report.reading_text import score_document
from gapline.scoring.kernels import Kernel
from gapline.scoring.run_references import count_coverage
from gapline.scoring.scores import Scores
from gapline.statistics.means import summarise
from gapline.study import Study, open_study
from gapline.traces.direction import check_direction, state_sense
from gapline.traces.merge import gathered
from gapline.traces.read import read_in_parts
from gapline.traces.recordings import is_recorded, read_recorded

BLOCK = 1 << 20
NO_REFERENCE = "expected a reference for the instances, got none: incumbents are shown, and no gap, score or bound"
HOW_TO_REFER = "begin again with --references FILE (a CSV instance,value or a .solu file) or --snapshot FILE.json"
# A file that did not grow for so long is said not to.
QUIET = 60.0


@dataclass
class _Closed:
    """The runs of a file that say that they have ended."""

    fulls: int = 0
    bounds: dict[str, float] = field(default_factory=dict)
    scores: Scores | None = None


class LiveTraces:
    """A trace file that is followed; `place` is up to where it was read.

    `study` is what `gapline score` opens of it, None where that is refused; `envelopes` are there without it too.
    `reading` holds the choices of `gapline.read`.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str = "",
        references: str | None = None,
        snapshots: Sequence[str] = (),
        horizon: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        **reading: Any,
    ) -> None:
        self.path = path
        self.name = name or path.name
        self._choices: dict[str, Any] = {"references": references, "snapshots": snapshots, "horizon": horizon}
        self._reading = reading
        self._is_referred = references is not None or bool(snapshots)
        self._clock = clock
        self._folder = tempfile.TemporaryDirectory(prefix="gapline-follow-")
        self._copy = Path(self._folder.name) / path.name
        self.place = 0
        self._file: tuple[int, int] | None = None
        self._grown = clock()
        self._since, self._spent, self.reads = clock(), 0.0, 0
        self._stale = True
        self._is_recorded = False
        self.study: Study | None = None
        self.campaign: Campaign | None = None
        self.envelopes: Envelopes | None = None
        self._refused: dict[str, Any] | None = None
        self._doubt = ""
        self._closed = _Closed()
        self.happenings = Happenings()

    def close(self) -> None:
        """Remove the scratch file."""
        self._folder.cleanup()

    def look(self) -> Document:
        """Read what is new, and return the state of this moment."""
        self._note_growth()
        allowed = ALLOWANCE + SHARE * (self._clock() - self._since)
        # A recorded run ends without a further line where its process is killed, or its horizon passes.
        waits = self._is_recorded and self.campaign is not None and not _has_ended(self.campaign.runs).all()
        if (self._stale or waits) and (not self.reads or self._spent <= allowed):
            self._read()
            # What a process wrote before it ended may have come after the lines were copied.
            self._note_growth()
        return self._document()

    def _note_growth(self) -> None:
        if self._take():
            self._grown, self._stale = self._clock(), True

    def _take(self) -> bool:
        """Copy the whole lines that were added; return whether there were any."""
        with open_regular(self.path) as stream:
            facts = os.fstat(stream.fileno())
            file = (facts.st_dev, facts.st_ino)
            if self._file not in (None, file) or facts.st_size < self.place:
                self.place = 0
                self.campaign = self.envelopes = None
                self._copy.unlink(missing_ok=True)
            self._file = file
            before = self.place
            stream.seek(self.place)
            with self._copy.open("ab") as out:
                rest = b""
                while block := stream.read(BLOCK):
                    whole, newline, rest = (rest + block).rpartition(b"\n")
                    out.write(whole + newline)
                    self.place += len(whole) + len(newline)
        return self.place != before

    def _read(self) -> None:
        began = self._clock()
        known = _improved(self.envelopes)
        self.study, campaign = None, None
        try:
            self._is_recorded = is_recorded(self._copy)
            if self._is_recorded:
                recorded = read_recorded(self._copy, open_runs=True)
                campaign = state_sense(recorded, self._reading.get("sense"))
            else:
                # Not `read`: whether objectives rise is judged once every run has ended.
                campaign = gathered(read_in_parts(self._copy, **self._reading))
            is_open = not _has_ended(campaign.runs).all()
            empty = is_open or self._reading.get("allow_empty", False)
            study = open_study(
                str(self.path), campaign=campaign, allow_empty=empty, in_progress=is_open, **self._choices
            )
            # Scoring may be refused where opening is not: an instance without a reference.
            self._close_runs(study)
            self.study, self.campaign, self.envelopes, self._refused = study, study.campaign, study.envelopes, None
            self._doubt = _direction_doubt(campaign).replace(str(self._copy), str(self.path)) if is_open else ""
        except GaplineError as error:
            self._refuse(error, campaign)
        for key, best in sorted(_improved(self.envelopes) - known)[:20]:
            self.happenings.add(Kind.INCUMBENT, f"{best:.12g}", key)
        self._stale = False
        self._spent += (self._clock() - began) if self.reads else 0.0
        self.reads += 1

    def _refuse(self, error: GaplineError, campaign: Campaign | None) -> None:
        """Take note why there are no scores; what is accepted of the runs is shown without them."""
        self._closed = _Closed(self._closed.fulls + 1)
        self._refused = {"message": error.message.replace(str(self._copy), str(self.path)), "hint": error.hint}
        if campaign is not None:
            # Where that is refused too, the runs are shown as they were before.
            with contextlib.suppress(GaplineError):
                horizon = self._choices["horizon"]
                self.envelopes, self.campaign = build_envelopes(campaign, horizon=horizon, allow_empty=True), campaign
                if not self._is_referred:
                    self._refused = {"message": NO_REFERENCE, "hint": HOW_TO_REFER}

    def _close_runs(self, study: Study) -> None:
        scores = study.scores[0]
        ended = scores.frame.filter(_has_ended(scores.frame))
        bounds = dual_bounds(study.campaign, study.envelopes.scale)
        self._closed = _Closed(self._closed.fulls + 1, bounds, replace(scores, frame=ended))

    def _document(self) -> Document:
        study, envelopes = self.study, self.envelopes
        running = {} if envelopes is None else self._traces(envelopes)
        bounds: Document = {}
        ranking: Document = {"cells": 0, "planned": 0, "arms": {}, "words": ""}
        if study is not None:
            bounds, ranking = self._score(study, running)
        if self._doubt:
            # What is decided one way would be decided the other way under the other direction.
            bounds = {name: one | {"pairs": []} for name, one in bounds.items()}
            ranking["words"] = "; ".join(filter(None, (ranking["words"], self._doubt)))
        quiet = self._clock() - self._grown
        runs = 0 if envelopes is None else len(envelopes)
        interrupted = 0 if self.campaign is None else len(self.campaign.interrupted)
        # Runs that wait for their verdict are not among those that are scored.
        waiting = 0 if study is None else study.coverage.unchecked
        statuses = {} if envelopes is None else _statuses(envelopes.runs)
        table: Document = {"arms": [], "refused": self._refused}
        if study is not None:
            table = self._table(study, len(running)) | {"refused": self._refused}
        still = "the file grows" if quiet < QUIET else f"the file has not grown for {quiet / 60:.0f} min"
        words = "every run says that it has ended" if runs and not running else still
        return {
            **table,
            "schema": SCHEMA,
            "source": "traces",
            "study": {"id": self.name, "name": self.path.name, "title": ""},
            "phase": "not begun" if not runs else "running" if running or self._stale else "finished",
            "runner": {"alive": None, "words": words, "resume": None},
            "progress": {
                "planned": runs + waiting + interrupted, "done": runs - len(running), "running": len(running),
                "interrupted": interrupted, "quarantined": 0, "unchecked": waiting, "missing": 0,
                "failed": sum(statuses.get(name, 0) for name in FAILED), "left": interrupted,
                "statuses": statuses, "seconds_left": None, "time_left": None,
            },
            "current": not self._stale,
            "bounds": bounds,
            "ranking": ranking,
            "running": running,
            "events": self.happenings.documents(),
            "failures": [],
            "fairness": {},
            "rejected_arms": [] if envelopes is None else _rejected_arms(envelopes),
            "beaten": [],
            "alarms": [] if study is None else [alarm.document() for alarm in study.alarms],
            "running_alarms": [],
        }  # fmt: skip

    def _traces(self, envelopes: Envelopes) -> Document:
        """Return the runs that may go on, without what a reference makes of them."""
        assert self.campaign is not None
        found, ended = {}, _has_ended(envelopes.runs)
        for place, row in enumerate(envelopes.runs.iter_rows(named=True)):
            if ended[place]:
                continue
            steps, objectives = envelopes.steps(place)
            first = self.campaign.runs["first"][place]
            stamps = self.campaign.time[first : first + self.campaign.runs["count"][place]]
            known = float(np.nanmax(stamps, initial=0.0)) if len(stamps) else 0.0
            key = RunKey(row["arm"], row["instance"], row["seed"])
            found[str(key)] = {
                **key._asdict(),
                "panel": row["panel"], "attempt": None, "host": None, "horizon": row["horizon"],
                "elapsed": min(known, row["horizon"]), "known": min(known, row["horizon"]),
                "captured": row["captured"], "rejected": row["rejected"], "late": row["late"],
                "reasons": {}, "checked": True, "problem": None,
                "trace": {"time": thinned(steps), "objective": thinned(objectives)},
                "incumbent": row["best_raw"], "reference": None, "best_possible": None,
                "gap": None, "scores": None, "bounds": None,
            }  # fmt: skip
        return found

    def _table(self, study: Study, running: int) -> Document:
        """Return the means in the shape of `gapline score --json`; of a recording without the runs that go on."""
        scores = self._closed.scores
        if not self._is_recorded or not running or scores is None:
            return score_document(study.scores[0], study.summary, per_run=False)
        if not scores.frame.height:
            return {"arms": []}
        summary = summarise(scores, weighting=study.weighting)
        coverage = count_coverage(scores.frame, study.references[0].label.unreferenced)
        reading = replace(summary.reading, coverage=replace(coverage, running=running))
        return score_document(scores, replace(summary, reading=reading), per_run=False)

    def _score(self, study: Study, running: Document) -> tuple[Document, Document]:
        """Give the runs that may go on their gaps, scores and bounds; return the bounds and the ranks of the arms."""
        against = Against(weighting=study.weighting, tolerance=study.tolerance, tier_two=study.tier_two)
        against.choose(study.kernels, study.weight)
        against.use(study.snapshot)
        scale, runs, keys = study.envelopes.scale, [], []
        for place, row in enumerate(study.envelopes.runs.iter_rows(named=True)):
            key = RunKey(row["arm"], row["instance"], row["seed"])
            reference = against.reference(key.instance, scale)
            if str(key) not in running or reference is None:
                continue
            steps, objectives = study.envelopes.steps(place)
            best = best_possible(
                key.instance,
                reference,
                certified=is_certified(study.snapshot, key.instance),
                bounds=self._closed.bounds,
                tolerance=study.tolerance,
            )
            if best is not None and len(objectives):
                best = min(best, float(objectives[-1]))
            known = running[str(key)]["known"]
            keys.append(key)
            runs.append(OpenRun(steps, objectives, known, row["horizon"], reference, best))
        assert against.weight is not None
        found = bound_runs(runs, kernels=against.kernels, weight=against.weight)
        for key, run, bounds in zip(keys, runs, found, strict=True):
            running[str(key)] |= _scored(run, against.kernels, bounds)

        def best_known(instance: str) -> tuple[float | None, float | None]:
            return against.reference(instance, scale), self._closed.bounds.get(instance)

        cells = study.envelopes.runs.select("arm", "panel", "instance", "seed")
        ladders = [list(steps) for steps in study.ladders.values()]
        arms = ArmBounds(cells, against, ladders)
        ranking = arms.ranking(self._closed.scores)
        return arms.document(self._closed, dict(zip(keys, found, strict=True)), best_known), ranking


def _scored(run: OpenRun, kernels: Sequence[Kernel], bounds: Sequence[Bounds]) -> Document:
    """Return what a reference makes of a run that may go on: the gap of its incumbent, its score so far, its bounds."""
    pairs = [(kernel.name, one) for kernel, one in zip(kernels, bounds, strict=True)]
    last = run.objective[-1:]
    return {
        "reference": run.reference,
        "best_possible": run.best,
        "gap": {kernel.name: float(kernel(last, np.array([run.reference]))[0]) for kernel in kernels}
        if len(last)
        else None,
        "scores": {name: one.so_far for name, one in pairs},
        "bounds": {name: one.document() for name, one in pairs},
    }


def _direction_doubt(campaign: Campaign) -> str:
    """Say that the direction of runs that may go on is not stated and in doubt; once they have ended, it is refused."""
    try:
        return "; ".join(check_direction(campaign))
    except TraceError as error:
        return f"{error.message}; {error.hint}"


def _has_ended(runs: pl.DataFrame) -> pl.Series:
    """Say of which runs it is known that they have ended: a recording without an end may count all the same."""
    ended = runs["status"] != RunStatus.UNKNOWN.value
    return ended | runs["unclosed"].is_not_null() if "unclosed" in runs.columns else ended


def _statuses(runs: pl.DataFrame) -> dict[str, int]:
    return dict(sorted(runs.filter(_has_ended(runs)).group_by("status").len().iter_rows()))


def _rejected_arms(envelopes: Envelopes) -> list[Document]:
    """Return the arms whose candidates are all rejected."""
    counts = envelopes.runs.group_by("arm").agg(pl.col("captured", "rejected").sum()).sort("arm")
    bad = counts.filter((pl.col("captured") > 0) & (pl.col("captured") == pl.col("rejected")))
    return [{"arm": arm, "candidates": number, "reasons": {}} for arm, number, _ in bad.iter_rows()]


def _improved(envelopes: Envelopes | None) -> set[tuple[RunKey, float]]:
    if envelopes is None:
        return set()
    rows = envelopes.runs.select(*RUN_KEY, "best_raw").drop_nulls("best_raw").iter_rows()
    return {(RunKey(*row[:3]), row[3]) for row in rows}


def opener(references: str | None = None, **choices: Any) -> Callable[[str, Path], Followable]:
    """Return what opens a study or a trace file; the choices are for the latter, see `LiveTraces`."""

    def opened(name: str, path: Path) -> Followable:
        if path.is_file():
            return LiveTraces(path, name=name, references=references, **choices)
        return LiveStudy(path, name=name)

    return opened
