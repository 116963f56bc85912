"""Files that are files: a pipe, a device or a socket in the place of one is refused and never waited for."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

# NONBLOCK: opening a pipe waits for a writer, who may never come. NOCTTY: a terminal would become ours.
HOW = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISSOCK, "a socket"),
)


def open_regular(path: str | Path) -> BufferedReader:
    """Open a regular file to read its bytes.

    Raises
    ------
    OSError
        When there is none, or something that is no file; its text says what there is.
    """
    refuse_nul(path)
    handle = os.open(path, HOW)
    try:
        refuse_odd(handle, path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def refuse_nul(path: str | Path) -> None:
    """Refuse a path that no system has: where it has a NUL character, Python raises an error without its name."""
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "expected a file, got a path with a NUL character", str(path))


def refuse_odd(handle: int, path: str | Path) -> None:
    """Refuse what was opened where it is no file; the error says what it is."""
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "expected a file, got a directory", str(path))
    if not stat.S_ISREG(mode):
        what = next((name for is_kind, name in _KINDS if is_kind(mode)), "something else")
        raise OSError(errno.EINVAL, f"expected a file, got {what}", str(path))


def reason_of(error: OSError) -> str:
    """Say why a file cannot be read, in the words of the system or of `open_regular`, without the name of the file.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "x"))
    'no such file'
    """
    if isinstance(error, FileNotFoundError):
        return "no such file"
    words = error.strerror or str(error) or type(error).__name__
    words = words.removeprefix("expected a file, got ").removeprefix("expected less, got ")
    return words[0].lower() + words[1:]
