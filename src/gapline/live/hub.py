"""The studies that a server follows, one or a folder of them: opened, read in turn, reopened."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gapline.contract.layout import CONTRACT_FILE, is_study
from gapline.errors import GaplineError, UsageError
from gapline.live.channel import Channel, now_stamp
from gapline.live.state import SCHEMA, Document, LiveStudy


class Watched:
    """A study at a path, and the stream of its changes; `live` follows the study, None while there is none.

    `looked` is when the last look began, on the clock of this process, and `cost` how long it took; `pinned` are the
    cores of this machine that runs were pinned to at the time.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.live: LiveStudy | None = None
        self._contract: tuple[int, int] | None = None
        self.looked = -1e9
        self.cost = 0.0
        self.pinned: frozenset[int] = frozenset()
        # Higher than any number of an earlier server, so that its clients do not take new events for old ones.
        self.channel = Channel(start=int(time.time() * 10))
        self.lock = asyncio.Lock()

    @property
    def mark(self) -> str:
        """Identifies the set of whole runs: reports with the same mark have the same numbers."""
        return "" if self.live is None else self.live.mark

    def look(self) -> Document:
        """Return the current state; a study that is missing or unreadable has a state too."""
        began = time.monotonic()
        try:
            contract = _facts(self.path / CONTRACT_FILE)
            if self.live is None or contract != self._contract:
                self.close()
                if not is_study(self.path):
                    return absent(self.name, self.path)
                self.open()
            assert self.live is not None
            state = self.live.look()
            # Set here and not by the caller: another thread may be in the next look by then.
            self.pinned = frozenset(self.live.pinned_cores())
            return state
        except (GaplineError, OSError) as error:
            self.close()
            return unreadable(self.name, error) if is_study(self.path) else absent(self.name, self.path)
        finally:
            # From its beginning: changes made during this look are for the next one.
            self.looked = began
            self.cost = time.monotonic() - began

    def open(self) -> None:
        """Open the study, raising an error if it is missing or unreadable.

        Raises
        ------
        GaplineError
            If there is no study, or it cannot be read.
        """
        # Before it is read: a change made in the meantime is noticed at the next look.
        contract = _facts(self.path / CONTRACT_FILE)
        self.live, self._contract = LiveStudy(self.path, name=self.name), contract

    def close(self) -> None:
        """Stop following the study."""
        if self.live is not None:
            with contextlib.suppress(OSError):
                self.live.close()
        self.live, self.pinned = None, frozenset()


def unreadable(name: str, error: Exception) -> Document:
    """Return the state of a study that cannot be read."""
    message, hint = (error.message, error.hint) if isinstance(error, GaplineError) else (str(error), None)
    return _nothing(name, "unreadable", refused={"message": message, "hint": hint})


def absent(name: str, path: Path) -> Document:
    """Return the state of a study that does not exist, not yet or no longer."""
    words = f"{path} has no {CONTRACT_FILE}; it is shown as soon as one is there"
    if not path.is_dir():
        words = f"{path} is not there; it is shown as soon as it is"
    return _nothing(name, "absent", runner={"alive": False, "words": words, "resume": None})


def _nothing(name: str, phase: str, **more: Document) -> Document:
    return {
        "schema": SCHEMA, "study": {"id": name, "name": name, "title": ""}, "phase": phase,
        "arms": [], "running": {}, "events": [], "alarms": [], "running_alarms": [], "failures": [],
    } | more  # fmt: skip


def _facts(path: Path) -> tuple[int, int] | None:
    """Return the facts that identify the version of a contract."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_ino


# Seconds between two looks: with clients, and without.
LOOK_EVERY, UNWATCHED_EVERY = 1.25, 5.0
BEAT_EVERY = 5.0
MOST_STUDIES = 100


def find_studies(source: str | Path) -> dict[str, Path]:
    """Return the studies of a path by name: itself, or those directly below it, which may be none.

    Raises
    ------
    UsageError
        If there is no such directory.
    """
    path = Path(source)
    if is_study(path):
        return {path.absolute().name: path}
    if not path.is_dir():
        raise UsageError(f"{path}: expected a study or a folder of studies, got no such directory")
    return {entry.name: entry for entry in sorted(path.iterdir()) if is_study(entry)}


class Hub:
    """All studies that a server follows.

    `present` are the names of the studies that exist; `on_look` is called after each look.
    """

    def __init__(self, source: str | Path) -> None:
        self.source = Path(source)
        self.studies: dict[str, Watched] = {}
        self.present: frozenset[str] = frozenset()
        self.find()
        self.ended = asyncio.Event()
        self.on_look: Callable[[], object] = lambda: None

    def find(self) -> None:
        """Add new studies, and remove those that are gone and have no clients."""
        found = find_studies(self.source)
        for name, watched in list(self.studies.items()):
            if name not in found and not watched.channel.clients and not watched.lock.locked():
                watched.close()
                del self.studies[name]
        for name, path in found.items():
            if name not in self.studies and len(self.studies) < MOST_STUDIES:
                self.studies[name] = Watched(name, path)
        self.present = frozenset(found).intersection(self.studies)

    def of(self, name: str | None) -> Watched | None:
        """Return the study with a listed name; without a name, the first one; None if there is none."""
        if name is not None:
            return self.studies.get(name)
        return next((one for one in self.studies.values() if one.name in self.present), None)

    async def fresh(self, watched: Watched) -> None:
        """Look at a study unless that was just done."""
        if time.monotonic() - watched.looked - watched.cost >= LOOK_EVERY:
            await self._look(watched)

    async def _look(self, watched: Watched) -> None:
        async with watched.lock:
            looked = now_stamp()
            # In a thread, so that clients are answered while journals are read.
            state = await asyncio.to_thread(watched.look)
            watched.channel.publish(state, looked=looked)
        self.on_look()

    async def run(self) -> None:
        """Look at the studies until the server ends."""
        beat = time.monotonic()
        while not self.ended.is_set():
            # While the folder is being moved, the known studies report it themselves.
            with contextlib.suppress(GaplineError, OSError):
                self.find()
            for watched in list(self.studies.values()):
                every = LOOK_EVERY if watched.channel.clients else UNWATCHED_EVERY
                if time.monotonic() - watched.looked >= every - 0.05:
                    await self._look(watched)
            if time.monotonic() - beat >= BEAT_EVERY:
                beat = time.monotonic()
                for watched in self.studies.values():
                    watched.channel.beat()
            try:
                await asyncio.wait_for(self.ended.wait(), self._pause())
            except TimeoutError:
                continue

    def _pause(self) -> float:
        """Return the pause until the next look; at least as long as the looks took, to bound the load."""
        watched = [one for one in self.studies.values() if one.channel.clients]
        due = min((one.looked + LOOK_EVERY - time.monotonic() for one in watched), default=LOOK_EVERY)
        return min(LOOK_EVERY, max(due, sum(one.cost for one in watched)))

    def close(self, reason: str) -> None:
        """Tell all clients that the stream ends."""
        for watched in self.studies.values():
            watched.channel.close(reason)
        self.ended.set()

    def documents(self) -> list[dict[str, Any]]:
        """Return the documents for a list of the studies."""
        return [
            watched.channel.state.get("study", {"id": name, "name": name, "title": ""})
            | {field: watched.channel.state.get(field) for field in ("phase", "progress")}
            for name, watched in self.studies.items()
            if name in self.present
        ]
