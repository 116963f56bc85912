"""The current state of a study as one document, updated at each look from what changed."""

import secrets
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gapline.campaign.assembly import RunTrace
from gapline.campaign.scale import Scale
from gapline.contract.contract import Contract
from gapline.contract.ladders import find_ladders
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.contract.tables import RunKey
from gapline.errors import GaplineError
from gapline.journal.campaign import campaign_of_journals, trace_of
from gapline.journal.fairness import summarise_fairness
from gapline.journal.plan_coverage import CellState, planned_cells
from gapline.journal.read import Journal
from gapline.journal.verdicts import Verdicts, verdicts_of
from gapline.live.arms import ArmBounds
from gapline.live.bounds import LiveReading, ScoreBounds, bound_runs
from gapline.live.journal_follower import CellProgress, Changes, Follower
from gapline.live.open_runs import RunView, best_possible, is_certified, open_run, read_views, scale_of
from gapline.live.progress import EventLog, RunnerWatch, coverage_states, failure_of, newest_failures, seconds_left
from gapline.live.table import SHARE, LiveScores, find_part_alarms
from gapline.live.time_share import TimeShare
from gapline.native.kernel_formulas import is_beaten

SCHEMA = "gapline.live/1"
Document = dict[str, Any]


class LiveStudy:
    """A study that is followed: `look` reads what is new and returns the current document."""

    def __init__(self, study: str | Path, *, name: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.path = Path(study)
        self.name = name or self.path.absolute().name
        self._clock = clock
        self.contract: Contract = load_contract(self.path)
        plan = Plan.of(self.contract)
        checked = self.contract.objective.validation == "checker"
        checker = self.contract.objective.checker
        self.follower = Follower(self.path, plan.cells, checked=checked, checker=checker, clock=clock)
        self.table = LiveScores(self.path, self.contract, self.follower.index, clock=clock)
        self.reading = LiveReading(self.path, self.contract)
        self.views: dict[RunKey, RunView] = {}
        cells = planned_cells(campaign_of_journals([]), self.contract, {})
        ladders = [list(steps) for steps in find_ladders(cells, self.contract.arms).values()]
        self.arm_bounds = ArmBounds(cells, self.reading, ladders)
        self._maximised = frozenset(name for name, sense in self.contract.senses.items() if sense == "max")
        self._runner = RunnerWatch(self.path, clock=clock)
        self._runner_words: str | None = None
        self._events = EventLog()
        self._failures: dict[RunKey, Document] = {}
        self._running_alarms: dict[str, Document] = {}
        self._rung: set[str] = set()
        self._opened = secrets.token_hex(4)
        self._fairness: Document = {}
        self._fairness_time = TimeShare(SHARE, clock=clock)

    def close(self) -> None:
        """Close the files."""
        self.follower.close()

    @property
    def mark(self) -> str:
        """Identifies the set of whole runs; the prefix changes when a study is reopened and counts from the start."""
        return f"{self._opened}-{self.table.fulls}-{self.table.joined}"

    def pinned_cores(self) -> set[int]:
        """Return the cores of this machine that runs under way are pinned to."""
        here = [one for one in self.follower.running() if one.claimant is not None and one.claimant.is_local]
        orders = [one.growing.journal.order for one in here if one.growing is not None]
        return {core for order in orders if order is not None for core in order.cpus}

    def look(self) -> Document:
        """Read what is new, and return the current state."""
        first = self.follower.first_look
        changes = self.follower.look()
        self._take(changes, first=first)
        self.table.stale |= changes.rewritten or (first and bool(changes.moved))
        running = frozenset(one.directory.name for one in self.follower.running())
        in_progress = bool(running or self.follower.left)
        if self.table.is_due or (self.table.is_unjudged and not in_progress):
            self.table.read_all(running, in_progress=in_progress)
            # The table already includes or excludes these runs.
            self._take(Changes(self.follower.use_judge(self.table.judge)), first=True)
        if self.table.study is not None:
            self.arm_bounds.describe(self.table.study.tier_two)
            self.reading.use(self.table.study.snapshot)
        self._view([one for one in changes.grown if one.stage is CellState.RUNNING])
        return self._document()

    def _take(self, changes: Changes, *, first: bool) -> None:
        """Record cells that changed state, and add whole runs to the table."""
        traces: list[RunTrace] = []
        for one, before in changes.moved:
            if one.stage is not CellState.RUNNING:
                self.views.pop(one.key, None)
            self._failures.pop(one.key, None)
            failure = failure_of(one) if one.stage is CellState.DONE else None
            if failure is not None:
                self._failures[one.key] = failure
            if first:
                continue
            self._note_move(one, before, failure)
            if one.stage is CellState.DONE:
                trace = self._trace(one)
                if trace is None:
                    self.table.stale = True
                else:
                    traces.append(trace)
        self.table.join(traces)

    def _note_move(self, one: CellProgress, before: CellState, failure: Document | None) -> None:
        add = self._events.add
        if one.stage is CellState.RUNNING:
            add("began", f"attempt {len(one.seen) + 1}", one.key)
        elif failure is not None:
            last = f": {failure['stderr'][-1]}" if failure["stderr"] else ""
            add("failed", f"{failure['status']} ({failure['cause']}){last}", one.key)
        elif one.stage is CellState.DONE:
            outcome = one.record.counting
            if outcome is not None and outcome.ending is not None:
                add("ended", f"{outcome.status.value} after {outcome.ending.elapsed:.2f} s", one.key)
        elif one.stage in (CellState.INTERRUPTED, CellState.QUARANTINED):
            problems = [text for seen in one.seen[-1:] for text in seen.outcome.problems()]
            add("interrupted", problems[0] if problems else one.stage.value, one.key)
        elif before is CellState.RUNNING:
            add("ended", "whole; its candidates wait for a verdict", one.key)

    def _trace(self, one: CellProgress) -> RunTrace | None:
        """Return the run of a whole cell; None if that needs reading everything."""
        study, counting = self.table.study, one.counting
        if study is None or counting is None or not isinstance(counting.outcome, Journal):
            return None
        label = study.campaign.facts.get("checker")
        verdicts = verdicts_of(counting.verdicts, lambda head: head.label == label)
        found = verdicts if isinstance(verdicts, Verdicts) else None
        if counting.outcome.asked and self.follower.checked and found is None:
            return None
        maximised = one.cell.instance.name in self._maximised
        return trace_of(counting.outcome, found, attempts=len(one.seen), asked=False, maximised=maximised)

    def _view(self, grown: list[CellProgress]) -> None:
        """Read the traces of the runs that progressed."""
        ready = [one for one in grown if one.growing is not None and one.growing.journal.order is not None]
        if not ready:
            return
        views, campaign, envelopes = read_views(ready, self.contract, self._maximised)
        for view in views:
            known = self.views.get(view.key)
            self.views[view.key] = view
            if len(view.raw) and (known is None or len(known.raw) != len(view.raw)):
                self._events.add("incumbent", f"{view.raw[-1]:.12g} at {view.time[-1]:.2f} s", view.key)
            if view.captured and view.rejected == view.captured and not (known and known.rejected):
                why = ", ".join(view.reasons) or "rejected"
                which = "its only candidate" if view.captured == 1 else f"all {view.captured} candidates"
                self._events.add("rejected", f"{which} so far: {why}", view.key)
        study = self.table.study
        if study is None or campaign is None or envelopes is None:
            return
        try:
            alarms = find_part_alarms(study, campaign, envelopes)
        except GaplineError:
            return
        for alarm in alarms:
            if alarm not in self.table.alarms:
                checked = not self.follower.checked
                self._running_alarms.setdefault(str(alarm), alarm.document() | {"checked": checked})

    def _bounds(self) -> dict[RunKey, list[ScoreBounds]]:
        """Return the bounds on the scores of the runs under way."""
        snapshot, weight, kernels = self.reading.snapshot, self.reading.weight, self.reading.kernels
        if snapshot is None or weight is None or not kernels or self.reading.scaled_time:
            return {}
        now, runs = self._clock(), {}
        for key, view in self.views.items():
            reference, best = self._best_known(key.instance)
            if reference is not None and view.problem is None and view.followed.growing is not None:
                known, certified = view.followed.known_until(now), is_certified(snapshot, key.instance)
                runs[key] = open_run(view, known=known, reference=reference, best=best, certified=certified)
        found = bound_runs(list(runs.values()), kernels=kernels, weight=weight)
        return dict(zip(runs, found, strict=True))

    @cached_property
    def _stated_scale(self) -> Scale:
        return scale_of(campaign_of_journals([]), self.contract)

    @property
    def scale(self) -> Scale:
        """The scale that the contract declares for its instances."""
        return self._stated_scale if self.table.study is None else self.table.study.envelopes.scale

    def _reference(self, instance: str) -> float | None:
        return self.reading.reference(instance, self.scale)

    def _best_known(self, instance: str) -> tuple[float | None, float | None]:
        """Return the reference of an instance, and its best possible value."""
        reference, snapshot = self._reference(instance), self.reading.snapshot
        if reference is None or snapshot is None:
            return None, None
        certified = is_certified(snapshot, instance)
        best = best_possible(
            instance, reference, certified=certified, bounds=self.table.bounds, tolerance=self.reading.tolerance
        )
        return reference, best

    def _document(self) -> Document:
        stages = self.follower.stages
        runner = self._runner.look(self.follower)
        if self._runner_words not in (None, runner.words):
            self._events.add("runner", runner.words)
        self._runner_words = runner.words
        elapsed = {view.followed: self._elapsed(view.followed) for view in self.views.values()}
        work, about = seconds_left(self.follower, elapsed)
        beaten = self._beaten_references()
        self._ring(beaten)
        bounds, gaps = self._bounds(), self._gaps()
        return {
            **self.table.document(coverage_states(stages)),
            "schema": SCHEMA,
            "study": {"id": self.name, "name": self.contract.study.name, "title": self.contract.study.title},
            "phase": runner.phase.value,
            "runner": runner.document(),
            "progress": {
                "planned": len(self.follower.cells),
                **{stage.value: stages[stage] for stage in CellState if stage is not CellState.NOISY},
                "failed": len(self._failures),
                "left": self.follower.left,
                "statuses": self.table.counts.statuses,
                "seconds_left": round(work, 1),
                "time_left": round(about, 1) if runner.phase == "running" else None,
            },
            "current": not self.table.stale,
            "bounds": self.arm_bounds.document(self.table, bounds, self._best_known),
            "ranking": self.arm_bounds.ranking(self.table),
            "running": {
                str(key): self._run_document(view, bounds.get(key), gaps.get(key)) for key, view in self.views.items()
            },
            "events": self._events.documents(),
            "failures": newest_failures(list(self._failures.values())),
            "fairness": self._fairness_document(),
            "rejected_arms": self._rejected_arms(),
            "beaten": beaten,
            "alarms": [alarm.document() for alarm in self.table.alarms],
            "running_alarms": list(self._running_alarms.values()),
        }

    def _gaps(self) -> dict[RunKey, dict[str, float]]:
        """Return the gaps of the incumbents, computed in one call per kernel."""
        known = {
            key: (view.objective[-1], reference)
            for key, view in self.views.items()
            if len(view.objective) and (reference := self._reference(key.instance)) is not None
        }
        objectives, references = np.array(list(known.values())).reshape(-1, 2).T
        gaps = {kernel.name: kernel(objectives, references).tolist() for kernel in self.reading.kernels if known}
        return {key: {name: column[place] for name, column in gaps.items()} for place, key in enumerate(known)}

    def _elapsed(self, one: CellProgress) -> float:
        """Return how long a run has been under way, assuming that the clocks of its machine and ours agree."""
        stamp = 0.0 if one.growing is None else one.growing.stamp
        return stamp if one.ordered is None else max(stamp, time.time() - one.ordered)

    def _run_document(self, view: RunView, bounds: list[ScoreBounds] | None, gaps: dict[str, float] | None) -> Document:
        one, key = view.followed, view.key
        reference, best = self._best_known(key.instance)
        each = None if bounds is None else dict(zip((k.name for k in self.reading.kernels), bounds, strict=True))
        return {
            **key._asdict(),
            "panel": one.cell.instance.panel,
            "attempt": one.growing.journal.order.attempt if one.growing and one.growing.journal.order else None,
            "host": None if one.claimant is None else one.claimant.host,
            "horizon": one.cell.horizon,
            "elapsed": round(self._elapsed(one), 1),
            "known": round(one.known_until(self._clock()), 3) if one.growing is not None else None,
            "captured": view.captured,
            "rejected": view.rejected,
            "late": view.late,
            "reasons": dict(view.reasons),
            "checked": view.checked,
            "problem": view.problem,
            "trace": view.trace,
            "incumbent": float(view.raw[-1]) if len(view.raw) else None,
            "reference": reference,
            "best_possible": best,
            "gap": gaps,
            "scores": None if each is None else {name: one.so_far for name, one in each.items()},
            "bounds": None if each is None else {name: one.document() for name, one in each.items()},
        }

    def _fairness_document(self) -> Document:
        scores = self.table.scores
        if scores is not None and self._fairness.get("runs") != scores.frame.height and not self._fairness_time.wait():
            with self._fairness_time.spent():
                self._fairness = summarise_fairness(scores.frame.iter_rows(named=True)).document()
        return self._fairness

    def _rejected_arms(self) -> list[Document]:
        """Return the arms whose candidates were all rejected so far."""
        captured, rejected = dict(self.table.counts.captured), dict(self.table.counts.rejected)
        reasons: dict[str, dict[str, int]] = {}
        for key, view in self.views.items():
            captured[key.arm] = captured.get(key.arm, 0) + view.captured
            rejected[key.arm] = rejected.get(key.arm, 0) + view.rejected
            for reason, number in view.reasons.items():
                mine = reasons.setdefault(key.arm, {})
                mine[reason] = mine.get(reason, 0) + number
        return [
            {"arm": arm, "candidates": captured[arm], "reasons": reasons.get(arm, {})}
            for arm in sorted(captured)
            if captured[arm] and captured[arm] == rejected[arm]
        ]

    def _beaten_references(self) -> list[Document]:
        """Return the best run for each reference that was beaten by more than the tolerance."""
        found = dict(self.table.counts.beaten)
        for key, view in self.views.items():
            reference = self._reference(key.instance)
            best = float(view.objective[-1]) if len(view.objective) else np.inf
            if reference is None or not is_beaten(best, reference, self.reading.tolerance):
                continue
            if key.instance not in found or best < found[key.instance]["best"]:
                found[key.instance] = {
                    "instance": key.instance, "reference": reference, "best": best, "value": float(view.raw[-1]),
                    "run": str(key), "running": True, "checked": False,
                }  # fmt: skip
        return [found[name] for name in sorted(found)]

    def _ring(self, beaten: list[Document]) -> None:
        """Add an event for each new alarm and beaten reference."""
        for alarm in (*map(str, self.table.alarms), *self._running_alarms):
            if f"alarm {alarm}" not in self._rung:
                self._rung.add(f"alarm {alarm}")
                self._events.add("alarm", alarm)
        for one in beaten:
            if f"beaten {one['instance']}" not in self._rung:
                self._rung.add(f"beaten {one['instance']}")
                self._events.add("beaten", f"{one['value']:.12g} by {one['run']}, below {one['reference']:.12g}")
