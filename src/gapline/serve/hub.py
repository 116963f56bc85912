"""The studies that a server follows: one or a folder of them, each looked at in turn, its changes handed to clients."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from gapline.errors import GaplineError, TraceError, UsageError, listing
from gapline.model.layout import CONTRACT_FILE, is_study
from gapline.serve.channel import Channel
from gapline.serve.live import SCHEMA, Document, LiveStudy

# Seconds between two looks: while somebody watches, and while nobody does.
LOOK_EVERY, UNWATCHED_EVERY = 1.25, 5.0
BEAT_EVERY = 5.0
MOST_STUDIES = 100


class Followable(Protocol):
    """What is looked at: a study, or a trace file that grows."""

    name: str

    def look(self) -> Document:
        """Read what is new, and return the state of this moment."""

    def close(self) -> None:
        """Let go of the files."""


class Watched:
    """A study of the hub: what follows it, opened at its first look and again when its contract changes."""

    def __init__(self, name: str, path: Path, opened: Callable[[], Followable]) -> None:
        self.name = name
        self.path = path
        self._open = opened
        # Numbers go on where those of a server before this one ended, so that its clients do not take them for theirs.
        self.channel = Channel(start=int(time.time() * 10))
        self.live: Followable | None = None
        self._contract: int | None = None
        self.looked = -1e9
        self.cost = 0.0
        self.lock = asyncio.Lock()

    def look(self) -> Document:
        """Return the state of this moment; where the study cannot be read, that is its state."""
        began = time.monotonic()
        try:
            contract = _modified(self.path / CONTRACT_FILE)
            if self.live is None or contract != self._contract:
                if self.live is not None:
                    self.live.close()
                self.live, self._contract = self._open(), contract
            return self.live.look()
        except (GaplineError, OSError) as error:
            self.live = None
            return unreadable(self.name, error)
        finally:
            # From its beginning: what came in meanwhile waits for the next look.
            self.looked = began
            self.cost = time.monotonic() - began


def unreadable(name: str, error: Exception) -> Document:
    """Return the state of a study that cannot be read."""
    known = error if isinstance(error, GaplineError) else None
    refused = {"message": str(error) if known is None else known.message, "hint": None if known is None else known.hint}
    return {
        "schema": SCHEMA, "study": {"id": name, "name": name, "title": ""}, "phase": "unreadable", "refused": refused,
        "arms": [], "running": {}, "events": [], "alarms": [], "running_alarms": [], "failures": [],
    }  # fmt: skip


def find_studies(source: str | Path) -> dict[str, Path]:
    """Return the studies that a path stands for, by their names: itself, or those right below it.

    Raises
    ------
    TraceError
        When there is none.
    """
    path = Path(source)
    if is_study(path) or path.is_file():
        return {path.absolute().name: path}
    if not path.is_dir():
        raise UsageError(f"{path}: expected a study, a folder of studies or a trace file, got no such file")
    found = {entry.name: entry for entry in sorted(path.iterdir()) if is_study(entry)}
    if not found:
        inside = listing(sorted(entry.name for entry in path.iterdir()), most=5) or "nothing"
        raise TraceError(
            f"{path}: expected a study ({CONTRACT_FILE}) or a folder of studies, got {inside}",
            hint=f"gapline init {path} begins one",
        )
    return dict(list(found.items())[:MOST_STUDIES])


class Hub:
    """Everything that a server follows."""

    def __init__(self, source: str | Path, *, opened: Callable[[str, Path], Followable] | None = None) -> None:
        self.source = Path(source)
        self._opened = opened or (lambda name, path: LiveStudy(path, name=name))
        self.studies: dict[str, Watched] = {}
        self._is_folder = self.source.is_dir() and not is_study(self.source)
        self._find()
        self.ended = asyncio.Event()

    def _find(self) -> None:
        for name, path in find_studies(self.source).items():
            if name not in self.studies:
                self.studies[name] = Watched(name, path, lambda name=name, path=path: self._opened(name, path))  # type: ignore[misc]

    def of(self, name: str | None) -> Watched | None:
        """Return the study of a name that was listed; the first one where none is named."""
        return next(iter(self.studies.values())) if name is None else self.studies.get(name)

    async def fresh(self, watched: Watched) -> None:
        """Look at a study unless somebody just did."""
        if time.monotonic() - watched.looked - watched.cost >= LOOK_EVERY:
            await self._look(watched)

    async def _look(self, watched: Watched) -> None:
        async with watched.lock:
            # In a thread: clients are answered while journals are read.
            state = await asyncio.to_thread(watched.look)
            watched.channel.publish(state)

    async def run(self) -> None:
        """Look at the studies until the server ends."""
        beat = time.monotonic()
        while not self.ended.is_set():
            if self._is_folder:
                self._find_again()
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
        """Return how long nobody need be looked at; at least as long as the looks took, however slow the machine is."""
        watched = [one for one in self.studies.values() if one.channel.clients]
        due = min((one.looked + LOOK_EVERY - time.monotonic() for one in watched), default=LOOK_EVERY)
        return min(LOOK_EVERY, max(due, sum(one.cost for one in watched)))

    def _find_again(self) -> None:
        try:
            self._find()
        except (GaplineError, OSError):
            # The folder is being moved or emptied: those that were there say so themselves.
            return

    def close(self, reason: str) -> None:
        """Tell all clients that nothing more comes."""
        for watched in self.studies.values():
            watched.channel.close(reason)
        self.ended.set()

    def documents(self) -> list[dict[str, Any]]:
        """Return what a list of the studies shows."""
        return [
            watched.channel.state.get("study", {"id": name, "name": name, "title": ""})
            | {field: watched.channel.state.get(field) for field in ("phase", "progress")}
            for name, watched in self.studies.items()
        ]


def _modified(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
