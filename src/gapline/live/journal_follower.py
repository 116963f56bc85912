"""Follow growing journals: read what changed since the last look, at a cost that depends on the change only."""

import contextlib
import os
import time
import weakref
from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gapline.contract.layout import BUILT, JOURNALS
from gapline.contract.plan import Cell
from gapline.contract.tables import RunKey
from gapline.files.open_file import open_regular, reason_of
from gapline.journal.attempts import CellRecord, attempts_of
from gapline.journal.checker_choice import choose_judge, study_judge
from gapline.journal.claims import (
    Claimant,
    Inode,
    claim_inode,
    claimed_run,
    is_cell_running,
    locked_inodes,
    read_claimant,
)
from gapline.journal.index import Index, Seen
from gapline.journal.line import EVENTS_FILE, ORDER_FILE
from gapline.journal.plan_coverage import CellState, cell_state, waits_for_verdict
from gapline.journal.read import Journal, Outcome, read_journal, read_lines
from gapline.journal.verdicts import Judge


class GrowingJournal:
    """The journal of an attempt as far as it was read: `journal` equals the result of `read_journal` on these bytes.

    `place` is the offset at which the next look begins, `stamp` the time of the last event, 0 before the first;
    `starts` counts how often reading began from the start. `forgotten` counts how many of the events that are no longer
    in it were captured, rejected, late and unchecked, and `reasons` why they were rejected.
    """

    def __init__(self, attempt: Path) -> None:
        self.attempt = attempt
        self.path = attempt / EVENTS_FILE
        self.starts = 0
        self._begin()

    def _begin(self) -> None:
        self.journal = Journal(self.path)
        self.place = self.lines = 0
        self.starts += 1
        self.stamp = 0.0
        self.forgotten: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self._file: tuple[int, int] | None = None

    def look(self) -> bool:
        """Read the whole lines that were added; return whether there were any, or reading began from the start."""
        before, starts = self.lines, self.starts
        try:
            facts = self.path.stat()
            same = self._file == (facts.st_dev, facts.st_ino)
            # Most looks end here.
            if same and facts.st_size == self.place + self.journal.torn:
                return False
            with open_regular(self.path) as stream:
                facts = os.fstat(stream.fileno())
                file = (facts.st_dev, facts.st_ino)
                if self._file not in (None, file) or facts.st_size < self.place:
                    self._begin()
                self._file = file
                stream.seek(self.place)
                self.lines, self.place = read_lines(self.journal, stream, self.lines, self.place)
            self.stamp = max([self.stamp, *self.journal.events.column("time")[-1:]])
        except FileNotFoundError:
            return False
        except OSError as error:
            self.journal.corruption = f"{self.path}: expected a file, got {reason_of(error)}"
        if self.journal.order is None and self.journal.corruption is not None:
            # If nothing of the journal is usable, the order file next to it names the run.
            self.journal.order = read_journal(self.attempt).order
        return self.lines != before or self.starts != starts


# Two changes of a directory within one tick of the system's clock have the same time.
TICK = 50_000_000
# How many done cells each look checks for changes.
IN_TURN = 20
# Lines of a supervisor may wait this long for the disk; on a file server, they may appear a minute late.
HERE_WITHIN, ELSEWHERE_WITHIN = 2.0, 90.0
# The first line is written before the solver is started.
START_WITHIN = 1.0

LEFT = (CellState.MISSING, CellState.INTERRUPTED, CellState.QUARANTINED)
_OPEN = frozenset({CellState.RUNNING, CellState.INTERRUPTED, CellState.QUARANTINED, CellState.UNCHECKED})


