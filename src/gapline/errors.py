"""The errors of gapline, split by what the caller can do about them.

    GaplineError                exit code 1: the data failed a check
    ├── TraceError              a trace, log or campaign cannot be read: mend the file
    ├── ContractError           a study.toml has mistakes: mend all that are listed
    ├── UncheckedError          candidates wait for a verdict: check them, or say how to treat them
    ├── ObjectiveError          objectives are not positive and minimised: declare a transform
    ├── HorizonError            a horizon is missing, or runs of one instance disagree on it
    ├── SnapshotError           a snapshot or a store of references cannot be read: mend the file
    ├── MissingReferenceError   instances without a usable reference: complete the snapshot
    ├── IntegrityError          a digest or a certificate is contradicted: find out which side is wrong
    ├── MixedScoresError        scores that answer different questions were to be pooled: split them
    ├── UsageError              exit code 2: the call itself is wrong
    └── EnvironmentLacksError   exit code 3: a package or program is missing

A rejected candidate is a verdict, not an exception.
"""

import copyreg
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any


class GaplineError(Exception):
    """A message `where: expected X, got Y`, with a hint if one can be given."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nHint: {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        # An error of a worker is restored from its message and attributes, not built again from its arguments.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]  # as pickle does


class TraceError(GaplineError):
    """A trace, log, journal or campaign directory cannot be read."""


class ContractError(GaplineError):
    """A contract has mistakes; all are listed, each with its place."""

    exit_code = 2

    def __init__(self, where: str, mistakes: Sequence[str], *, hint: str | None = None) -> None:
        message = f"{where}: {mistakes[0]}"
        if len(mistakes) > 1:
            message = f"{where}: {len(mistakes)} mistakes" + "".join(f"\n  {mistake}" for mistake in mistakes)
        super().__init__(message, hint=hint)
        self.mistakes = tuple(mistakes)


class UncheckedError(GaplineError):
    """Candidates have no verdict yet."""


class ObjectiveError(GaplineError):
    """Accepted objectives are not strictly positive under the declared transform."""


class HorizonError(GaplineError):
    """A horizon is missing, not positive, or not one per instance."""


class SnapshotError(GaplineError):
    """A snapshot, or the store it is frozen from, cannot be read."""


class MissingReferenceError(GaplineError):
    """Some instances have no usable reference value."""


class IntegrityError(GaplineError):
    """A digest does not match, or a certificate is contradicted."""


class MixedScoresError(GaplineError):
    """Scores of different snapshots, kernels, weights or horizons were to be pooled."""


class UsageError(GaplineError):
    """The call itself is wrong: an unknown name, an option that does not fit."""

    exit_code = 2


class EnvironmentLacksError(GaplineError):
    """A package, program or licence is missing."""

    exit_code = 3

    @classmethod
    def for_extra(cls, package: str, extra: str) -> "EnvironmentLacksError":
        """Return the error for a missing package, with the extra that brings it."""
        return cls(f"{package} is not installed", hint=f"pip install 'gapline[{extra}]'")


def closest(name: str, valid: Iterable[str]) -> str | None:
    """Return the valid name nearest to a mistyped one, or None.

    >>> closest("mit", ["ISC", "MIT"]), closest("objectiv", ["objective", "time"]), closest("xyz", ["abc"])
    ('MIT', 'objective', None)
    """
    from difflib import get_close_matches

    names = [str(one) for one in valid]
    # The matcher is case-sensitive.
    same = [one for one in names if one.casefold() == name.casefold()]
    near = same or get_close_matches(name, names, n=1, cutoff=0.5)
    return near[0] if near else None


def listing(items: Iterable[str], *, most: int = 10) -> str:
    """Join items for an error message, saying how many were left out.

    >>> listing(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    everything = list(items)
    head = ", ".join(everything[:most])
    return head if len(everything) <= most else f"{head} and {len(everything) - most} more"


def found_at(path: Path) -> str:
    """Describe what was found where a file was expected.

    >>> found_at(Path("/")), found_at(Path("/no/such"))
    ('a directory', 'no such file')
    """
    if path.is_dir():
        return "a directory"
    if path.is_file():
        return "a file"
    return "neither a file nor a directory" if path.exists() else "no such file"


def near(path: Path) -> str | None:
    """Return a hint that names a similar file in the same folder, if there is one."""
    try:
        name = closest(path.name, (other.name for other in path.parent.iterdir()))
    except OSError:
        return None
    return None if name is None else f"did you mean {str(path.with_name(name))!r}?"


def import_extra(module: str, extra: str, *, package: str = "") -> Any:
    """Import a module that an extra of gapline brings, or raise an error with the command that installs it."""
    try:
        return import_module(module)
    except ImportError:
        raise EnvironmentLacksError.for_extra(package or module, extra) from None
