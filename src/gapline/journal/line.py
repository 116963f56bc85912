"""One line of a journal: a JSON object chained to the line before it by a checksum, appended whole or not at all."""

import os
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

SCHEMA = "gapline.journal/1"
RECORD_SCHEMA = "gapline.record/1"
EVENTS_FILE = "events.jsonl"
ORDER_FILE = "run.json"
# Output of the solver that is not an event, and the checker's standard error.
OUTPUT_LOG, ERROR_LOG, CHECKER_LOG = LOG_FILES = ("stdout.log", "stderr.log", "checker.log")

# Matched at the end of the line: a solver can print the same characters inside its own line.
_TAIL = re.compile(rb',"crc":"([0-9a-f]{8})"\}\Z')


def seal(body: bytes, previous: int) -> tuple[bytes, int]:
    r"""Close a line: `body` is a JSON object without its last brace, `previous` the checksum of the line before.

    >>> line, checksum = seal(b'{"seq":0', 0)
    >>> line
    b'{"seq":0,"crc":"fb6446ea"}\n'
    >>> unseal(line.rstrip(), 0) == (b'{"seq":0}', checksum)
    True
    """
    # CRC-32 finds accidents and careless edits; it is not a signature, and a forger can compute it.
    checksum = zlib.crc32(body, previous)
    return b'%b,"crc":"%08x"}\n' % (body, checksum), checksum


def is_sealed(line: bytes) -> bool:
    """Whether a line without its newline ends in a checksum, correct or not."""
    return _TAIL.search(line) is not None


def unseal(line: bytes, previous: int) -> tuple[bytes, int]:
    """Return the JSON object of a line without its newline, and its checksum.

    Raises
    ------
    ValueError
        When the line is not one that `seal` closed after the line with checksum `previous`.
    """
    tail = _TAIL.search(line)
    if tail is None:
        raise ValueError("expected a line that ends in its checksum")
    stated = int(tail.group(1), 16)
    body = line[: tail.start()]
    found = zlib.crc32(body, previous)
    if found != stated:
        raise ValueError(f"expected checksum {found:08x}, got {stated:08x}")
    return body + b"}", stated


class JournalError(OSError):
    """The disk did not take a line; the journal was cut back to its last whole line."""


class JournalWriter:
    """A new journal file.

    No line is spread over two writes: lines that arrived together go into one `write`. If the disk takes less than it
    was given (a full disk first returns a short count and no error), the file is cut back to its last whole line.
    """

    def __init__(self, path: Path) -> None:
        # O_EXCL: an attempt is never overwritten, even if another process believes it owns the cell.
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
                # After a short count, the next call either raises the actual error or writes the rest.
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            # A partial line would make all later lines unreadable; after the cut, the journal can continue.
            os.ftruncate(self._file, self.size)
            raise JournalError(
                error.errno,
                f"{self.path}: {os.strerror(error.errno or 0)}; {len(rest)} more bytes were needed for the events",
            ) from error

    def sync(self) -> None:
        """Flush everything written since the last call to the disk."""
        if self._dirty:
            self._dirty = False
            try:
                # fdatasync also syncs the length of the file, but not its time stamps, which would cost another write.
                os.fdatasync(self._file)
            except OSError as error:
                raise JournalError(
                    error.errno, f"{self.path}: {os.strerror(error.errno or 0)} while syncing {self.size} bytes"
                ) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