@dataclass(slots=True, eq=False)
class CellProgress:
    """A cell of the plan as far as it was read.

    `growing` is the attempt under way; `seen` are the attempts of a cell that no runner works on. `began` is the latest
    time at which the run can have begun, on the clock of this process, from the stamp of an event and the time at which
    it was read. `modified`, `judged` and `claim` identify the state of its directories and its claim.
    """

    cell: Cell
    directory: Path
    key: RunKey = field(init=False)
    stage: CellState = CellState.MISSING
    growing: GrowingJournal | None = None
    seen: list[Seen] = field(default_factory=list)
    claimant: Claimant | None = None
    began: float | None = None
    ordered: float | None = None
    modified: int = -1
    judged: int = -1
    claim: Inode | None = None

    def __post_init__(self) -> None:
        self.key = self.cell.key

    @property
    def record(self) -> CellRecord[Outcome]:
        """All attempts, and the one that counts."""
        return CellRecord(self.directory, [one.outcome for one in self.seen])

    @property
    def counting(self) -> Seen | None:
        """The attempt that counts; None if no attempt is whole."""
        outcome = self.record.counting
        return next((one for one in self.seen if one.outcome is outcome), None)

    def known_until(self, now: float) -> float:
        """Return up to which time of the run all events are read: no later line can have an earlier stamp.

        This is the last stamp, or the elapsed time minus the delay with which a line may arrive.
        """
        assert self.growing is not None
        stamp = self.growing.stamp
        if self.began is None:
            return stamp
        late = HERE_WITHIN if self.claimant is None or self.claimant.is_local else ELSEWHERE_WITHIN
        return max(stamp, now - self.began - late)


@dataclass(slots=True)
class Changes:
    """The changes of a look: cells whose stage changed, cells whose run progressed, and whether done runs changed."""

    moved: list[tuple[CellProgress, CellState]] = field(default_factory=list)
    grown: list[CellProgress] = field(default_factory=list)
    rewritten: bool = False

    def __bool__(self) -> bool:
        return bool(self.moved or self.grown or self.rewritten)


