"""Locks on files of a study, released when the last process closes the file, so that a crash leaves no lock."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gapline.files.open_file import refuse_odd


def open_lock(path: Path) -> int:
    """Open a file to lock it; create it if it does not exist."""
    # NOFOLLOW: in a directory that others can write to, a link could make us create or truncate a file elsewhere.
    how = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    file = os.open(path, how, 0o644)
    try:
        # A write to a pipe blocks as soon as the pipe is full and nothing reads it.
        refuse_odd(file, path)
    except BaseException:
        os.close(file)
        raise
    return file


def lock_now(file: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file without waiting; return False if it is already locked."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Wait for the lock on a file and hold it; yield the open file."""
    file = open_lock(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def append_whole(file: int, line: bytes) -> None:
    """Append a line to a locked file and sync it to disk; after a failure, truncate the file to its former size."""
    size = os.fstat(file).st_size
    rest = memoryview(line)
    try:
        while rest:
            # A nearly full disk accepts part of the data first; the next call fails.
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except OSError as error:
        os.ftruncate(file, size)
        raise OSError(
            error.errno, f"{os.strerror(error.errno or 0)}, {len(line):,} bytes were to be written"
        ) from error
