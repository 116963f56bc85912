"""Locks on files of a study: they end with the last process that has the file open, so that no crash leaves one."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gapline.files.open_file import refuse_odd


def open_lock(path: Path) -> int:
    """Open a file to lock it, made where it is not there yet."""
    # NOFOLLOW: in a directory that others can write to, a link could make us create or truncate a file elsewhere.
    how = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    file = os.open(path, how, 0o644)
    try:
        # A pipe takes what is written to it until it is full, and then waits for a reader.
        refuse_odd(file, path)
    except BaseException:
        os.close(file)
        raise
    return file


def lock_now(file: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file, unless somebody else has locked it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Wait for the lock on a file and hold it; yields the open file."""
    file = open_lock(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def append_whole(file: int, line: bytes) -> None:
    """Append a line to a locked file and wait for the disk, or leave the file as it was: half a line spoils it."""
    size = os.fstat(file).st_size
    rest = memoryview(line)
    try:
        while rest:
            # A full disk takes a part first, and says so at the next call.
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except OSError as error:
        os.ftruncate(file, size)
        raise OSError(
            error.errno, f"{os.strerror(error.errno or 0)}, {len(line):,} bytes were to be written"
        ) from error
