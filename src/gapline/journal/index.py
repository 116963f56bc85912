"""The index of attempts that were read before, `journal/index.jsonl`, so that finished runs are not parsed again.

    {"at":"hgs_x_1_e40f34790c/attempt-001","by":"…","files":[["events.jsonl",…]],"order":{…},"ending":{…},…,"crc":"…"}

One line per attempt, each with its own checksum; the last line on an attempt counts. A line is valid as long as every
file of the attempt still has the size, the times (including the time of the last change, which no program can set) and
the inode that it had when it was read; otherwise the attempt is read again. Only attempts that have ended and verify
are in the index. It is a cache: an index that is lost, damaged, torn or of another version costs only time.
"""

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, TypeVar

import msgspec

from gapline.contract.layout import INDEX, JOURNALS
from gapline.contract.version import VERSION
from gapline.files.atomic_write import write_atomically
from gapline.files.locks import locked
from gapline.files.open_file import open_regular
from gapline.journal.attempts import CellRecord, attempts_of
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, seal, unseal
from gapline.journal.read import JournalState, Outcome, read_journal
from gapline.journal.records import Ending, Order
from gapline.journal.verdicts import VerdictFacts, VerdictsHead, is_verdict_file, read_verdicts, scan_verdicts

# A newer gapline that reads more from a journal must not use the lines of an older one.
BY = f"{VERSION}/2"
# Two changes of a file within one tick of the system's clock have the same time: a file counts as unchanged only if it
# was left alone for longer than that before it was read.
TICK = 0.02
_BEGIN = b'{"at":"'
_MOST_LINE = 1 << 24
_MOST_WAITING = 1 << 23
_WASTE = 1000


class FileFacts(NamedTuple):
    """The facts that identify the file that was read: name, size, times in nanoseconds, inode."""

    name: str
    size: int
    modified: int
    changed: int
    inode: int


class _SeenVerdicts(msgspec.Struct, array_like=True):
    name: str
    head: VerdictsHead
    judged: int
    torn: int
    sealed: bool


class _Judged(msgspec.Struct):
    """The part of a line that says whose verdicts an attempt has."""

    at: str
    by: str
    files: list[FileFacts]
    verdicts: list[_SeenVerdicts] = []

    @property
    def mark(self) -> str:
        """A digest that no other attempt has, and that changes with any file of this one."""
        return hashlib.sha256(msgspec.json.encode([self.at, self.by, self.files])).hexdigest()[:32]


class _Line(_Judged, omit_defaults=True, kw_only=True):
    order: Order
    ending: Ending
    solver: str | None = None
    version: str | None = None
    model: str | None = None
    claim: str | None = None
    resolutions: dict[str, float] = {}
    checksum: int = 0
    asked: int = 0


# The fields of an outcome that a line repeats.
_REPEATED = ("order", "ending", "solver", "version", "model", "claim", "resolutions", "checksum", "asked")


class Seen(NamedTuple):
    """An attempt and its verdict files; `mark` identifies its state, None if the index cannot recognise it again."""

    outcome: Outcome
    verdicts: list[VerdictFacts]
    mark: str | None


_Of = TypeVar("_Of", bound=_Judged)


