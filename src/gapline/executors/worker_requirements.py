"""A call as it is carried to a worker: what it asks of whoever takes it, and how its errors come back.

Little is imported here: a process starts with it before it knows how many cores it has.
"""

import hashlib
import pickle
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from gapline.contract.layout import CAMPAIGN, CONTRACT_FILE, MANIFEST
from gapline.contract.version import VERSION
from gapline.errors import EnvironmentLacksError, GaplineError, found_at
from gapline.files.memory import limited_memory

NOTHING_DONE = "nothing was done; every worker needs this version of gapline and the same files under the same paths"


class WorkerLostError(Exception):
    """The worker that had a cell or a task is gone; it may be given to another one."""


class CalledBackError(Exception):
    """Somebody called a job back; it is for people to send it again."""


def call_pickled(message: bytes) -> Any:
    """Make the call that was pickled: function, arguments, arguments by name."""
    function, args, kwargs = pickle.loads(message)
    return function(*args, **kwargs)


class ErrorResult(NamedTuple):
    """An error of ours on its way back: as a value it arrives whole, whatever a cluster does with exceptions."""

    error: GaplineError


@dataclass(frozen=True, slots=True)
class Demands:
    """What a worker must be and see: this version of gapline, and each path as it looks here."""

    version: str
    sights: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Self:
        """Ask for what is seen here."""
        whole = [Path(path).absolute() for path in paths]
        return cls(VERSION, tuple((str(path), describe_path(path)) for path in whole))

    def problems(self) -> list[str]:
        """Say what is not met where this is called."""
        found = [] if self.version == VERSION else [f"expected gapline {self.version}, got {VERSION}"]
        for path, expected in self.sights:
            got = describe_path(Path(path))
            if got != expected:
                found.append(f"{path}: expected {expected}, as where the command was given, got {got}")
        return found


def describe_path(path: Path) -> str:
    """Say what shows that a path leads to the same data on two machines, without reading all of it."""
    if not path.is_dir():
        try:
            return f"a file of {path.stat().st_size:,} bytes"
        except OSError:
            return found_at(path)
    marks = [path / MANIFEST, path / CONTRACT_FILE, path / CAMPAIGN / MANIFEST]
    columns = sorted(column for folder in (path, path / CAMPAIGN) for column in _columns(folder))
    state = hashlib.sha256()
    known = [mark for mark in marks if mark.is_file()]
    for mark in known:
        state.update(mark.read_bytes())
    for column in columns:
        state.update(f"{column.relative_to(path)} {column.stat().st_size}\n".encode("utf-8", "surrogateescape"))
    if not known:
        return "a directory"
    names = " and ".join(str(mark.relative_to(path)) for mark in known)
    return f"a directory whose {names}, with {len(columns)} columns, have the digest {state.hexdigest()[:16]}"


def _columns(folder: Path) -> list[Path]:
    return [*folder.glob("*.npy"), *folder.glob("part-*/*.npy")]


# What this process was found to meet: nobody is asked twice.
_met: set[Demands] = set()


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """Calls a function where it is called itself, after a look at whether that is the place for it."""

    function: Callable[..., Any]
    demands: Demands
    memory: int | None = None

    def __call__(self, task: tuple[Any, ...]) -> Any:
        """Return what the function returns, or what it raised of ours."""
        try:
            # Also on a worker that came after all were asked.
            if self.demands not in _met:
                if problems := self.demands.problems():
                    raise EnvironmentLacksError(f"{platform.node()}: {'; '.join(problems)}", hint=NOTHING_DONE)
                _met.add(self.demands)
            with limited_memory(self.memory):
                return self.function(*task)
        except GaplineError as error:
            return ErrorResult(error)
