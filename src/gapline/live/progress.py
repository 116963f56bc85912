"""Progress of a study: cells by stage, newest events, failures, remaining time, and whether a runner is alive."""

import contextlib
import shlex
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import msgspec

from gapline.contract.layout import JOURNALS
from gapline.contract.reading import waiting_words
from gapline.contract.tables import RunKey
from gapline.executors.heartbeat import PATIENCE, Beat
from gapline.files.open_file import open_regular, read_regular
from gapline.journal.claims import Claimant
from gapline.journal.line import ERROR_LOG
from gapline.journal.plan_coverage import CellState
from gapline.live.channel import now_stamp
from gapline.live.journal_follower import CellProgress, Follower
from gapline.run.campaign import read_options, resume_command
from gapline.text import counted

# Limits on the end of a failed run's standard error.
MOST_BYTES, MOST_LINES = 4096, 10
MOST_FAILURES = MOST_EVENTS = 50


Kind = Literal["began", "incumbent", "ended", "failed", "interrupted", "rejected", "beaten", "alarm", "runner"]


class EventLog:
    """The newest events, newest first; their numbers count all events since the start."""

    def __init__(self) -> None:
        self._kept: deque[dict[str, Any]] = deque(maxlen=MOST_EVENTS)
        self._count = 0

    def add(self, kind: Kind, text: str, run: RunKey | None = None) -> None:
        """Add an event."""
        self._count += 1
        named = None if run is None else str(run)
        self._kept.appendleft({"number": self._count, "at": now_stamp(), "kind": kind, "run": named, "text": text})

    def documents(self) -> list[dict[str, Any]]:
        """Return the events for JSON."""
        return list(self._kept)


def coverage_states(stages: Counter[CellState]) -> dict[str, int]:
    """Return the number of cells by state, named as in `Coverage`; quarantined cells count as interrupted."""
    return {
        "running": stages[CellState.RUNNING],
        "interrupted": stages[CellState.INTERRUPTED] + stages[CellState.QUARANTINED],
        "missing": stages[CellState.MISSING],
        "unchecked": stages[CellState.UNCHECKED],
    }


def seconds_left(follower: Follower, elapsed: dict[CellProgress, float]) -> tuple[float, float]:
    """Return the remaining seconds of solving, and about how long they take at the current number of parallel runs."""
    rests = [max(0.0, one.cell.horizon - elapsed.get(one, 0.0)) for one in follower.running()]
    work = sum(rests) + sum(horizon * number for horizon, number in follower.horizons.items())
    # The last runs cannot spread over all slots: a run takes its horizon even if other cores are idle.
    return work, max([work / max(1, len(rests)), *rests, *follower.horizons])


def failure_of(one: CellProgress) -> dict[str, Any] | None:
    """Return how a done run failed, with the last lines of its standard error; None if it did not fail."""
    counting = one.record.counting
    if counting is None or counting.failure is None or counting.ending is None:
        return None
    return {
        **one.key._asdict(),
        "status": counting.status.value,
        "cause": counting.failure,
        "elapsed": counting.ending.elapsed,
        "stderr": last_lines(counting.path.with_name(ERROR_LOG)),
    }


def last_lines(path: Path) -> list[str]:
    """Return the last lines of a log, limited in number and size."""
    with contextlib.suppress(OSError), open_regular(path) as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - MOST_BYTES))
        text = stream.read(MOST_BYTES).decode("utf-8", "replace")
        lines = text.splitlines()
        # The first line is cut if the log is longer than the part that was read.
        return lines[-MOST_LINES:] if size <= MOST_BYTES or len(lines) == 1 else lines[1:][-MOST_LINES:]
    return []


def newest_failures(failures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the newest failures, newest first; their total number is counted elsewhere."""
    return list(failures[::-1][:MOST_FAILURES])


class Phase(StrEnum):
    """The phase of a study as a whole."""

    NOT_BEGUN = "not begun"
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Runner:
    """Whether a runner works on a study: `alive` is None if unknown; `resume` is the command if none does."""

    phase: Phase
    alive: bool | None
    words: str
    resume: str | None = None

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"alive": self.alive, "words": self.words, "resume": self.resume}


class RunnerWatch:
    """The signs of life of runners: processes of this machine, and heartbeats of campaigns on other machines."""

    def __init__(self, study: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._study = study
        self._clock = clock
        self._beats: dict[str, tuple[int, float]] = {}

    def look(self, follower: Follower) -> Runner:
        """Return the state of the runner, given the cells that were begun and those that are left."""
        running, left, waiting = follower.running(), follower.left, follower.stages[CellState.UNCHECKED]
        alive = self._is_alive(follower.claimants)
        # A runner that checks gives the verdict on its last run after that run has ended.
        checks = waiting and alive and "--no-check" not in read_options(self._study)
        if not running and not left and not checks:
            wait = f"; {waiting_words(waiting)} (gapline check {shlex.quote(str(self._study))})" if waiting else ""
            return Runner(Phase.FINISHED, alive, f"every planned run is whole{wait}")
        if alive:
            hosts = sorted({one.host for one in follower.claimants if one.is_alive} or {"another machine"})
            return Runner(Phase.RUNNING, True, f"a runner is at work ({', '.join(hosts)})")
        resume = resume_command(self._study)
        if running and alive is None:
            return Runner(Phase.RUNNING, None, "runs are under way on other machines, as far as can be seen from here")
        if running:
            words = f"the runner is gone; {counted(len(running), 'run')} of it {_are(len(running))} being cleared up"
            return Runner(Phase.STOPPED, False, words, resume)
        if follower.stages[CellState.MISSING] == len(follower.cells):
            return Runner(Phase.NOT_BEGUN, False, "nothing was run yet", resume)
        return Runner(Phase.STOPPED, False, f"{_why(follower.open)}; {counted(left, 'run')} {_are(left)} left", resume)

    def _is_alive(self, claimants: Iterable[Claimant]) -> bool | None:
        """Whether any runner is known to be alive; None if one may be, on another machine."""
        if any(claimant.is_alive for claimant in claimants) or self._beats_on():
            return True
        # The claims of a campaign on other machines belong to its workers: only the heartbeat shows the runner.
        own = [claimant for claimant in claimants if claimant.runner is None]
        return None if any(claimant.is_alive is None for claimant in own) else False

    def _beats_on(self) -> bool:
        """Whether a heartbeat changed recently; its time stamp is not used, because clocks of two machines differ."""
        now, alive = self._clock(), False
        for path in (self._study / JOURNALS).glob("runner-*.json"):
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                beat = msgspec.json.decode(read_regular(path), type=Beat)
                dead = beat.beat < 0 or Claimant(beat.host, beat.process, beat.began).is_alive is False
                known = self._beats.get(path.name)
                if known is None or known[0] != beat.beat:
                    self._beats[path.name] = (beat.beat, now)
                alive |= not dead and now - self._beats[path.name][1] <= PATIENCE
        return alive


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _why(cells: Iterable[CellProgress]) -> str:
    """Describe why no runner works on the study any more, from the attempts that were cut short."""
    endings = [
        one.seen[-1].outcome.ending
        for one in cells
        if one.seen and one.stage in (CellState.INTERRUPTED, CellState.QUARANTINED)
    ]
    causes = {ending.cause for ending in endings if ending is not None}
    if "runner lost" in causes:
        return "the runner died"
    if "infrastructure" in causes:
        return "the runner stopped, as the machine failed it"
    if None in endings:
        return "the runner or its machine stopped without a word"
    return "the runner was stopped" if "interrupted" in causes else "no runner is at work"
