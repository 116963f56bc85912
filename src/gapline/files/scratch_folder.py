"""Private temporary folders, removed at the latest when the process ends.

The process that creates a folder locks it. The lock ends with the process, so that a later process can recognise and
remove the folders of killed ones.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gapline.files.scratch_arrays import no_room, scratch_place

PREFIX = "gapline-unpacked-"


@dataclass(frozen=True, slots=True)
class _Locked:
    """A folder, the lock on it, and its process: a fork inherits the lock, but must not remove the folder."""

    path: Path
    lock: int
    process: int

    def remove(self) -> None:
        if self.process == os.getpid():
            # Release the lock last, so that no other process sees a half-removed folder as a leftover.
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)


_held: list[_Locked] = []


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create a private folder, which is removed at the end of the context."""
    made = _make()
    try:
        yield made.path
    finally:
        made.remove()


def keep_folder() -> Path:
    """Create a private folder, which is removed by `release_folder` or when the process ends."""
    if not _held:
        atexit.register(_remove_held)
    made = _make()
    _held.append(made)
    return made.path


def release_folder(path: Path) -> None:
    """Remove a folder created by `keep_folder`."""
    for made in [one for one in _held if one.path == path]:
        _held.remove(made)
        made.remove()


def clear_leftovers() -> list[Path]:
    """Remove this user's folders of processes that have ended, and return their paths."""
    gone = []
    # If no scratch directory can be found or read, there is nothing to report.
    with suppress(OSError):
        place = scratch_place()
        for name in sorted(entry.name for entry in os.scandir(place) if entry.name.startswith(PREFIX)):
            if _clear(place / name):
                gone.append(place / name)
    return gone


def _clear(path: Path) -> bool:
    try:
        # NOFOLLOW: the target of a link is not ours to remove.
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(lock).st_uid != os.geteuid():
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    # Another process holds the lock.
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _make() -> _Locked:
    while True:
        try:
            path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=scratch_place()))
        except OSError as error:
            raise no_room(error, 0) from error
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        # Another process removed the folder before it was locked.
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        # The file system has no locks; then no other process removes the folder either.
        except OSError:
            pass
        if _is_there(path, lock):
            return _Locked(path, lock, os.getpid())
        os.close(lock)


def _is_there(path: Path, lock: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(lock))
    except FileNotFoundError:
        return False


def _remove_held() -> None:
    while _held:
        _held.pop().remove()
