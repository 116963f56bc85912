"""Which files an import reads, and their bytes: folders walked, .gz and .zst unpacked, byte order marks removed."""

import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from gapline.capture.reader import LogFile
from gapline.capture.unpack import unpack_file
from gapline.errors import TraceError, UsageError, listing
from gapline.model.regular import reason_of

PACKED = (".gz", ".zst")


def keep_only(paths: Sequence[Path], patterns: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Split paths by whether their name fits one of the patterns (`*.log` fits a.log.gz too), none at all an error."""
    if not patterns:
        return list(paths), []
    kept = [path for path in paths if _fits(path.name, patterns)]
    if not kept:
        shown = listing((str(path) for path in paths), most=5)
        raise UsageError(f"--only {' '.join(patterns)}: expected a pattern that fits some of the files, got {shown}")
    return kept, [path for path in paths if not _fits(path.name, patterns)]


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(one, pattern) for pattern in patterns for one in (name, path_without_packing(name)))


def find_files(sources: Iterable[str | Path]) -> list[Path]:
    """List the files that paths and folders stand for, each once, in the order of names, hidden ones left out."""
    found: dict[Path, None] = {}
    missing, nothing = [], []
    for source in map(Path, sources):
        inside = list(_walk(source)) if source.is_dir() else [source]
        found |= dict.fromkeys(inside)
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
    return list(found)


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        # In place, because os.walk goes on with this list; sorted, because systems list folders in different orders.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            # A pipe that lies about in a folder would be waited for; one that is named is meant.
            if not name.startswith(".") and os.path.isfile(place := os.path.join(root, name)):  # noqa: PTH113, PTH118
                yield Path(place)


def load_file(path: Path, read_beside: set[Path] | None = None) -> LogFile:
    """Read a file, unpack it and give its reader a way to the files beside it; `read_beside` notes which it took."""
    data, cut = _read(path)
    seen = set() if read_beside is None else read_beside
    return LogFile(path=str(path), data=data, cut=cut, beside=lambda name: _read_beside(path, name, seen))


def path_without_packing(path: str) -> str:
    """Return a path without the suffixes of compression."""
    while path.lower().endswith(PACKED):
        path = path[: path.rfind(".")]
    return path


def _read(path: Path) -> tuple[bytes, bool]:
    try:
        data, whole = unpack_file(path)
    except OSError as error:
        raise TraceError(f"{path}: expected a file that can be read, got {reason_of(error)}") from error
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    elif data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        # What a Windows shell writes when a solver's output is redirected.
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data, not whole


def _read_beside(path: Path, name: str, seen: set[Path]) -> bytes | None:
    # The name comes out of somebody's file: it must not lead out of the folder.
    inside = PurePosixPath(name.replace("\\", "/"))
    if inside.is_absolute() or ".." in inside.parts or not inside.parts or "\0" in name:
        return None
    for candidate in (path.parent / inside, *(path.parent / f"{inside}{packed}" for packed in PACKED)):
        if candidate.is_file():
            seen.add(candidate.resolve())
            return _read(candidate)[0]
    return None
