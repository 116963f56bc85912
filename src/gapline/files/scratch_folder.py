"""Private folders for what has to lie in files under names while a process lasts, and nothing of it afterwards.

A folder is locked by the process that made it, so that the system itself says whether that one still lives: what one
that was killed left behind is removed by the next that looks.
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
    """A folder and the lock on it, and whose they are: a fork has the lock too, and is not to remove the folder."""

    path: Path
    lock: int
    process: int

    def remove(self) -> None:
        if self.process == os.getpid():
            # The lock goes last: nobody else has to look at what is half removed.
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)


_held: list[_Locked] = []


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a private folder, which is removed at the end."""
    made = _make()
    try:
        yield made.path
    finally:
        made.remove()


def keep_folder() -> Path:
    """Make a private folder, which is removed when the process ends, or by `release_folder`."""
    if not _held:
        atexit.register(_remove_held)
    made = _make()
    _held.append(made)
    return made.path


def release_folder(path: Path) -> None:
    """Remove a folder that is held."""
    for made in [one for one in _held if one.path == path]:
        _held.remove(made)
        made.remove()


def clear_leftovers() -> list[Path]:
    """Remove the folders of processes that are gone, those of this user alone, and return which they were."""
    gone = []
    # A full disk has no place for a scratch folder, nor leftovers that anybody could be told of.
    with suppress(OSError):
        place = scratch_place()
        for name in sorted(entry.name for entry in os.scandir(place) if entry.name.startswith(PREFIX)):
            if _clear(place / name):
                gone.append(place / name)
    return gone


def _clear(path: Path) -> bool:
    try:
        # No link: what it leads to is not ours to remove.
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(lock).st_uid != os.geteuid():
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    # Somebody works in it.
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
        # Cleared by somebody who found it before it was locked.
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        # A file system that knows no locks: then nobody clears it either.
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
