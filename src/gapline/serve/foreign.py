"""A trace file (CSV or JSONL) that somebody else's solver is still writing, followed like a study.

Whole lines are copied to a scratch file as they come, from where the last look stopped; what stands behind the last
line end is not yet whole. What was copied is read as `gapline score` reads it, no more often than a small share of the
time allows. No file says that a run has ended unless it has a `status`: the others are open up to their horizon, and
their table is that of runs that hold their incumbents.
"""

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.capture.read import read
from gapline.errors import GaplineError
from gapline.model.regular import open_regular
from gapline.model.tables import RUN_KEY, RunKey, RunStatus
from gapline.reference.contradictions import dual_bounds
from gapline.report.documents import score_document
from gapline.scoring.scores import Scores
from gapline.serve.arms import ArmBounds
from gapline.serve.bounds import Bounds, OpenRun, bound_runs
from gapline.serve.happenings import Happenings, Kind
from gapline.serve.hub import Followable
from gapline.serve.live import SCHEMA, Document, LiveStudy
from gapline.serve.open_runs import best_possible, is_certified, thinned
from gapline.serve.scale import Against
from gapline.serve.table import ALLOWANCE, SHARE
from gapline.study import Study, open_study

BLOCK = 1 << 20
# A file that did not grow for so long is said not to.
QUIET = 60.0


@dataclass
class _Closed:
    """The runs of a file that say that they have ended."""

    fulls: int = 0
    bounds: dict[str, float] = field(default_factory=dict)
    scores: Scores | None = None


