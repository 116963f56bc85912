"""What is followed under a path: opened once it is there, again when it is another one, and said to be gone when it is.

Nothing need be there at the beginning: a folder may wait for its study, and a study that was removed may come back.
"""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from gapline.errors import GaplineError
from gapline.model.layout import CONTRACT_FILE, is_study
from gapline.serve.live import SCHEMA, Document


class Followable(Protocol):
    """What is looked at: a study, or a trace file that grows."""

    name: str

    def look(self) -> Document:
        """Read what is new, and return the state of this moment."""

    def close(self) -> None:
        """Let go of the files."""


class Reopened:
    """A study or a trace file under its path; `live` is what follows it, None while there is nothing to follow.

    `looked` is when the last look began, on the clock of this process, and `cost` how long it took; `pinned` are the
    cores of this machine that runs were pinned to then.
    """

    def __init__(self, name: str, path: Path, opened: Callable[[str, Path], Followable]) -> None:
        self.name = name
        self.path = path
        self._open = opened
        self.live: Followable | None = None
        self._contract: tuple[int, int] | None = None
        self.looked = -1e9
        self.cost = 0.0
        self.pinned: frozenset[int] = frozenset()

    @property
    def is_there(self) -> bool:
        """Whether there is anything to follow."""
        return self.path.is_file() or is_study(self.path)

    def look(self) -> Document:
        """Return the state of this moment; where it is not there or cannot be read, that is its state."""
        began = time.monotonic()
        try:
            contract = _facts(self.path / CONTRACT_FILE)
            if self.live is None or contract != self._contract:
                self.close()
                if not self.is_there:
                    return absent(self.name, self.path)
                self.open()
            assert self.live is not None
            state = self.live.look()
            # Here and not by who asks: another thread may be in the next look by then.
            self.pinned = pinned_cores(self.live)
            return state
        except (GaplineError, OSError) as error:
            self.close()
            return absent(self.name, self.path) if not self.is_there else unreadable(self.name, error)
        finally:
            # From its beginning: what came in meanwhile waits for the next look.
            self.looked = began
            self.cost = time.monotonic() - began

    def open(self) -> None:
        """Open what is there, for those who have to be told where it is not or cannot be read.

        Raises
        ------
        GaplineError
            When there is nothing to follow, or it cannot be read.
        """
        # Before it is read: what is written meanwhile is another one at the next look.
        contract = _facts(self.path / CONTRACT_FILE)
        self.live, self._contract = self._open(self.name, self.path), contract

    def close(self) -> None:
        """Let go of what follows it."""
        if self.live is not None:
            with contextlib.suppress(OSError):
                self.live.close()
        self.live, self.pinned = None, frozenset()


def pinned_cores(live: object) -> frozenset[int]:
    """Return the cores of this machine that runs of what is followed are pinned to; of a trace file nobody knows."""
    asked = getattr(live, "pinned_cores", None)
    return frozenset() if asked is None else frozenset(asked())


def unreadable(name: str, error: Exception) -> Document:
    """Return the state of a study that cannot be read."""
    known = error if isinstance(error, GaplineError) else None
    refused = {"message": str(error) if known is None else known.message, "hint": None if known is None else known.hint}
    return _nothing(name, "unreadable", refused=refused)


def absent(name: str, path: Path) -> Document:
    """Return the state of a study that is not there: not yet, or no longer."""
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
    """Return by what a contract is known to be the one that was read."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_ino
