"""What an import reads, as a list that can be cut: one entry per log, with the marks that tell of a change."""

import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

# A chunk ends behind a file whose name says so, so that a file more or less moves the ends of few of them.
_ONE_IN = 512
MOST_FILES = 2048
MOST_BYTES = 32 << 20


class Kind(StrEnum):
    """How the members of an archive are come by: by their places in the file, or in what is packed in it."""

    ZIP = "zip"
    TAR = "tar"
    PACKED_TAR = "packed tar"


class Member(NamedTuple):
    """A file in an archive: where its bytes begin and how many there are; of a zip also how they are packed.

    `wrong` says why it may not be read; where it is the archive itself, its path is that of the source.
    """

    archive: str
    kind: Kind
    offset: int = 0
    stored: int = 0
    method: int = 0
    crc: int = 0
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A log: `path` as messages show it, and the marks of the file on disk (size, times, number); () if unknown.

    One in an archive has the marks of the archive, and its path is behind that of the archive.
    """

    path: str
    size: int = 0
    marks: tuple[int, ...] = ()
    inside: Member | None = None


def look_at(path: Path | str) -> Source:
    """Return the source that a file is; one that cannot be looked at is read, and fails then."""
    return Source(str(path), *_marks(path))


def marks_of(path: Path | str) -> tuple[int, ...]:
    """Return what tells a changed file from the same one: its size, when it was written or changed, and its number."""
    return _marks(path)[1]


def _marks(path: Path | str) -> tuple[int, tuple[int, ...]]:
    try:
        found = os.stat(path)  # noqa: PTH116 - a million paths
    except OSError:
        return 0, ()
    return found.st_size, (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def cut_sources(sources: Iterable[Source]) -> Iterator[Sequence[Source]]:
    """Cut a list of sources into chunks, each the work of one task; where does not depend on who does it."""
    chunk: list[Source] = []
    size = 0
    for source in sources:
        # A large file is a chunk of its own.
        if chunk and size + source.size > MOST_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(source)
        size += source.size
        if len(chunk) == MOST_FILES or zlib.crc32(os.fsencode(source.path)) % _ONE_IN == 0:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
