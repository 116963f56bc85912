"""Append sealed lines to a journal, whole or not at all."""

import os
from collections.abc import Iterable
from pathlib import Path

from gapline.journal.line import seal


class JournalError(OSError):
    """The disk did not take a line; the journal was cut back to its last whole line."""


class JournalWriter:
    """A new journal file.

    No line is spread over two writes: lines that arrived together go into one `write`. When the disk takes less than it
    was given (a full disk first answers with a short count and no error), the file is cut back to its last whole line.
    """

    def __init__(self, path: Path) -> None:
        # O_EXCL: an attempt is never overwritten, whoever else believes to own the cell.
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.path = path
        self.sequence = 0
        self.size = 0
        self._checksum = 0
        self._dirty = False

    def append(self, bodies: Iterable[bytes]) -> None:
        """Write JSON objects, given from their second field on: `"t":0.5,"say":{}` without braces."""
        lines = []
        sequence, checksum = self.sequence, self._checksum
        for body in bodies:
            line, checksum = seal(b'{"seq":%d,%b' % (sequence, body), checksum)
            lines.append(line)
            sequence += 1
        data = b"".join(lines)
        self._write_whole(data)
        self.sequence, self._checksum = sequence, checksum
        self.size += len(data)
        self._dirty = True

    def _write_whole(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                # A short count is followed by the true error on the next call, or by the rest.
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            # A partial line would make every later one unreadable; cut back, the journal can go on.
            os.ftruncate(self._file, self.size)
            raise JournalError(
                error.errno,
                f"{self.path}: {os.strerror(error.errno or 0)}; {len(rest)} more bytes were needed for the events",
            ) from error

    def sync(self) -> None:
        """Ask the disk to keep what was written since the last call."""
        if self._dirty:
            self._dirty = False
            try:
                # The length of the file is data too and is synced; its time stamps, which cost another write, are not.
                os.fdatasync(self._file)
            except OSError as error:
                raise JournalError(
                    error.errno, f"{self.path}: {os.strerror(error.errno or 0)} while syncing {self.size} bytes"
                ) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
