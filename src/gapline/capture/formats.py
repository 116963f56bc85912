"""The formats that an import knows: ours by name, those of others through the entry point group `gapline.formats`."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from gapline.capture.loglines import shown
from gapline.capture.reader import HEAD, LogFile, Reader
from gapline.errors import EnvironmentLacksError, TraceError, UsageError, closest, listing

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "gapline.formats"
# Each name is a module of `gapline.capture.readers`.
BUILT_IN = (
    "neutral",
    "dimacs",
    "hgs",
    "pyvrp",
    "hexaly",
    "timefold",
    "lkh",
    "olines",
    "solu",
    "cpsat",
    "mip",
    "minizinc",
    "iohprofiler",
    "coco",
    "qoblib",
    "optuna",
)


class UnknownFormatError(TraceError):
    """The head of a file looks like no known format."""


def format_names() -> tuple[str, ...]:
    """Return the names that `--format` takes, without `auto`."""
    return (*BUILT_IN, *(name for name in _plugins() if name not in BUILT_IN))


@cache
def find_reader(name: str) -> Reader:
    """Load the reader of a format."""
    if name in BUILT_IN:
        reader = import_module(f"gapline.capture.readers.{name}").READER
        assert isinstance(reader, Reader)
        return reader
    point = _plugins().get(name)
    if point is None:
        near = closest(name, format_names())
        hint = f"did you mean {near!r}?" if near else f"there are: {listing(format_names(), most=40)}"
        raise UsageError(f"--format {name}: no such format", hint=hint)
    try:
        reader = point.load()
    except Exception as error:
        raise EnvironmentLacksError(
            f"format {name}: the plug-in {point.value} does not load: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(reader, Reader):
        raise EnvironmentLacksError(
            f"format {name}: expected {point.value} to be a Reader, got {type(reader).__name__}"
        )
    if reader.name != name:
        raise EnvironmentLacksError(f"format {name}: expected {point.value} to be named so, got {reader.name!r}")
    return reader


@cache
def all_readers() -> tuple[tuple[Reader, ...], tuple[str, ...]]:
    """Load every reader; a plug-in that fails is named in the second part and stands in nobody's way."""
    readers, notes = [], []
    for name in format_names():
        try:
            readers.append(find_reader(name))
        except EnvironmentLacksError as error:
            notes.append(error.message)
    return tuple(readers), tuple(notes)


def detect(log: LogFile, readers: Sequence[Reader]) -> Reader:
    """Return the one reader whose format the head of a file shows."""
    head = log.data[:HEAD]
    candidates = [reader for reader in readers if reader.looks_like(log.path, head)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        names = " and ".join(reader.name for reader in candidates)
        raise TraceError(
            f"{log.path}: expected one format, got {len(candidates)} that fit: {names}",
            hint=f"say which with --format {candidates[0].name}",
        )
    first = next((line for line in head.splitlines() if line.strip()), b"")
    raise UnknownFormatError(
        f"{log.path}: expected a known format, got {shown(first) if first else 'an empty file'}",
        hint=f"name it with --format: {listing(format_names(), most=40)}",
    )


def find_companion(log: LogFile, readers: Sequence[Reader]) -> Reader | None:
    """Return the reader that reads this file through another one, if there is one."""
    head = log.data[:HEAD]
    return next((reader for reader in readers if reader.is_companion(log.path, head)), None)


@cache
def _plugins() -> dict[str, "EntryPoint"]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
