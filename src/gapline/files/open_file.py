"""Open untrusted files safely: regular files only, never a pipe or a device, up to a size limit."""

import errno
import io
import os
import stat
import time
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from gapline.errors import UsageError

# NONBLOCK: opening a pipe would wait for a writer. NOCTTY: a terminal could become our controlling terminal.
HOW = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISSOCK, "a socket"),
)


def open_regular(path: str | Path) -> BufferedReader:
    """Open a regular file for reading bytes.

    Raises
    ------
    OSError
        When the file does not exist or is not a regular file; the message says what it is instead.
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
    """Refuse a path with a NUL character, for which Python raises an error that does not name the path."""
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "expected a file, got a path with a NUL character", str(path))


def refuse_odd(handle: int, path: str | Path) -> None:
    """Refuse an open file that is not a regular file; the error says what it is."""
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "expected a file, got a directory", str(path))
    if not stat.S_ISREG(mode):
        what = next((name for is_kind, name in _KINDS if is_kind(mode)), "something else")
        raise OSError(errno.EINVAL, f"expected a file, got {what}", str(path))


def reason_of(error: OSError) -> str:
    """Return why a file cannot be read, from the system's or `open_regular`'s message, without the file name.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "x"))
    'no such file'
    """
    if isinstance(error, FileNotFoundError):
        return "no such file"
    words = error.strerror or str(error) or type(error).__name__
    words = words.removeprefix("expected a file, got ").removeprefix("expected less, got ")
    return words[0].lower() + words[1:]


VARIABLE = "GAPLINE_MOST_BYTES"
_DEFAULT = 4 << 30
# A replication package has separate limits, because it holds the files of thousands of runs.
PACKAGE_BYTES, PACKAGE_MEMBERS = "GAPLINE_MOST_PACKAGE_BYTES", "GAPLINE_MOST_PACKAGE_MEMBERS"
# Parsed documents take many times their size as Python objects, so their limit is lower than that of tables and logs.
_DOCUMENT_SHARE = 16
# Seconds to wait until a writer opens a pipe.
_PATIENCE = 2.0


def most_bytes() -> int:
    """Return the size limit of an unpacked file in bytes: GAPLINE_MOST_BYTES, by default 4 GiB."""
    return _number(VARIABLE, _DEFAULT, "bytes")


def most_package_bytes() -> int:
    """Return the size limit of an unpacked replication package: GAPLINE_MOST_PACKAGE_BYTES, by default 8 GiB."""
    return _number(PACKAGE_BYTES, 8 << 30, "bytes")


def most_package_members() -> int:
    """Return the member limit of a replication package: GAPLINE_MOST_PACKAGE_MEMBERS, by default 200,000."""
    return _number(PACKAGE_MEMBERS, 200_000, "members")


def _number(variable: str, default: int, what: str) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UsageError(f"{variable}: expected a number of {what}, got {text!r}")
    return int(text)


def most_document() -> int:
    """Return the size limit of a contract, a snapshot or a JSON record in bytes: by default 256 MiB."""
    return most_bytes() // _DOCUMENT_SHARE


def too_much(path: Path | str, most: int, *, what: str = "bytes") -> OSError:
    """Return the error for a file that exceeds a limit."""
    times = "" if most == most_bytes() else f" (a {most_bytes() // most}th of it)"
    said = f"expected less, got more than {most:,} {what}, the limit that {VARIABLE}{times} raises"
    return OSError(errno.EFBIG, said, str(path))


def open_input(path: Path | str) -> BinaryIO:
    """Open a trace or log named by the user; it may be a pipe, but not a device or a pipe without a writer.

    For the files of a study use `open_regular`.
    """
    file = os.open(path, HOW)
    try:
        is_pipe = stat.S_ISFIFO(os.fstat(file).st_mode)
        if not is_pipe:
            refuse_odd(file, path)
        first = _first_of_pipe(file, path) if is_pipe else b""
        os.set_blocking(file, True)
        return io.BufferedReader(_Pipe(file, first), 1 << 16) if first else os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise


class _Pipe(io.RawIOBase):
    """A pipe whose first bytes were already read."""

    def __init__(self, file: int, first: bytes) -> None:
        super().__init__()
        self._file, self._first = file, first

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file

    def readinto(self, target: Any) -> int:
        data = self._first or os.read(self._file, len(target))
        self._first = data[len(target) :]
        size = min(len(data), len(target))
        target[:size] = data[:size]
        return size

    def close(self) -> None:
        if not self.closed:
            os.close(self._file)
        super().close()


def _first_of_pipe(file: int, path: Path | str) -> bytes:
    """Return the bytes available in a pipe, or none if its writer has not written yet; refuse one without a writer."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            if first := os.read(file, 1 << 16):
                return first
        except BlockingIOError:
            return b""
        time.sleep(0.02)
    raise OSError(errno.EINVAL, "expected a file, got a pipe that nobody writes to", str(path))


def read_regular(path: Path | str, *, most: int | None = None) -> bytes:
    """Read a whole file of a study, up to `most` bytes or the document limit; a pipe is refused without waiting."""
    limit = most_document() if most is None else most
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        # Refuse by size before reading.
        if size > limit:
            raise too_much(path, limit)
        data = io.BytesIO()
        # Read in pieces, because a read of `limit` bytes would allocate them; to the end, because the file may grow.
        while piece := stream.read(max(size - data.tell(), 1 << 20)):
            data.write(piece)
            if data.tell() > limit:
                raise too_much(path, limit)
    return data.getvalue()


def read_document(path: Path | str) -> bytes:
    """Read a contract, a snapshot or a record in JSON, within the limit of documents."""
    return read_regular(path)
