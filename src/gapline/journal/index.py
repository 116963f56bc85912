"""What is known of attempts that were read before: `journal/index.jsonl`, so that a done run is not parsed again.

    {"at":"hgs_x_1_e40f34790c/attempt-001","by":"…","files":[["events.jsonl",…]],"order":{…},"ending":{…},…,"crc":"…"}

A line per attempt, each sealed by itself; the last one on an attempt counts. It is believed as long as every file of
the attempt has the size, the times (the one of the last change, which nobody can set, among them) and the inode under
which it was read, and is read anew otherwise. Only attempts that have ended and verify are in it. It is no record: an
index that is lost, damaged, torn or of another version costs time and nothing else.
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

# A gapline that reads more out of the same journal must not believe what an older one read.
BY = f"{VERSION}/2"
# Two changes of a file inside one tick of the system's clock leave the same time: a file is believed to be the one that
# was read only if it was left alone for longer than that before it was read.
TICK = 0.02
_BEGIN = b'{"at":"'
_MOST_LINE = 1 << 24
_MOST_WAITING = 1 << 23
_WASTE = 1000


class FileFacts(NamedTuple):
    """By which a file is known to be the one that was read: name, size, times in nanoseconds, inode."""

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
    """Of a line: what is needed to know whose verdicts there are."""

    at: str
    by: str
    files: list[FileFacts]
    verdicts: list[_SeenVerdicts] = []

    @property
    def mark(self) -> str:
        """A word that another attempt, or this one with another file, does not have."""
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


# Of an outcome, what a line repeats.
_REPEATED = ("order", "ending", "solver", "version", "model", "claim", "resolutions", "checksum", "asked")


class Seen(NamedTuple):
    """An attempt and its verdict files; `mark` names its state, None where the index cannot know it again."""

    outcome: Outcome
    verdicts: list[VerdictFacts]
    mark: str | None


_Of = TypeVar("_Of", bound=_Judged)


class Index:
    """What is known of the attempts of a study; `parsed` counts the journals that had to be read.

    One that is not opened knows nothing, and without `keep` it learns nothing either: everything is read. What one that
    is `apart` learns is for another process to take over: it writes nothing.
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
        """Note where the line of each attempt is; what it says is looked at when it is asked for."""
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
        """Return all attempts at a cell, read or known."""
        return CellRecord(cell, [self.read(attempt).outcome for attempt in attempts_of(cell)])

    def read(self, attempt: Path) -> Seen:
        """Return what is known of an attempt, and read what is not; events are in it where its journal was read."""
        files, line = _facts(attempt), self._line(attempt, _Line)
        if line is None or files is None or not _same_journal(line.files, files):
            return self._read(attempt, files)
        known = Outcome(attempt / EVENTS_FILE, **{name: getattr(line, name) for name in _REPEATED})
        if line.files == files:
            return Seen(known, _verdicts(line, attempt), line.mark)
        # Somebody judged it since: whatever the verdicts are, the journal is the one that was read.
        return self._note(attempt, _settled(files), known)

    def verdicts(self, attempt: Path) -> tuple[list[VerdictFacts], str | None]:
        """Return the verdict files of an attempt without reading its journal, and its mark where it is known."""
        line = self._line(attempt, _Judged)
        if line is not None and line.files == _facts(attempt):
            return _verdicts(line, attempt), line.mark
        return list(scan_verdicts(attempt)), None

    def read_anew(self, attempt: Path) -> Seen:
        """Read an attempt whatever is known of it: damage below the file system changes no size and no time."""
        seen = self._read(attempt, _facts(attempt))
        key = self._key(attempt)
        if seen.mark is None and (key in self._places or (self._apart and key)):
            # A line that no files fit: what the one before said counts no more.
            self._add(key, _Judged(self._name(attempt), BY, []))
        return seen

    def learned(self) -> dict[bytes, bytes]:
        """Return what was learned apart, for the process that keeps the index."""
        return self._fresh

    def take_over(self, learned: dict[bytes, bytes]) -> None:
        """Add what was learned apart."""
        for key, line in learned.items():
            self._keep_line(key, line)

    def save(self) -> None:
        """Add what was read to the file; where it cannot be written, it is read again another time."""
        fresh, self._fresh, self._waiting = self._fresh, {}, 0
        if not fresh:
            return
        for key in fresh:
            self._places.pop(key, None)
        with contextlib.suppress(OSError), locked(self._path) as file:
            size = os.fstat(file).st_size
            # A writer that was killed may have left half a line: the next one begins on its own.
            torn = bool(size) and os.pread(file, 1, size - 1) != b"\n"
            # Not synced: what a crash takes is read again.
            os.write(file, b"\n" * torn + b"".join(fresh.values()))

    def tidy(self) -> None:
        """Leave out the lines that later ones replaced, once they are most of the file."""
        if self.lines <= 2 * len(self._places) + _WASTE:
            return

        def write(stream: IO[bytes]) -> None:
            for key in now._places:
                stream.write(now._bytes(key))

        with contextlib.suppress(OSError), locked(self._path), closing(Index(self._path.parent.parent)) as now:
            # Under the lock and as it stands now: others may have added to it.
            now.open()
            write_atomically(self._path, write)

    def _read(self, attempt: Path, files: list[FileFacts] | None) -> Seen:
        settled = _settled(files)
        self.parsed += 1
        return self._note(attempt, settled, read_journal(attempt))

    def _note(self, attempt: Path, files: list[FileFacts] | None, outcome: Outcome) -> Seen:
        """Take an attempt into the index, if it has ended, verifies, and did not change while it was read."""
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
        """Return the name of an attempt as it stands in a line; nothing for one that is no text."""
        try:
            return msgspec.json.encode(self._name(attempt))[1:-1]
        except UnicodeEncodeError:
            return b""

    def _bytes(self, key: bytes) -> bytes:
        place, size = self._places.get(key, (0, 0))
        return os.pread(self._file.fileno(), size, place) if self._file is not None and size else b""

    def _line(self, attempt: Path, kind: type[_Of]) -> _Of | None:
        """Return the line on an attempt, None where there is none that can be believed."""
        key = self._key(attempt)
        with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
            data = self._fresh.get(key) or self._bytes(key)
            line = msgspec.json.decode(unseal(data.removesuffix(b"\n"), 0)[0], type=kind)
            return line if (line.by, line.at) == (BY, self._name(attempt)) else None
        return None


@contextmanager
def open_index(study: Path) -> Iterator[Index]:
    """Open the index of a study, and save what was read meanwhile."""
    index = Index(study)
    index.open()
    try:
        yield index
        index.save()
        index.tidy()
    finally:
        index.close()


def _facts(attempt: Path) -> list[FileFacts] | None:
    """Return what the files of an attempt are known by; None where one of them is no file."""
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
    """Wait until a further change of the files would show in their times; None where that takes longer than a tick."""
    wait = max((file.changed for file in files or ()), default=0) / 1e9 + TICK - time.time()
    if wait > TICK:
        # Another clock than ours.
        return None
    time.sleep(max(0.0, wait))
    return files


def _same_journal(one: list[FileFacts], other: list[FileFacts]) -> bool:
    return [file for file in one if not is_verdict_file(file.name)] == [
        file for file in other if not is_verdict_file(file.name)
    ]


def _verdicts(line: _Judged, attempt: Path) -> list[VerdictFacts]:
    return [VerdictFacts(attempt / one.name, one.head, one.judged, one.torn, None, one.sealed) for one in line.verdicts]
