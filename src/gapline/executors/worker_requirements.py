"""A call that is sent to a worker: its requirements on the worker, and the return of its errors.

This module imports little: a new process loads it before it knows how many cores it has.
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
    """The worker of a cell or a task is gone; another worker may take over."""


class CalledBackError(Exception):
    """A job was cancelled from outside; only the user may decide to send it again."""


def call_pickled(message: bytes) -> Any:
    """Make the pickled call: function, arguments, keyword arguments."""
    function, args, kwargs = pickle.loads(message)
    return function(*args, **kwargs)


class ErrorResult(NamedTuple):
    """An error of gapline as a value, so that it arrives complete on any cluster."""

    error: GaplineError


@dataclass(frozen=True, slots=True)
class Demands:
    """Requirements on a worker: this version of gapline, and the same content of each path as here."""

    version: str
    sights: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Self:
        """Return the requirements for some paths, as seen on this machine."""
        whole = [Path(path).absolute() for path in paths]
        return cls(VERSION, tuple((str(path), describe_path(path)) for path in whole))

    def problems(self) -> list[str]:
        """Return the requirements that are not met where this is called."""
        found = [] if self.version == VERSION else [f"expected gapline {self.version}, got {VERSION}"]
        for path, expected in self.sights:
            got = describe_path(Path(path))
            if got != expected:
                found.append(f"{path}: expected {expected}, as where the command was given, got {got}")
        return found


def describe_path(path: Path) -> str:
    """Describe a path so that the same data on two machines gives the same text, without reading all of it."""
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


# The requirements that this process is known to meet: they are checked once.
_met: set[Demands] = set()


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """Call a function after checking the requirements on the worker where it runs."""

    function: Callable[..., Any]
    demands: Demands
    memory: int | None = None

    def __call__(self, task: tuple[Any, ...]) -> Any:
        """Return the function's result, or a `GaplineError` that it raised, as a value."""
        try:
            # Checked here too, for workers that joined after all were asked.
            if self.demands not in _met:
                if problems := self.demands.problems():
                    raise EnvironmentLacksError(f"{platform.node()}: {'; '.join(problems)}", hint=NOTHING_DONE)
                _met.add(self.demands)
            with limited_memory(self.memory):
                return self.function(*task)
        except GaplineError as error:
            return ErrorResult(error)
