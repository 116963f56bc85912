"""The files of an import: folders walked, compressed logs opened, companions found, changes noticed."""

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from gapline.errors import TraceError, UsageError, listing
from gapline.files.compression import IN_MEMORY, PACKED, Unpacked, as_utf8, path_without_packing
from gapline.files.open_file import most_bytes, open_input, reason_of
from gapline.logs.reader import Companion, LogFile

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
    marks = marks_of(path)
    return Source(str(path), marks[0] if marks else 0, marks)


def marks_of(path: Path | str) -> tuple[int, ...]:
    """Return what tells a changed file from the same one: its size, when it was written or changed, and its number."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a million paths
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


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


# Where relative paths start, unless told.
HERE = Path()


def keep_only(sources: Sequence[Source], patterns: Sequence[str]) -> tuple[list[Source], list[Source]]:
    """Split sources by whether their name fits one of the patterns (`*.log` fits a.log.gz too), none at all an error.

    An archive that cannot be read stays, whatever it is called: nobody knows what is in it.
    """
    if not patterns:
        return list(sources), []
    kept = [source for source in sources if _fits(source, patterns)]
    if not kept:
        shown = listing((source.path for source in sources), most=5)
        raise UsageError(f"--only {' '.join(patterns)}: expected a pattern that fits some of the files, got {shown}")
    return kept, [source for source in sources if not _fits(source, patterns)]


def _fits(source: Source, patterns: Sequence[str]) -> bool:
    if source.inside is not None and source.inside.archive == source.path:
        return True
    name = source.path.rpartition("/")[2]
    return any(fnmatchcase(one, pattern) for pattern in patterns for one in (name, path_without_packing(name)))


def find_files(sources: Iterable[str | Path]) -> list[str]:
    """List the files that paths and folders stand for, each once, in the order of names, hidden ones left out."""
    found: list[str] = []
    missing, nothing, several = [], [], False
    for source in map(Path, sources):
        inside = list(_walk(str(source))) if source.is_dir() else [str(source)]
        several = several or bool(found)
        found += inside
        if not inside:
            nothing.append(str(source))
        elif not source.exists():
            missing.append(str(source))
    if missing:
        raise UsageError(f"expected files or folders, got no such file: {listing(missing)}")
    if nothing:
        raise UsageError(f"expected a folder with files, got an empty one: {listing(nothing)}")
    if not found:
        raise UsageError("expected at least one file, got none")
    return list(dict.fromkeys(found)) if several else found


def _walk(folder: str) -> Iterator[str]:
    """Yield the files of a folder, then those of the folders in it; links to folders are not followed."""
    try:
        with os.scandir(folder) as entries:
            # Sorted, because systems list folders in different orders.
            inside = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda one: one.name)
    except OSError:
        return
    before = "" if folder == "." else folder.rstrip("/") + "/"
    # A pipe that lies about in a folder would be waited for; one that is named is meant.
    yield from (before + entry.name for entry in inside if _is(entry.is_file))
    for entry in inside:
        if _is(entry.is_dir) and not entry.is_symlink():
            yield from _walk(before + entry.name)


def _is(kind: Callable[[], bool]) -> bool:
    try:
        return kind()
    except OSError:
        return False


@contextmanager
def opened_log(path: Path | str, read_beside: set[Path] | None = None, *, root: Path = HERE) -> Iterator[LogFile]:
    """Open a file as a log and give its reader a way to the files beside it; `read_beside` notes which it took.

    A relative path starts at `root`, and is shown as it is.
    What is small is read whole; of what is large the first bytes are, and the rest as its lines are gone through.
    """
    seen = set() if read_beside is None else read_beside
    try:
        # No `Path` is made of a million names.
        with open_input(os.path.join(root, path)) as stream:  # noqa: PTH118
            yield log_from(stream, str(path), companion=lambda name: _open_beside(Path(path), name, seen, root))
    except OSError as error:
        raise TraceError(f"{path}: expected a file that can be read, got {reason_of(error)}") from error


def log_from(stream: BinaryIO, path: str, *, companion: Companion | None = None, most: int = IN_MEMORY) -> LogFile:
    """Return the log that a stream holds, packed or not; at most a little more than `most` bytes of it are held."""
    unpacked, most = Unpacked(stream, path), min(most, most_bytes())
    pieces = as_utf8(iter(unpacked))
    held, size = [], 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > most:
            return LogFile(path, b"".join(held), lambda: not unpacked.whole, companion=companion, rest=pieces)
    return LogFile(path, b"".join(held), cut=not unpacked.whole, companion=companion)


def load_file(path: Path, read_beside: set[Path] | None = None, *, root: Path = HERE) -> LogFile:
    """Read a file whole, as a log; one that is larger than the limit is refused."""
    with opened_log(path, read_beside, root=root) as log:
        return LogFile(log.path, log.data, log.cut, companion=log.companion)


def beside_names(name: str) -> list[PurePosixPath]:
    """Return what a companion may be called, packed or not, from the folder of the file that names it."""
    # The name comes out of somebody's file: it must not lead out of the folder.
    inside = PurePosixPath(name.replace("\\", "/"))
    if inside.is_absolute() or ".." in inside.parts or not inside.parts or "\0" in name:
        return []
    return [inside, *(PurePosixPath(f"{inside}{packed}") for packed in PACKED)]


@contextmanager
def _open_beside(path: Path, name: str, seen: set[Path], root: Path) -> Iterator[LogFile | None]:
    there = (path.parent / inside for inside in beside_names(name) if (root / path.parent / inside).is_file())
    candidate = next(there, None)
    if candidate is None:
        yield None
        return
    seen.add((root / candidate).resolve())
    with opened_log(candidate, root=root) as log:
        yield log