class Index:
    """The index of a study's attempts; `parsed` counts the journals that had to be read.

    An index that is not opened knows nothing, and without `keep` it learns nothing either: everything is read. An index
    that is `apart` writes nothing: another process takes over what it learns.
    """

    def __init__(self, study: Path, *, keep: bool = True, apart: bool = False) -> None:
        self._keep = keep
        self._apart = apart
        self._path = study / JOURNALS / INDEX
        self._places: dict[bytes, tuple[int, int]] = {}
        self._fresh: dict[bytes, bytes] = {}
        self._waiting = 0
        self._file: BinaryIO | None = None
        self.lines = 0
        self.parsed = 0

    def open(self) -> None:
        """Note where the line of each attempt is; the lines are decoded on demand."""
        try:
            stream = open_regular(self._path)
        except OSError:
            return
        self._file, place = stream, 0
        with contextlib.suppress(OSError):
            while (line := stream.readline(_MOST_LINE)).endswith(b"\n"):
                if line.startswith(_BEGIN) and (end := line.find(b'"', len(_BEGIN))) > 0:
                    self._places[line[len(_BEGIN) : end]] = (place, len(line))
                self.lines += 1
                place += len(line)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def read_cell(self, cell: Path) -> CellRecord[Outcome]:
        """Return all attempts at a cell, from the index or read."""
        return CellRecord(cell, [self.read(attempt).outcome for attempt in attempts_of(cell)])

    def read(self, attempt: Path) -> Seen:
        """Return an attempt from the index, or read it; it has events only if its journal was read."""
        files, line = _facts(attempt), self._line(attempt, _Line)
        if line is None or files is None or not _same_journal(line.files, files):
            return self._read(attempt, files)
        known = Outcome(attempt / EVENTS_FILE, **{name: getattr(line, name) for name in _REPEATED})
        if line.files == files:
            return Seen(known, _verdicts(line, attempt), line.mark)
        # Only verdict files changed: the journal is still the one that was read.
        return self._note(attempt, _settled(files), known)

    def verdicts(self, attempt: Path) -> tuple[list[VerdictFacts], str | None]:
        """Return the verdict files of an attempt without reading its journal, and its mark if it is in the index."""
        line = self._line(attempt, _Judged)
        if line is not None and line.files == _facts(attempt):
            return _verdicts(line, attempt), line.mark
        return list(scan_verdicts(attempt)), None

    def read_anew(self, attempt: Path) -> Seen:
        """Read an attempt even if it is in the index: damage below the file system changes no size and no time."""
        seen = self._read(attempt, _facts(attempt))
        key = self._key(attempt)
        if seen.mark is None and (key in self._places or (self._apart and key)):
            # A line without files never matches: it invalidates the line before it.
            self._add(key, _Judged(self._name(attempt), BY, []))
        return seen

    def learned(self) -> dict[bytes, bytes]:
        """Return what this index learned, for the process that keeps the index."""
        return self._fresh

    def take_over(self, learned: dict[bytes, bytes]) -> None:
        """Add the lines that another process learned."""
        for key, line in learned.items():
            self._keep_line(key, line)

    def save(self) -> None:
        """Append the new lines to the file; if it cannot be written, the attempts are read again next time."""
        fresh, self._fresh, self._waiting = self._fresh, {}, 0
        if not fresh:
            return
        for key in fresh:
            self._places.pop(key, None)
        with contextlib.suppress(OSError), locked(self._path) as file:
            size = os.fstat(file).st_size
            # A killed writer may have left half a line: start on a new one.
            torn = bool(size) and os.pread(file, 1, size - 1) != b"\n"
            # Not synced: attempts whose lines a crash loses are read again.
            os.write(file, b"\n" * torn + b"".join(fresh.values()))

    def tidy(self) -> None:
        """Rewrite the file without replaced lines, once they are most of it."""
        if self.lines <= 2 * len(self._places) + _WASTE:
            return

        def write(stream: IO[bytes]) -> None:
            for key in now._places:
                stream.write(now._bytes(key))

        with contextlib.suppress(OSError), locked(self._path), closing(Index(self._path.parent.parent)) as now:
            # Read again under the lock: other processes may have added lines.
            now.open()
            write_atomically(self._path, write)

    def _read(self, attempt: Path, files: list[FileFacts] | None) -> Seen:
        settled = _settled(files)
        self.parsed += 1
        return self._note(attempt, settled, read_journal(attempt))

    def _note(self, attempt: Path, files: list[FileFacts] | None, outcome: Outcome) -> Seen:
        """Add an attempt to the index if it has ended, verifies, and did not change while it was read."""
        verdicts: list[VerdictFacts] = list(read_verdicts(outcome))
        sound = outcome.state is not JournalState.QUARANTINED and outcome.unordered is None and not outcome.torn
        if not sound or outcome.ending is None or outcome.order is None or any(one.damage for one in verdicts):
            return Seen(outcome, verdicts, None)
        key = self._key(attempt)
        if not key or files is None or files != _facts(attempt):
            return Seen(outcome, verdicts, None)
        seen = [
            _SeenVerdicts(one.path.name, one.head, one.judged, one.torn, one.sealed)
            for one in verdicts
            if one.head is not None
        ]
        repeated = {name: getattr(outcome, name) for name in _REPEATED}
        line = _Line(at=self._name(attempt), by=BY, files=files, verdicts=seen, **repeated)
        self._add(key, line)
        return Seen(outcome, verdicts, line.mark)

    def _add(self, key: bytes, line: _Judged) -> None:
        if not self._keep:
            return
        self._keep_line(key, seal(msgspec.json.encode(line)[:-1], 0)[0])

    def _keep_line(self, key: bytes, line: bytes) -> None:
        self._fresh[key] = line
        self._waiting += len(line)
        if self._waiting > _MOST_WAITING and not self._apart:
            self.save()

    def _name(self, attempt: Path) -> str:
        return f"{attempt.parent.name}/{attempt.name}"

    def _key(self, attempt: Path) -> bytes:
        """Return the name of an attempt as in its line; empty if it cannot be encoded."""
        try:
            return msgspec.json.encode(self._name(attempt))[1:-1]
        except UnicodeEncodeError:
            return b""

    def _bytes(self, key: bytes) -> bytes:
        place, size = self._places.get(key, (0, 0))
        return os.pread(self._file.fileno(), size, place) if self._file is not None and size else b""

    def _line(self, attempt: Path, kind: type[_Of]) -> _Of | None:
        """Return the line on an attempt; None if there is no valid one."""
        key = self._key(attempt)
        with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
            data = self._fresh.get(key) or self._bytes(key)
            line = msgspec.json.decode(unseal(data.removesuffix(b"\n"), 0)[0], type=kind)
            return line if (line.by, line.at) == (BY, self._name(attempt)) else None
        return None


