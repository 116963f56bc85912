"""The one way to write a file: under a hidden name, then renamed, so that a killed writer leaves the old file whole.

What such a writer leaves behind is cleared by the next one that writes the same file; what a living one has under way
is locked, and stays.
"""

import contextlib
import errno
import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from gapline.errors import UsageError, found_at
from gapline.model.regular import refuse_nul

SUFFIX = ".gapline"
# Seconds after which a file that is empty and not locked is no longer one that is just being made.
_JUST_MADE = 60.0


class WatchedFile:
    """A file to write to that remembers how much it was given, and what went wrong: not every writer passes it on."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.given = 0
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write bytes."""
        self.given += memoryview(data).nbytes
        try:
            return self._stream.write(data)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        """Hand everything over to the system."""
        try:
            self._stream.flush()
        except OSError as error:
            self.error = error
            raise

    def sync(self) -> None:
        """Wait until the disk has everything."""
        self.flush()
        os.fsync(self._stream.fileno())


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
    with naming(path) as watch:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_stale(path)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path), suffix=SUFFIX)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                # Some network file systems have no locks: there nothing is cleared either.
                with contextlib.suppress(OSError):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                watched = watch(WatchedFile(stream))
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
def naming(path: Path) -> Iterator[Callable[[WatchedFile], WatchedFile]]:
    """Let failures of the system name the file that was to be written, and the bytes where they are known."""
    refuse_nul(path)
    watched: list[WatchedFile] = []

    def watch(file: WatchedFile) -> WatchedFile:
        watched.append(file)
        return file

    try:
        yield watch
    except Exception as error:
        # A writer in Rust says in words of its own that the disk is full.
        failure = next((file.error for file in watched if file.error is not None), error)
        if not isinstance(failure, OSError):
            raise
        given = sum(file.given for file in watched)
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