class Follower:
    """The cells of a plan, and their changes since the last look.

    `checked` is whether a checker has to judge, `checker` the one that the contract names; `judge` is the version whose
    verdicts count, as far as it is known.
    """

    def __init__(
        self,
        study: Path,
        cells: tuple[Cell, ...],
        *,
        checked: bool,
        checker: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.study = study
        self.checked = checked
        self._checker = checker
        self.judge: Judge | None = None
        self._clock = clock
        self.index = Index(study, apart=True)
        self.index.open()
        # Closes the file if the caller does not.
        weakref.finalize(self, self.index.close)
        self.cells = {(found := cell.directory(study)).name: CellProgress(cell, found) for cell in cells}
        self._names = list(self.cells)
        self.claimants: set[Claimant] = set()
        self._count()
        self._listed = -1
        self._built: int | None = None
        self._turn = 0
        self.first_look = True

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    def running(self) -> list[CellProgress]:
        """Return the cells that a runner works on."""
        return [one for one in self.open if one.stage is CellState.RUNNING]

    def _count(self) -> None:
        """Count the cells by stage, and the horizons of those that are `left`."""
        # Begun but not done: every look goes through these.
        self.open = [one for one in self.cells.values() if one.stage in _OPEN]
        self.stages = Counter(one.stage for one in self.cells.values())
        self.horizons = Counter(one.cell.horizon for one in self.cells.values() if one.stage in LEFT)
        self.left = self.horizons.total()

    def look(self) -> Changes:
        """Read what was added since the last look."""
        changes, locked = Changes(), locked_inodes()
        if self.first_look and self.checked:
            self.judge = study_judge(self.study, self._checker, self.index)
        begun = self._begun()
        for one in begun:
            before = one.stage
            grown = self._look_at(one, locked)
            if one.stage is not before:
                changes.moved.append((one, before))
                # A run that was done has changed: its old score must not stay.
                changes.rewritten |= before is CellState.DONE and not self.first_look
            if grown:
                changes.grown.append(one)
        changes.rewritten |= self._campaign_was_written()
        if changes.rewritten and not self.first_look:
            self._look_at_done(self.cells.values(), changes)
        else:
            self._look_at_done(self._in_turn(), changes)
        self.first_look = False
        if changes.moved:
            self._count()
        return changes

    def _begun(self) -> list[CellProgress]:
        """Return the cells to look at: those that were begun and are not done, and new ones."""
        folder = self.study / JOURNALS
        new: list[CellProgress] = []
        with contextlib.suppress(OSError):
            modified = folder.stat().st_mtime_ns
            if modified != self._listed:
                with os.scandir(folder) as entries:
                    found = [one for entry in entries if (one := self.cells.get(entry.name)) is not None]
                new = [one for one in found if one.stage is CellState.MISSING]
                self._listed = _settled(modified)
        return new + self.open

    def _claimed_by(self, one: CellProgress) -> None:
        one.claimant = read_claimant(one.directory)
        if one.claimant is not None:
            self.claimants.add(one.claimant)

    def _look_at(self, one: CellProgress, locked: Container[Inode] | None) -> bool:
        """Update the state of a cell; return whether its run progressed."""
        if one.claim is None:
            one.claim = claim_inode(one.directory)
        held = locked is not None and one.claim in locked
        if not held and one.stage not in (CellState.RUNNING, CellState.MISSING) and not self._is_new(one):
            return False
        if held or is_cell_running(one.directory, locked):
            return self._follow(one)
        one.modified = self._when(one.directory)
        one.seen = [self.index.read(attempt) for attempt in attempts_of(one.directory)]
        one.growing = one.began = one.ordered = None
        self._claimed_by(one)
        one.stage = self._settle(one)
        one.judged = self._when_judged(one)
        if one.stage is CellState.MISSING:
            # Its folder exists, so that a run may begin without changing the parent folder: list that again.
            self._listed = -1
        return False

    def _follow(self, one: CellProgress) -> bool:
        if one.stage is CellState.MISSING and claimed_run(one.directory) is None:
            # Claimed, but without an order yet.
            self._claimed_by(one)
            self._listed = -1
            return False
        attempts = attempts_of(one.directory) if one.growing is None or self._is_new(one) else None
        if attempts is not None:
            one.modified = self._when(one.directory)
            self._claimed_by(one)
            last = attempts[-1] if attempts else None
            if last is not None and (one.growing is None or one.growing.attempt != last):
                one.growing, one.began = GrowingJournal(last), None
                with contextlib.suppress(OSError):
                    one.ordered = (last / ORDER_FILE).stat().st_mtime
        one.stage = CellState.RUNNING
        if one.growing is None or not one.growing.look():
            return False
        latest = self._clock() - (one.growing.stamp or -START_WITHIN)
        one.began = latest if one.began is None else min(one.began, latest)
        return True

    def use_judge(self, judge: Judge | None) -> list[tuple[CellProgress, CellState]]:
        """Use the verdicts of another checker version; return the cells whose state changed, with their old state."""
        if judge is None or judge == self.judge:
            return []
        self.judge = judge
        before = [(one, one.stage) for one in self.cells.values()]
        for one, stage in before:
            if stage in (CellState.DONE, CellState.UNCHECKED):
                one.stage = self._settle(one)
        self._count()
        return [(one, stage) for one, stage in before if one.stage is not stage]

    def _settle(self, one: CellProgress) -> CellState:
        record, counting = one.record, one.counting
        if counting is None or not self.checked:
            return cell_state(record)
        if self.judge is None:
            heads = [verdicts.head for verdicts in counting.verdicts if verdicts.usable and verdicts.head is not None]
            self.judge = choose_judge([head.judge for head in heads], contract=self._checker)
        return cell_state(record, waits=waits_for_verdict(counting.outcome, counting.verdicts, self.judge))

    def _is_new(self, one: CellProgress) -> bool:
        return self._when(one.directory) != one.modified or self._when_judged(one) != one.judged

    def _when(self, path: Path) -> int:
        try:
            return _settled(path.stat().st_mtime_ns)
        except OSError:
            return 0

    def _when_judged(self, one: CellProgress) -> int:
        """Return when verdicts of a whole run were last written; -1 without a whole run."""
        counting = one.counting if one.seen else None
        return -1 if counting is None else self._when(counting.outcome.path.parent)

    def _campaign_was_written(self) -> bool:
        try:
            built = (self.study / JOURNALS / BUILT).stat().st_mtime_ns
        except OSError:
            built = 0
        before, self._built = self._built, built
        return before is not None and before != built

    def _in_turn(self) -> list[CellProgress]:
        names = (self._names[self._turn :] + self._names)[: min(IN_TURN, len(self._names))]
        self._turn = (self._turn + IN_TURN) % max(1, len(self._names))
        return [self.cells[name] for name in names]

    def _look_at_done(self, cells: Iterable[CellProgress], changes: Changes) -> None:
        for one in cells:
            if one.stage is not CellState.DONE or (one.modified and not self._is_new(one)):
                continue
            known = [seen.mark for seen in one.seen]
            self._look_at(one, frozenset())
            if one.stage is not CellState.DONE:
                changes.moved.append((one, CellState.DONE))
                changes.rewritten = True
            elif [seen.mark for seen in one.seen] != known and None not in known:
                changes.rewritten = True


def _settled(modified: int) -> int:
    """Return the time of a change, or 0 if another change could follow with the same time."""
    return modified if time.time_ns() - modified > TICK else 0
