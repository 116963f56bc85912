"""The formats that an import knows: built-in ones by name, plug-ins through the entry point group `gapline.formats`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from gapline.errors import EnvironmentLacksError, TraceError, UsageError, listing
from gapline.logs.lines import shown
from gapline.logs.reader import HEAD, LogFile, Reader
from gapline.text import meant
from gapline.traces.columns import header_names, propose

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "gapline.formats"
# Each name is a module of `gapline.logs.readers`.
BUILT_IN = (
    "neutral", "dimacs", "hgs", "pyvrp", "hexaly", "timefold", "lkh", "olines", "solu", "cpsat", "mip", "minizinc",
    "iohprofiler", "coco", "qoblib", "optuna",
)  # fmt: skip
_FIRST_WORD = re.compile(rb"[^\s:;,=0-9]{0,40}")


class UnknownFormatError(TraceError):
    """The head of a file matches no known format."""


def format_names() -> tuple[str, ...]:
    """Return the names that `--format` accepts, except `auto`."""
    return (*BUILT_IN, *(name for name in _plugins() if name not in BUILT_IN))


@cache
def find_reader(name: str) -> Reader:
    """Load the reader of a format."""
    if name in BUILT_IN:
        return cast("Reader", import_module(f"gapline.logs.readers.{name}").READER)
    point = _plugins().get(name)
    if point is None:
        raise UsageError(f"--format {name}: no such format", hint=meant(name, format_names(), show=True, most=40))
    try:
        reader = point.load()
    except Exception as error:
        why = f"the plug-in {point.value} does not load: {type(error).__name__}: {error}"
        raise EnvironmentLacksError(f"format {name}: {why}") from error
    if not isinstance(reader, Reader):
        got = type(reader).__name__
        raise EnvironmentLacksError(f"format {name}: expected {point.value} to be a Reader, got {got}")
    if reader.name != name:
        raise EnvironmentLacksError(f"format {name}: expected {point.value} to be named so, got {reader.name!r}")
    return reader


@cache
def all_readers() -> tuple[tuple[Reader, ...], tuple[str, ...]]:
    """Load every reader; the second part names plug-ins that fail, which do not affect the others."""
    readers = []
    ours = [(name, point.value) for name, point in _plugins().items() if name in BUILT_IN]
    notes = [f"the plug-in {value} is not used: {name} is a format of ours" for name, value in ours]
    for name in format_names():
        try:
            readers.append(find_reader(name))
        except EnvironmentLacksError as error:
            notes.append(error.message)
    return tuple(readers), tuple(notes)


@dataclass(slots=True)
class Detector:
    """Finds the only reader whose format matches a head; files with the same suffix and first word share a reader."""

    readers: Sequence[Reader]
    known: dict[tuple[str, bytes], Reader] = field(default_factory=dict)

    def detect(self, log: LogFile) -> Reader:
        """Return the reader, or raise an error that names the matching formats or shows the first line."""
        head = log.head[:HEAD]
        kind = log.path.rpartition(".")[2], _FIRST_WORD.match(head)[0]  # type: ignore[index]
        # The reader is checked again: a folder may have two formats under one suffix.
        usual = self.known.get(kind)
        if usual and usual.looks_like(log.path, head):
            return usual
        candidates = [reader for reader in self.readers if reader.looks_like(log.path, head)]
        if len(candidates) == 1:
            self.known[kind] = candidates[0]
            return candidates[0]
        # No order of preference: guessing between two formats would sometimes give a wrong campaign.
        if candidates:
            names = " and ".join(reader.name for reader in candidates)
            raise TraceError(
                f"{log.path}: expected one format, got {len(candidates)} that fit: {names}",
                hint=f"say which with --format {candidates[0].name}",
            )
        first = next((line for line in head.splitlines() if line.strip()), b"")
        hint = f"name it with --format: {listing(format_names(), most=40)}"
        table = propose(header_names(first), source=log.path, command="import")
        raise UnknownFormatError(
            f"{log.path}: expected a known format, got {shown(first) if first else 'an empty file'}",
            hint=table if table and "time=" in table and "objective=" in table else hint,
        )


def plugin_versions() -> list[list[str]]:
    """Return the installed plug-in readers, each with the version of its package."""
    return sorted([name, point.value, point.dist.version if point.dist else ""] for name, point in _plugins().items())


@cache
def _plugins() -> dict[str, "EntryPoint"]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
