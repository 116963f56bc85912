"""The files of an import: walk folders, open compressed logs, find companions, detect changes."""

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

# A chunk ends after a file with a certain hash, so that adding or removing a file moves few of the borders.
_ONE_IN = 512
MOST_FILES = 2048
MOST_BYTES = 32 << 20


class Kind(StrEnum):
    """How the members of an archive are read: at their place in the file, or in the decompressed data."""

    ZIP = "zip"
    TAR = "tar"
    PACKED_TAR = "packed tar"


class Member(NamedTuple):
    """A file in an archive: where its bytes begin and how many there are; for a zip, also how they are compressed.

    `wrong` says why it may not be read; if the archive itself is wrong, its path is that of the source.
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
    """A log: `path` as in messages, and the marks of the file on disk (size, times, inode); () if unknown.

    A log in an archive has the marks of the archive, and its path begins with that of the archive.
    """

    path: str
    size: int = 0
    marks: tuple[int, ...] = ()
    inside: Member | None = None


def look_at(path: Path | str) -> Source:
    """Return a file as a source; if it cannot be accessed, reading it will fail later."""
    marks = marks_of(path)
    return Source(str(path), marks[0] if marks else 0, marks)


def marks_of(path: Path | str) -> tuple[int, ...]:
    """Return the facts that show whether a file changed: size, times of modification and change, inode."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a million paths
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def cut_sources(sources: Iterable[Source]) -> Iterator[Sequence[Source]]:
    """Divide a list of sources into chunks, one per task; the borders do not depend on the executor."""
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


# The default start of relative paths.
HERE = Path()


def keep_only(sources: Sequence[Source], patterns: Sequence[str]) -> tuple[list[Source], list[Source]]:
    """Split sources by whether their name matches a pattern (`*.log` matches a.log.gz too); no match is an error.

    An archive that cannot be read is kept under any name, because its content is unknown.
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
    """List the files of paths and folders, each once, in the order of their names, without hidden ones."""
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
    """Yield the files of a folder, then those of its subfolders; links to folders are not followed."""
    try:
        with os.scandir(folder) as entries:
            # Sorted, because systems list folders in different orders.
            inside = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda one: one.name)
    except OSError:
        return
    before = "" if folder == "." else folder.rstrip("/") + "/"
    # Reading a pipe that happens to be in a folder would block; a pipe that the user names is meant.
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
    """Open a file as a log with access to its companions; `read_beside` collects those that are read.

    A relative path starts at `root`, but is shown unchanged.
    A small file is read completely; of a large one only the first bytes are, and the rest while iterating over lines.
    """
    seen = set() if read_beside is None else read_beside
    try:
        # No `Path` objects: there may be a million names.
        with open_input(os.path.join(root, path)) as stream:  # noqa: PTH118
            yield log_from(stream, str(path), companion=lambda name: _open_beside(Path(path), name, seen, root))
    except OSError as error:
        raise TraceError(f"{path}: expected a file that can be read, got {reason_of(error)}") from error


def log_from(stream: BinaryIO, path: str, *, companion: Companion | None = None, most: int = IN_MEMORY) -> LogFile:
    """Return the log in a stream, compressed or not; holds little more than `most` bytes of it in memory."""
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
    """Read a complete file as a log; raises an error if it is larger than the limit."""
    with opened_log(path, read_beside, root=root) as log:
        return LogFile(log.path, log.data, log.cut, companion=log.companion)


def beside_names(name: str) -> list[PurePosixPath]:
    """Return the possible paths of a companion, compressed or not, relative to the folder of the naming file."""
    # The name comes from a foreign file: it must not lead out of the folder.
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
