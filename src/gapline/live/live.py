"""A study as it is at this moment: one document, made anew of what changed at each look."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.campaign.assembly import RunTrace
from gapline.campaign.scale import Scale
from gapline.contract.contract import Contract
from gapline.contract.ladders import find_ladders
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.contract.tables import RunKey
from gapline.errors import GaplineError
from gapline.journal.campaign import Tally, campaign_of_journals, trace_of
from gapline.journal.fairness import summarise_fairness
from gapline.journal.plan_coverage import CellState
from gapline.journal.read import Journal
from gapline.journal.verdicts import Verdicts, verdicts_of
from gapline.live.arms import ArmBounds
from gapline.live.bounds import Against, Bounds, bound_runs
from gapline.live.event_log import Happenings, Kind
from gapline.live.follow import Changes, Followed, Follower
from gapline.live.open_runs import View, best_possible, is_certified, open_run, read_views, scale_of
from gapline.live.progress import (
    LEFT,
    Runner,
    RunnerWatch,
    count_stages,
    coverage_states,
    failure_of,
    newest_failures,
    seconds_left,
)
from gapline.live.table import SHARE, Table, find_part_alarms
from gapline.native.kernel_formulas import is_beaten

SCHEMA = "gapline.live/1"
Document = dict[str, Any]


class LiveStudy:
    """A study that is followed: `look` reads what is new and returns the document of this moment."""

    def __init__(self, study: str | Path, *, name: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.path = Path(study)
        self.name = name or self.path.absolute().name
        self._clock = clock
        self.contract: Contract = load_contract(self.path)
        plan = Plan.of(self.contract)
        checked = self.contract.objective.validation == "checker"
        checker = self.contract.objective.checker
        self.follower = Follower(self.path, plan.cells, checked=checked, checker=checker, clock=clock)
        self.table = Table(self.path, self.contract, self.follower.index, clock=clock)
        self.against = Against(self.path, self.contract)
        self.happenings = Happenings()
        self.views: dict[RunKey, View] = {}
        cells = self.table.cells()
        ladders = [list(steps) for steps in find_ladders(cells, self.contract.arms).values()]
        self.arm_bounds = ArmBounds(cells, self.against, ladders)
        self._maximised = frozenset(name for name, sense in self.contract.senses.items() if sense == "max")
        self._runner = RunnerWatch(self.path, clock=clock)
        self._last_runner: Runner | None = None
        self._failures: dict[RunKey, Document] = {}
        self._running_alarms: dict[str, Document] = {}
        self._rung: set[str] = set()
        self._beaten: set[str] = set()
        self._bounds: dict[RunKey, list[Bounds]] = {}
        self._scale: Scale | None = None
        self._counted = _OfTable(None)
        self._fairness: tuple[float, Document] = (-np.inf, {})

    def close(self) -> None:
        """Let go of the files."""
        self.follower.close()

    def pinned_cores(self) -> set[int]:
        """Return the cores of this machine that runs under way are pinned to."""
        here = [one for one in self.follower.running() if one.claimant is not None and one.claimant.is_here]
        orders = [one.growing.journal.order for one in here if one.growing is not None]
        return {core for order in orders if order is not None for core in order.cpus}

    def look(self) -> Document:
        """Read what is new, and return the state of this moment."""
        first = self.follower.first_look
        changes = self.follower.look()
        self._take(changes, first=first)
        self.table.stale |= changes.rewritten or (first and bool(changes.moved))
        running = frozenset(one.directory.name for one in self.follower.running())
        in_progress = bool(running or self.follower.count(*LEFT))
        if self.table.is_due or (self.table.is_unjudged and not in_progress):
            self.table.read_all(running, in_progress=in_progress)
            # These runs are in the table already, or out of it.
            self._take(Changes(self.follower.use_judge(self.table.judge)), first=True)
        if self.table.study is not None:
            self.arm_bounds.describe(self.table.study.tier_two)
            if self.against.use(self.table.study.snapshot):
                for view in self.views.values():
                    view.gaps = None
        self._view([one for one in changes.grown if one.stage is CellState.RUNNING])
        self._bound()
        return self._document()

    def _take(self, changes: Changes, *, first: bool) -> None:
        """Take note of cells that moved on, and let whole runs join the table."""
        traces: list[RunTrace] = []
        for one, before in changes.moved:
            if one.stage is not CellState.RUNNING:
                self.views.pop(one.key, None)
                self._bounds.pop(one.key, None)
            self._failures.pop(one.key, None)
            if one.stage is CellState.DONE and (failure := failure_of(one)) is not None:
                self._failures[one.key] = failure
            if first:
                continue
            self._tell(one, before)
            if one.stage is CellState.DONE:
                trace = self._trace(one)
                if trace is None:
                    self.table.stale = True
                else:
                    traces.append(trace)
        self.table.join(traces)

    def _tell(self, one: Followed, before: CellState) -> None:
        say = self.happenings.add
        if one.stage is CellState.RUNNING:
            say(Kind.BEGAN, f"attempt {len(one.seen) + 1}", one.key)
        elif one.stage is CellState.DONE:
            outcome = one.record.counting
            failed = failure_of(one)
            if failed is not None:
                last = f": {failed['stderr'][-1]}" if failed["stderr"] else ""
                say(Kind.FAILED, f"{failed['status']} ({failed['cause']}){last}", one.key)
            elif outcome is not None and outcome.ending is not None:
                say(Kind.ENDED, f"{outcome.status.value} after {outcome.ending.elapsed:.2f} s", one.key)
        elif one.stage in (CellState.INTERRUPTED, CellState.QUARANTINED):
            problems = [text for seen in one.seen[-1:] for text in seen.outcome.problems()]
            say(Kind.INTERRUPTED, problems[0] if problems else one.stage.value, one.key)
        elif before is CellState.RUNNING:
            say(Kind.ENDED, "whole; its candidates wait for a verdict", one.key)

    def _trace(self, one: Followed) -> RunTrace | None:
        """Return the run of a cell that is whole; None where only reading everything tells."""
        study, counting = self.table.study, one.counting
        if study is None or counting is None or not isinstance(counting.outcome, Journal):
            return None
        label = study.campaign.facts.get("checker")
        verdicts = verdicts_of(counting.verdicts, lambda head: head.label == label)
        if counting.outcome.asked and self.follower.checked and not isinstance(verdicts, Verdicts):
            return None
        found = verdicts if isinstance(verdicts, Verdicts) else None
        maximised = one.cell.instance.name in self._maximised
        return trace_of(counting.outcome, found, attempts=len(one.seen), asked=False, maximised=maximised)

    def _view(self, grown: list[Followed]) -> None:
        """Read the traces of the runs that went on."""
        ready = [one for one in grown if one.growing is not None and one.growing.journal.order is not None]
        if not ready:
            return
        views, campaign, envelopes = read_views(ready, self.contract, self._maximised, self.views)
        for view in views:
            known = self.views.get(view.key)
            self.views[view.key] = view
            if len(view.raw) and (known is None or len(known.raw) != len(view.raw)):
                self.happenings.add(Kind.INCUMBENT, f"{view.raw[-1]:.12g} at {view.time[-1]:.2f} s", view.key)
            if view.captured and view.rejected == view.captured and not (known and known.rejected):
                why = ", ".join(view.reasons) or "rejected"
                which = "its only candidate" if view.captured == 1 else f"all {view.captured} candidates"
                self.happenings.add(Kind.REJECTED, f"{which} so far: {why}", view.key)
        study = self.table.study
        if study is None or campaign is None or envelopes is None:
            return
        try:
            alarms = find_part_alarms(study, replace(study, campaign=campaign, envelopes=envelopes))
        except GaplineError:
            return
        for alarm in alarms:
            if alarm not in self.table.alarms:
                checked = not self.follower.checked
                self._running_alarms.setdefault(str(alarm), alarm.document() | {"checked": checked})

    def _bound(self) -> None:
        """Say between which values the scores of the runs under way lie."""
        self._bounds.clear()
        if self.against.weight is None or not self.against.kernels or self.against.scaled_time:
            return
        now, runs, keys = self._clock(), [], []
        for key, view in self.views.items():
            reference = self._reference(key.instance)
            if reference is None or view.problem is not None or view.followed.growing is None:
                continue
            assert self.against.snapshot is not None
            keys.append(key)
            runs.append(
                open_run(
                    view,
                    known=view.followed.known_until(now),
                    reference=reference,
                    certified=is_certified(self.against.snapshot, key.instance),
                    bounds=self.table.bounds,
                    tolerance=self.against.tolerance,
                )
            )
        found = bound_runs(runs, kernels=self.against.kernels, weight=self.against.weight)
        self._bounds.update(zip(keys, found, strict=True))

    def _reference(self, instance: str) -> float | None:
        return self.against.reference(instance, self.scale)

    @property
    def scale(self) -> Scale:
        """The scale that the contract declares for its instances."""
        if self.table.study is not None:
            return self.table.study.envelopes.scale
        if self._scale is None:
            nothing = campaign_of_journals([], Tally(), source="", problems=[], notes=[])
            self._scale = scale_of(nothing, self.contract)
        return self._scale

    def _document(self) -> Document:
        stages = count_stages(self.follower)
        left = sum(stages[stage] for stage in LEFT)
        runner = self._runner.look(self.follower)
        if self._last_runner is not None and runner.words != self._last_runner.words:
            self.happenings.add(Kind.RUNNER, runner.words)
        self._last_runner = runner
        elapsed = {view.followed: self._elapsed(view.followed) for view in self.views.values()}
        work, about = seconds_left(self.follower, elapsed)
        table = self.table.document(coverage_states(stages))
        beaten = self._beaten_references()
        self._ring(beaten)
        self._measure_gaps()
        return {
            **table,
            "schema": SCHEMA,
            "study": {"id": self.name, "name": self.contract.study.name, "title": self.contract.study.title},
            "phase": runner.phase.value,
            "runner": runner.document(),
            "progress": {
                "planned": len(self.follower.cells),
                **{stage.value: stages[stage] for stage in CellState if stage is not CellState.NOISY},
                "failed": len(self._failures),
                "left": left,
                "statuses": self._of_table().statuses,
                "seconds_left": round(work, 1),
                "time_left": round(about, 1) if runner.phase == "running" else None,
            },
            "current": not self.table.stale,
            "bounds": self.arm_bounds.document(self.table, self._bounds, self._best_known),
            "ranking": self.arm_bounds.ranking(self.table.scores),
            "running": {str(key): self._run_document(view) for key, view in self.views.items()},
            "events": self.happenings.documents(),
            "failures": newest_failures(list(self._failures.values())),
            "fairness": self._fairness_document(),
            "rejected_arms": self._rejected_arms(),
            "beaten": beaten,
            "alarms": [alarm.document() for alarm in self.table.alarms],
            "running_alarms": list(self._running_alarms.values()),
        }

    def _measure_gaps(self) -> None:
        """Take the gaps of the incumbents that are new, all at once."""
        new = [
            (view, reference)
            for key, view in self.views.items()
            if view.gaps is None and len(view.objective) and (reference := self._reference(key.instance)) is not None
        ]
        if not new:
            return
        objectives, references = np.array([(view.objective[-1], reference) for view, reference in new]).T
        found = {kernel.name: kernel(objectives, references).tolist() for kernel in self.against.kernels}
        for place, (view, _) in enumerate(new):
            view.gaps = {name: gaps[place] for name, gaps in found.items()}

    def _elapsed(self, one: Followed) -> float:
        """Return how long a run has been under way, as far as the clock of its machine and ours agree."""
        stamp = 0.0 if one.growing is None else one.growing.stamp
        return stamp if one.ordered is None else max(stamp, time.time() - one.ordered)

    def _best_known(self, instance: str) -> tuple[float | None, float | None]:
        """Return the reference of an instance, and the best value that is possible."""
        reference, snapshot = self._reference(instance), self.against.snapshot
        if reference is None or snapshot is None:
            return None, None
        certified = is_certified(snapshot, instance)
        best = best_possible(
            instance, reference, certified=certified, bounds=self.table.bounds, tolerance=self.against.tolerance
        )
        return reference, best

    def _run_document(self, view: View) -> Document:
        one, key = view.followed, view.key
        reference, best = self._best_known(key.instance)
        bounds = self._bounds.get(key)
        names = [kernel.name for kernel in self.against.kernels]
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
            "trace": view.trace_document(),
            "incumbent": float(view.raw[-1]) if len(view.raw) else None,
            "reference": reference,
            "best_possible": best,
            "gap": view.gaps,
            "scores": None if bounds is None else {name: one.so_far for name, one in zip(names, bounds, strict=True)},
            "bounds": None if bounds is None else {n: one.document() for n, one in zip(names, bounds, strict=True)},
        }

    def _fairness_document(self) -> Document:
        due, known = self._fairness
        if self.table.scores is None or (known.get("runs") == self.table.scores.frame.height) or self._clock() < due:
            return known
        began = self._clock()
        found = summarise_fairness(self.table.scores.frame.iter_rows(named=True)).document()
        took = self._clock() - began
        self._fairness = (self._clock() + took * (1 / SHARE - 1), found)
        return found

    def _of_table(self) -> "_OfTable":
        frame = None if self.table.scores is None else self.table.scores.frame
        if self._counted.frame is not frame:
            self._counted = _OfTable.of(frame)
        return self._counted

    def _rejected_arms(self) -> list[Document]:
        """Return the arms that have candidates of which none is valid, at the first sign."""
        captured, rejected = dict(self._of_table().captured), dict(self._of_table().rejected)
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
        """Return the best run below each reference that was beaten by more than the tolerance."""
        found = dict(self._of_table().beaten)
        for key, view in self.views.items():
            reference = self._reference(key.instance)
            best = float(view.objective[-1]) if len(view.objective) else np.inf
            if reference is None or not is_beaten(best, reference, self.against.tolerance):
                continue
            if key.instance not in found or best < found[key.instance]["best"]:
                found[key.instance] = {
                    "instance": key.instance, "reference": reference, "best": best, "value": float(view.raw[-1]),
                    "run": str(key), "running": True, "checked": False,
                }  # fmt: skip
        return [found[name] for name in sorted(found)]

    def _ring(self, beaten: list[Document]) -> None:
        """Let alarms and beaten references be events, each once."""
        for alarm in (*map(str, self.table.alarms), *self._running_alarms):
            if alarm not in self._rung:
                self._rung.add(alarm)
                self.happenings.add(Kind.ALARM, alarm)
        for one in beaten:
            if one["instance"] not in self._beaten:
                self._beaten.add(one["instance"])
                self.happenings.add(Kind.BEATEN, f"{one['value']:.12g} by {one['run']}, below {one['reference']:.12g}")


@dataclass(frozen=True, slots=True)
class _OfTable:
    """What is counted over all whole runs, made anew when there are others."""

    frame: pl.DataFrame | None
    statuses: dict[str, int] = field(default_factory=dict)
    captured: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    beaten: dict[str, Document] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: pl.DataFrame | None) -> "_OfTable":
        if frame is None:
            return cls(None)
        arms = frame.group_by("arm").agg(pl.col("captured", "rejected").sum()).sort("arm")
        below = frame.filter("beaten").sort("best", "best_time", "arm", "seed")
        beaten = {}
        for row in below.unique("instance", keep="first", maintain_order=True).iter_rows(named=True):
            run = str(RunKey(row["arm"], row["instance"], row["seed"]))
            beaten[row["instance"]] = {
                "instance": row["instance"], "reference": row["reference"], "best": row["best"],
                "value": row["best_raw"], "run": run, "running": False, "checked": row["validation"] == "checker",
            }  # fmt: skip
        return cls(
            frame,
            dict(sorted(frame.group_by("status").len().iter_rows())),
            dict(arms.select("arm", "captured").iter_rows()),
            dict(arms.select("arm", "rejected").iter_rows()),
            beaten,
        )
