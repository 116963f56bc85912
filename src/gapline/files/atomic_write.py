"""Write files and directories in one step: a killed writer leaves the old version or the new one, never a part."""

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
# Seconds after which a file that is empty and not locked is no longer one that is just being made.
_JUST_MADE = 60.0


class WatchedFile:
    """A file to write to that remembers how much it was given, and what went wrong: not every writer passes it on."""

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
        """Hand everything over to the system."""
        try:
            self.stream.flush()
        except OSError as error:
            self.error = error
            raise

    def sync(self) -> None:
        """Wait until the disk has everything."""
        self.flush()
        os.fsync(self.stream.fileno())


def write_atomically(path: Path, write: Callable[[Any], object]) -> None:
    """Write a file as a whole or not at all.

    Parameters
    ----------
    write
        Is called with a file to write bytes to.

    Raises
    ------
    OSError
        With the path of the file, and how many bytes were to be written, whatever the writer made of it.
    """
    watched = WatchedFile()
    with naming(path, watched):
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_stale(path)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path), suffix=SUFFIX)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                # Some network file systems have no locks: there nothing is cleared either.
                with contextlib.suppress(OSError):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                watched.stream = stream
                write(watched)
                watched.sync()
                # `mkstemp` makes a file that only its owner reads; others of the group have to read results too.
                umask = os.umask(0)
                os.umask(umask)
                temporary.chmod(0o666 & ~umask)
                temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def refuse_no_file(path: Path) -> None:
    """Refuse to write where something stands that is no file: a rename would put one in the place of a pipe."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: expected a file to write, got {found_at(path)}")


def check_directory(path: Path) -> None:
    """Refuse a directory that cannot be made or written to, before any work is done for what is to go there."""
    refuse_nul(path)
    place = path
    while not place.exists() and place != place.parent:
        # A link whose target is gone does not exist, and no directory can be made there.
        if place.is_symlink():
            raise UsageError(f"{place}: expected a directory to write to, got a broken link")
        place = place.parent
    if not place.is_dir():
        raise UsageError(f"{place}: expected a directory to write to, got {found_at(place)}")
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


@contextlib.contextmanager
def naming(path: Path, watched: WatchedFile | None = None) -> Iterator[None]:
    """Let failures of the system name the file that was to be written, and the bytes where they are known."""
    refuse_nul(path)
    try:
        yield
    except Exception as error:
        # A writer in Rust says in words of its own that the disk is full.
        failure = (watched and watched.error) or error
        if not isinstance(failure, OSError):
            raise
        given = watched.given if watched else 0
        words = failure.strerror or str(failure)
        more = f", {given:,} bytes or more were to be written" if given and "bytes" not in words else ""
        raise OSError(failure.errno, f"{words}{more}", str(path)) from error


def _prefix(path: Path) -> str:
    # A name may be as long as a name can be: what is put around it must fit too.
    return f".{path.name[:50]}."


def clear_stale(path: Path) -> None:
    """Remove what writers of a file left behind that are gone."""
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
    """Fill a new directory and put it in the place of `directory`, where only what is named in `ours` is replaced."""
    # A link to the directory stays a link; the new directory takes the place of what it points to.
    # By `realpath`: of a link to itself `Path.resolve` makes a RuntimeError in older Pythons.
    place = Path(os.path.realpath(directory))
    with naming(place):
        _replace(place, fill, ours)


def _replace(place: Path, fill: Callable[[Path], object], ours: Container[str]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(place.parent):
        # Where a whole directory stands, what a killed writer left is rubbish, which may be all that fills the disk.
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
        # Only now: until the new directory stands, one that was left aside may be the only whole one.
        for leftover in _scratches(place):
            _clear(leftover, place, ours)


@contextmanager
def _alone_in(parent: Path) -> Iterator[None]:
    """Wait for other writers beside us: what they have under way must not look like something left behind."""
    file = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some network file systems lock no directories; there the writers' own locks must do.
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
            # Where the file system has no links the file is moved after the step, as folders are.
            with contextlib.suppress(OSError):
                os.link(entry, new / entry.name, follow_symlinks=False)


def _exchange(one: Path, other: Path) -> None:
    """Swap two directories."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    paths = os.fsencode(one), os.fsencode(other)
    if renameat2 is not None and renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0:
        return
    # Where the system cannot swap it takes two steps; between them the old directory stands aside, whole.
    aside = _new_scratch(other)
    other.rename(aside)
    try:
        one.rename(other)
    except BaseException:
        aside.rename(other)
        raise


def _clear(leftover: Path, place: Path, ours: Container[str]) -> None:
    """Remove our files from a directory that was replaced or never finished; give back what is not ours."""
    for entry in leftover.iterdir():
        there = place / entry.name
        if entry.name in ours:
            _remove(entry, ours)
        elif not os.path.lexists(there):
            entry.rename(there)
        elif os.path.samestat(entry.lstat(), there.lstat()):
            entry.unlink()
    # Whatever is left has a namesake in the new directory: it stays where it is.
    with contextlib.suppress(OSError):
        leftover.rmdir()


def _remove(entry: Path, ours: Container[str]) -> None:
    """Remove a file of ours, or a folder of ours with the files of ours in it; with others in it, it stays."""
    if entry.is_symlink() or not entry.is_dir():
        entry.unlink()
        return
    for inner in entry.iterdir():
        # What a writer had under way when it was killed goes too.
        if (inner.name in ours or inner.name.endswith(SUFFIX)) and not inner.is_dir():
            inner.unlink()
    with contextlib.suppress(OSError):
        entry.rmdir()
