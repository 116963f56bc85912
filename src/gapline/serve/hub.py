"""The studies that a server follows: one or a folder of them, each looked at in turn, its changes handed to clients."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gapline.errors import GaplineError, UsageError
from gapline.model.layout import is_study
from gapline.serve.channel import Channel
from gapline.serve.live import LiveStudy
from gapline.serve.moment import now_stamp
from gapline.serve.reopen import Followable, Reopened

# Seconds between two looks: while somebody watches, and while nobody does.
LOOK_EVERY, UNWATCHED_EVERY = 1.25, 5.0
BEAT_EVERY = 5.0
MOST_STUDIES = 100


class Watched(Reopened):
    """A study of the hub, and the stream of its changes."""

    def __init__(self, name: str, path: Path, opened: Callable[[str, Path], Followable]) -> None:
        super().__init__(name, path, opened)
        # Numbers go on where those of a server before this one ended, so that its clients do not take them for theirs.
        self.channel = Channel(start=int(time.time() * 10))
        self.lock = asyncio.Lock()


def find_studies(source: str | Path) -> dict[str, Path]:
    """Return the studies that a path stands for, by their names: itself, or those right below it, of which none may be.

    Raises
    ------
    UsageError
        When there is no such path.
    """
    path = Path(source)
    if is_study(path) or path.is_file():
        return {path.absolute().name: path}
    if not path.is_dir():
        raise UsageError(f"{path}: expected a study, a folder of studies or a trace file, got no such file")
    return {entry.name: entry for entry in sorted(path.iterdir()) if is_study(entry)}


class Hub:
    """Everything that a server follows.

    `present` are the names of the studies that are there; `on_look` is called after each look.
    """

    def __init__(self, source: str | Path, *, opened: Callable[[str, Path], Followable] | None = None) -> None:
        self.source = Path(source)
        self._opened = opened or (lambda name, path: LiveStudy(path, name=name))
        self.studies: dict[str, Watched] = {}
        self.present: frozenset[str] = frozenset()
        self._find()
        self.ended = asyncio.Event()
        self.on_look: Callable[[], object] = lambda: None

    def _find(self) -> None:
        """Take in the studies that are new, and let go of those that are gone and that nobody watches."""
        found = find_studies(self.source)
        for name, watched in list(self.studies.items()):
            if name not in found and not watched.channel.clients and not watched.lock.locked():
                watched.close()
                del self.studies[name]
        for name, path in found.items():
            if name not in self.studies and len(self.studies) < MOST_STUDIES:
                self.studies[name] = Watched(name, path, self._opened)
        self.present = frozenset(found).intersection(self.studies)

    def of(self, name: str | None) -> Watched | None:
        """Return the study of a name that was listed; the first one where none is named; None where there is none."""
        if name is not None:
            return self.studies.get(name)
        return next((one for one in self.studies.values() if one.name in self.present), None)

    async def fresh(self, watched: Watched) -> None:
        """Look at a study unless somebody just did."""
        if time.monotonic() - watched.looked - watched.cost >= LOOK_EVERY:
            await self._look(watched)

    async def _look(self, watched: Watched) -> None:
        async with watched.lock:
            looked = now_stamp()
            # In a thread: clients are answered while journals are read.
            state = await asyncio.to_thread(watched.look)
            watched.channel.publish(state, looked=looked)
        self.on_look()

    async def run(self) -> None:
        """Look at the studies until the server ends."""
        beat = time.monotonic()
        while not self.ended.is_set():
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
            # The folder is being moved: those that were there say so themselves.
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
            if name in self.present
        ]
