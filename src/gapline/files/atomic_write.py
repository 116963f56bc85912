"""Write files and directories atomically: a killed writer leaves the old version or the new one, never a part."""

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import tempfile
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from gapline.errors import UsageError, found_at
from gapline.files.open_file import refuse_nul

SUFFIX = ".gapline"
# An empty, unlocked file younger than this may belong to a writer that is about to lock it.
_JUST_MADE = 60.0


class WatchedFile:
    """A writable file that records the bytes it was given and its last error, which not every writer passes on."""

    def __init__(self) -> None:
        self.stream: IO[bytes]
        self.given = 0
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write bytes."""
        self.given += memoryview(data).nbytes
        try:
            return self.stream.write(data)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        """Flush to the operating system."""
        try:
            self.stream.flush()
        except OSError as error:
            self.error = error
            raise

    def sync(self) -> None:
        """Flush, and wait until everything is on disk."""
        self.flush()
        os.fsync(self.stream.fileno())


def write_atomically(path: Path, write: Callable[[Any], object]) -> None:
    """Write a file atomically.

    Parameters
    ----------
    write
        Called with a binary file to write to.

    Raises
    ------
    OSError
        When the system refuses a write, even if the writer raised another error; with the path and the bytes given.
    """
    watched = WatchedFile()
    with naming(path, watched):
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_stale(path)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path), suffix=SUFFIX)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                # Some network file systems have no locks; `clear_stale` removes nothing there.
                with contextlib.suppress(OSError):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                watched.stream = stream
                write(watched)
                watched.sync()
                # `mkstemp` creates a file that only its owner can read; use the permissions of the umask instead.
                umask = os.umask(0)
                os.umask(umask)
                temporary.chmod(0o666 & ~umask)
                temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def refuse_no_file(path: Path) -> None:
    """Refuse a target that exists and is not a file: the rename would replace a pipe by a file."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: expected a file to write, got {found_at(path)}")


def check_directory(path: Path) -> None:
    """Refuse a directory that cannot be created or written to, before any work is done."""
    refuse_nul(path)
    place = path
    while not place.exists() and place != place.parent:
        # A broken link does not "exist", but no directory can be created in its place.
        if place.is_symlink():
            raise UsageError(f"{place}: expected a directory to write to, got a broken link")
        place = place.parent
    if not place.is_dir():
        raise UsageError(f"{place}: expected a directory to write to, got {found_at(place)}")
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


@contextlib.contextmanager
def naming(path: Path, watched: WatchedFile | None = None) -> Iterator[None]:
    """Make operating system errors name the file to be written and, if known, the number of bytes."""
    refuse_nul(path)
    try:
        yield
    except Exception as error:
        # A writer in Rust reports a full disk as an error of its own.
        failure = (watched and watched.error) or error
        if not isinstance(failure, OSError):
            raise
        given = watched.given if watched else 0
        words = failure.strerror or str(failure)
        more = f", {given:,} bytes or more were to be written" if given and "bytes" not in words else ""
        raise OSError(failure.errno, f"{words}{more}", str(path)) from error


def _prefix(path: Path) -> str:
    # The name may already have the maximum length, so shorten it before adding to it.
    return f".{path.name[:50]}."


def clear_stale(path: Path) -> None:
    """Remove temporary files left by killed writers of a file."""
    prefix = _prefix(path)
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        stale = [entry for entry in entries if entry.name.startswith(prefix) and entry.name.endswith(SUFFIX)]
        for entry in stale:
            if entry.is_file(follow_symlinks=False) and not _is_under_way(entry):
                Path(entry.path).unlink(missing_ok=True)


def _is_under_way(entry: "os.DirEntry[str]") -> bool:
    found = entry.stat(follow_symlinks=False)
    if not found.st_size and time.time() - found.st_mtime < _JUST_MADE:
        return True
    try:
        handle = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def replace_directory(directory: Path, fill: Callable[[Path], object], *, ours: Container[str]) -> None:
    """Fill a new directory and replace `directory` by it; entries whose names are not in `ours` are kept."""
    # A link to the directory stays a link; its target is replaced.
    # Use `realpath`: for a link to itself, `Path.resolve` raises a RuntimeError in older Pythons.
    place = Path(os.path.realpath(directory))
    with naming(place):
        _replace(place, fill, ours)


def _replace(place: Path, fill: Callable[[Path], object], ours: Container[str]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(place.parent):
        # If a complete directory exists, leftovers of killed writers are useless, and they may be filling the disk.
        if place.exists():
            for leftover in _scratches(place):
                _clear(leftover, place, ours)
        scratch = _new_scratch(place)
        try:
            fill(scratch)
            scratch.chmod(0o755)
            if place.exists():
                _link_others(place, scratch, ours)
                _exchange(scratch, place)
            else:
                scratch.rename(place)
        except BaseException:
            _clear(scratch, place, ours)
            raise
        # Only now: until the new directory is in place, a leftover may be the only complete one.
        for leftover in _scratches(place):
            _clear(leftover, place, ours)


@contextmanager
def _alone_in(parent: Path) -> Iterator[None]:
    """Wait for other writers in the same folder, so that their unfinished directories are not taken for leftovers."""
    file = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some network file systems cannot lock directories; there the writers' own locks have to suffice.
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _new_scratch(place: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}.", suffix=SUFFIX))


def _scratches(place: Path) -> list[Path]:
    named = re.compile(rf"\.{re.escape(place.name)}\.[a-z0-9_]{{8}}{re.escape(SUFFIX)}")
    return [path for path in place.parent.iterdir() if named.fullmatch(path.name) and path.is_dir()]


def _link_others(old: Path, new: Path, ours: Container[str]) -> None:
    for entry in old.iterdir():
        if entry.name not in ours and not (entry.is_dir() and not entry.is_symlink()):
            # If the file system has no hard links, the file is moved after the exchange, as folders are.
            with contextlib.suppress(OSError):
                os.link(entry, new / entry.name, follow_symlinks=False)


def _exchange(one: Path, other: Path) -> None:
    """Swap two directories."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    paths = os.fsencode(one), os.fsencode(other)
    if renameat2 is not None and renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0:
        return
    # Without an atomic exchange, two renames are needed; between them the old directory is kept complete under `aside`.
    aside = _new_scratch(other)
    other.rename(aside)
    try:
        one.rename(other)
    except BaseException:
        aside.rename(other)
        raise


def _clear(leftover: Path, place: Path, ours: Container[str]) -> None:
    """Remove our files from a directory that was replaced or never finished; move all others back to `place`."""
    for entry in leftover.iterdir():
        there = place / entry.name
        if entry.name in ours:
            _remove(entry, ours)
        elif not os.path.lexists(there):
            entry.rename(there)
        elif os.path.samestat(entry.lstat(), there.lstat()):
            entry.unlink()
    # Entries whose names exist in the new directory are left here.
    with contextlib.suppress(OSError):
        leftover.rmdir()


def _remove(entry: Path, ours: Container[str]) -> None:
    """Remove a file of ours, or our files in a folder of ours; a folder that holds others is kept."""
    if entry.is_symlink() or not entry.is_dir():
        entry.unlink()
        return
    for inner in entry.iterdir():
        # Also remove temporary files of killed writers.
        if (inner.name in ours or inner.name.endswith(SUFFIX)) and not inner.is_dir():
            inner.unlink()
    with contextlib.suppress(OSError):
        entry.rmdir()