@contextmanager
def open_index(study: Path) -> Iterator[Index]:
    """Open the index of a study, and save what was read in the meantime."""
    index = Index(study)
    index.open()
    try:
        yield index
        index.save()
        index.tidy()
    finally:
        index.close()


def _facts(attempt: Path) -> list[FileFacts] | None:
    """Return the facts of an attempt's files; None if one of them is not a regular file."""
    found = []
    try:
        with os.scandir(attempt) as entries:
            for entry in entries:
                if entry.name in (EVENTS_FILE, ORDER_FILE) or is_verdict_file(entry.name):
                    facts = entry.stat()
                    if not stat.S_ISREG(facts.st_mode):
                        return None
                    times = facts.st_mtime_ns, facts.st_ctime_ns
                    found.append(FileFacts(entry.name, facts.st_size, *times, facts.st_ino))
    except OSError:
        return None
    return sorted(found)


def _settled(files: list[FileFacts] | None) -> list[FileFacts] | None:
    """Wait until a further change of the files would show in their times; None if that takes longer than a tick."""
    wait = max((file.changed for file in files or ()), default=0) / 1e9 + TICK - time.time()
    if wait > TICK:
        # The file system uses another clock than this machine.
        return None
    time.sleep(max(0.0, wait))
    return files


def _same_journal(one: list[FileFacts], other: list[FileFacts]) -> bool:
    return [file for file in one if not is_verdict_file(file.name)] == [
        file for file in other if not is_verdict_file(file.name)
    ]


def _verdicts(line: _Judged, attempt: Path) -> list[VerdictFacts]:
    return [VerdictFacts(attempt / one.name, one.head, one.judged, one.torn, None, one.sealed) for one in line.verdicts]