class LiveTraces:
    """A trace file that is followed; `place` is up to where it was read."""

    def __init__(
        self,
        path: Path,
        *,
        name: str = "",
        references: str | None = None,
        horizon: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self.name = name or path.name
        self._choices: dict[str, Any] = {"references": references, "horizon": horizon}
        self._clock = clock
        self._folder = tempfile.TemporaryDirectory(prefix="gapline-follow-")
        self._copy = Path(self._folder.name) / path.name
        self.place = 0
        self._file: tuple[int, int] | None = None
        self._grown = clock()
        self._since, self._spent, self.reads = clock(), 0.0, 0
        self._stale = True
        self.study: Study | None = None
        self._refused: dict[str, Any] | None = None
        self._closed = _Closed()
        self.happenings = Happenings()

    def close(self) -> None:
        """Remove the scratch file."""
        self._folder.cleanup()

    def look(self) -> Document:
        """Read what is new, and return the state of this moment."""
        if self._take():
            self._grown, self._stale = self._clock(), True
        allowed = ALLOWANCE + SHARE * (self._clock() - self._since)
        if self._stale and (not self.reads or self._spent <= allowed):
            self._read()
        return self._document()

    def _take(self) -> bool:
        """Copy the whole lines that were added; return whether there were any."""
        with open_regular(self.path) as stream:
            facts = os.fstat(stream.fileno())
            file = (facts.st_dev, facts.st_ino)
            if self._file not in (None, file) or facts.st_size < self.place:
                self.place = 0
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
        known = set() if self.study is None else _improved(self.study)
        try:
            self.study = open_study(str(self.path), campaign=read(self._copy), **self._choices)
            self._refused = None
            for key, best in sorted(_improved(self.study) - known)[:20]:
                self.happenings.add(Kind.INCUMBENT, f"{best:.12g}", key)
            self._close_runs(self.study)
        except GaplineError as error:
            self._refused = {"message": error.message.replace(str(self._copy), str(self.path)), "hint": error.hint}
        self._stale = False
        self._spent += (self._clock() - began) if self.reads else 0.0
        self.reads += 1

    def _close_runs(self, study: Study) -> None:
        scores = study.scores[0]
        ended = scores.frame.filter(pl.col("status") != RunStatus.UNKNOWN.value)
        bounds = dual_bounds(study.campaign, study.envelopes.scale)
        self._closed = _Closed(self._closed.fulls + 1, bounds, replace(scores, frame=ended))

    def _document(self) -> Document:
        study = self.study
        running, bounds, arms = ({}, {}, []) if study is None else self._open(study)
        quiet = self._clock() - self._grown
        ended = 0 if self._closed.scores is None else self._closed.scores.frame.height
        table: Document = {"arms": [], "refused": self._refused}
        if study is not None:
            table = score_document(study.scores[0], study.summary, per_run=False) | {"refused": self._refused}
        still = "the file grows" if quiet < QUIET else f"the file has not grown for {quiet / 60:.0f} min"
        words = "every run says that it has ended" if study is not None and not running else still
        runs = 0 if study is None else len(study.envelopes)
        return {
            **table,
            "schema": SCHEMA,
            "study": {"id": self.name, "name": self.path.name, "title": ""},
            "phase": "not begun" if study is None else "running" if running else "finished",
            "runner": {"alive": None, "words": words, "resume": None},
            "progress": {
                "planned": runs, "done": ended, "running": len(running), "interrupted": 0, "quarantined": 0,
                "unchecked": 0, "missing": 0, "failed": 0, "left": 0, "statuses": {}, "seconds_left": None,
                "time_left": None,
            },
            "current": not self._stale,
            "bounds": bounds,
            "running": running,
            "events": self.happenings.documents(),
            "failures": [],
            "fairness": {},
            "rejected_arms": arms,
            "beaten": [],
            "alarms": [] if study is None else [alarm.document() for alarm in study.alarms],
            "running_alarms": [],
        }  # fmt: skip

    def _open(self, study: Study) -> tuple[Document, Document, list[Document]]:
        """Return the runs that may go on, the bounds of arms, and arms whose candidates are all rejected."""
        against = Against(weighting=study.weighting, tolerance=study.tolerance, tier_two=study.tier_two)
        against.choose(study.kernels, study.weight)
        against.use(study.snapshot)
        scale, runs, keys, rows = study.envelopes.scale, [], [], []
        for place, row in enumerate(study.envelopes.runs.iter_rows(named=True)):
            key = RunKey(row["arm"], row["instance"], row["seed"])
            reference = against.reference(key.instance, scale)
            if row["status"] != RunStatus.UNKNOWN.value or reference is None:
                continue
            steps, objectives = study.envelopes.steps(place)
            first = study.campaign.runs["first"][place]
            stamps = study.campaign.time[first : first + study.campaign.runs["count"][place]]
            known = float(np.nanmax(stamps, initial=0.0)) if len(stamps) else 0.0
            best = best_possible(
                key.instance,
                reference,
                certified=is_certified(study.snapshot, key.instance),
                bounds=self._closed.bounds,
                tolerance=study.tolerance,
            )
            if best is not None and len(objectives):
                best = min(best, float(objectives[-1]))
            keys.append(key)
            rows.append(row)
            runs.append(OpenRun(steps, objectives, min(known, row["horizon"]), row["horizon"], reference, best))
        assert against.weight is not None
        found = bound_runs(runs, kernels=against.kernels, weight=against.weight)
        names = [kernel.name for kernel in against.kernels]
        running = {
            str(key): _run_document(key, row, run, dict(zip(names, bounds, strict=True)))
            for key, row, run, bounds in zip(keys, rows, runs, found, strict=True)
        }
        cells = study.envelopes.runs.select("arm", "panel", "instance", "seed")

        def best_known(instance: str) -> tuple[float | None, float | None]:
            return against.reference(instance, scale), self._closed.bounds.get(instance)

        arms = ArmBounds(cells, against).document(self._closed, dict(zip(keys, found, strict=True)), best_known)
        counts = study.envelopes.runs.group_by("arm").agg(pl.col("captured", "rejected").sum()).sort("arm")
        bad = counts.filter((pl.col("captured") > 0) & (pl.col("captured") == pl.col("rejected")))
        rejected = [{"arm": arm, "candidates": number, "reasons": {}} for arm, number, _ in bad.iter_rows()]
        return running, arms, rejected


def _run_document(key: RunKey, row: dict[str, Any], run: OpenRun, bounds: dict[str, Bounds]) -> Document:
    return {
        **key._asdict(),
        "panel": row["panel"], "attempt": None, "host": None, "horizon": run.horizon, "elapsed": run.known,
        "known": run.known, "captured": row["captured"], "rejected": row["rejected"], "late": row["late"],
        "reasons": {}, "checked": True, "problem": None,
        "trace": {"time": thinned(run.time), "objective": thinned(run.objective)},
        "incumbent": row["best_raw"], "reference": run.reference, "best_possible": run.best, "gap": None,
        "scores": {name: one.so_far for name, one in bounds.items()},
        "bounds": {name: one.document() for name, one in bounds.items()},
    }  # fmt: skip


def _improved(study: Study) -> set[tuple[RunKey, float]]:
    rows = study.envelopes.runs.select(*RUN_KEY, "best_raw").drop_nulls("best_raw").iter_rows()
    return {(RunKey(*row[:3]), row[3]) for row in rows}


def opener(references: str | None, horizon: float | None) -> Callable[[str, Path], Followable]:
    """Return what opens a study or a trace file; the choices are for the latter."""

    def opened(name: str, path: Path) -> Followable:
        if path.is_file():
            return LiveTraces(path, name=name, references=references, horizon=horizon)
        return LiveStudy(path, name=name)

    return opened
