"""The verdicts of checkers on the candidates of an attempt, one file per checker version; they are never mixed.

    {"checker":"cvrp","version":"1","checked":"2026-08-01…","candidates":2,"journal":"89abcdef","crc":"…"}
    {"seq":1,"valid":true,"objective":9.5,"crc":"…"}
    {"seq":3,"valid":false,"reason":"…","crc":"…"}

Lines are sealed like those of the journal (`line.py`), and the first line holds the checksum of the journal's last
line: a line that was changed, swapped, doubled, dropped or copied from another file does not verify, nor do verdicts on
another run. Bytes after the last newline are a torn tail, and the lines before it count. Any other damage quarantines
the file: its run waits for verdicts. Files of earlier versions without checksums are read, but reported as unprotected.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from gapline.contract.layout import file_slug
from gapline.files.atomic_write import write_atomically
from gapline.files.open_file import most_bytes, read_regular, reason_of
from gapline.journal.line import seal, unseal
from gapline.journal.read import Outcome

_PREFIX, _SUFFIX = "verdicts-", ".jsonl"
_PROGRAM = "command:"


class Judge(NamedTuple):
    """A checker version that judged runs; `given` is its name in a contract or on the command line."""

    name: str
    version: str
    given: str | None = None

    @property
    def label(self) -> str:
        """Name and version, as printed with every output."""
        return f"{self.name} {self.version}"

    def is_of(self, contract: str) -> bool:
        """Whether this is the checker that a contract names, in any version."""
        if self.given is not None:
            return self.given == contract
        # Verdicts of earlier versions do not record this, and a program's own name differs from its command.
        return self.name == contract or (contract.startswith(_PROGRAM) and self.name.startswith(_PROGRAM))


class VerdictsHead(msgspec.Struct, frozen=True):
    """The first line of a verdict file: checker, moment, number of candidates to judge, and checksum of the journal."""

    checker: str
    version: str
    checked: str
    candidates: int
    journal: str
    # Its name in a contract or on the command line; the name that a program gives itself may differ.
    given: str | None = None

    @property
    def label(self) -> str:
        """Name and version, as printed with every output."""
        return f"{self.checker} {self.version}"

    @property
    def judge(self) -> "Judge":
        """The checker that judged."""
        return Judge(self.checker, self.version, self.given)

    @property
    def files(self) -> tuple[str, ...]:
        """The two possible names of the file; the second if the first is taken by another checker of the same name."""
        stem = f"verdicts-{file_slug(self.checker)}-{file_slug(self.version)}"
        apart = hashlib.sha256((self.given or "").encode()).hexdigest()[:8]
        return f"{stem}.jsonl", f"{stem}-{apart}.jsonl"


class _OldHead(msgspec.Struct, forbid_unknown_fields=True):
    """A first line of a version without checksums; strict, so that a damaged sealed line does not pass for one."""

    checker: str
    version: str
    checked: str
    candidates: int


class StoredVerdict(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """A verdict on the event with a sequence number; `valid` is null if the checker failed."""

    seq: int
    valid: bool | None = None
    objective: float | None = None
    reason: str | None = None


@dataclass(slots=True)
class VerdictFacts:
    """The content of a verdict file without the verdicts: `judged` is the number of candidates that have one.

    `torn` counts the bytes after the last whole line; `damage` says where the file does not verify. A damaged file has
    no verdicts, and no head if the head is damaged. Without `sealed`, a change of the file would not be noticed.
    """

    path: Path
    head: VerdictsHead | None = None
    judged: int = 0
    torn: int = 0
    damage: str | None = None
    sealed: bool = True

    @property
    def label(self) -> str | None:
        """Name and version of the checker; None if they cannot be read."""
        return None if self.head is None else self.head.label

    @property
    def candidates(self) -> int:
        """The number of candidates to judge."""
        return 0 if self.head is None else self.head.candidates

    @property
    def unchecked(self) -> int:
        """The number of candidates without a verdict."""
        return self.candidates - self.judged

    @property
    def usable(self) -> bool:
        """Whether the verdicts in the file count."""
        return self.head is not None and self.damage is None

    def problems(self) -> list[str]:
        """Return the problem of the file as a single line; empty if there is none."""
        if self.damage is not None:
            return [f"{self.damage}; these verdicts are quarantined: gapline check judges anew"]
        if self.torn:
            return [f"{self.path}: expected a whole last line, got {self.torn} bytes of one; the verdicts before count"]
        return []


@dataclass(slots=True)
class Verdicts(VerdictFacts):
    """The verdicts of one checker version on one attempt."""

    by_sequence: dict[int, StoredVerdict] = field(default_factory=dict)

    def take(self, verdict: StoredVerdict) -> None:
        """Add a verdict; if the checker failed, its candidate stays unchecked."""
        self.by_sequence[verdict.seq] = verdict
        self.judged += verdict.valid is not None


Facts = TypeVar("Facts", bound=VerdictFacts)


def write_verdicts(
    journal: Outcome, judge: Judge, *, checked: str, candidates: int, verdicts: Sequence[StoredVerdict]
) -> Verdicts:
    """Store the verdicts on a journal, replacing earlier ones of the same checker version."""
    head = VerdictsHead(
        judge.name, judge.version, checked, candidates, journal=f"{journal.checksum:08x}", given=judge.given
    )
    lines, checksum = [], 0
    for record in (head, *verdicts):
        line, checksum = seal(msgspec.json.encode(record)[:-1], checksum)
        lines.append(line)
    plain, apart = head.files
    there = _read(journal.path.parent / plain, None).head
    # Another program may use the same name and version: keep its verdicts.
    taken = there is not None and there.given not in (None, judge.given)
    path = journal.path.parent / (apart if taken else plain)
    write_atomically(path, lambda stream: stream.write(b"".join(lines)))
    written = Verdicts(path, head)
    for verdict in verdicts:
        written.take(verdict)
    return written


def read_verdicts(journal: Outcome) -> list[Verdicts]:
    """Read the verdict files of an attempt, one per checker version; damaged files are marked as such."""
    return [_read(path, journal) for path in verdict_files(journal.path.parent)]


def scan_verdicts(attempt: Path) -> list[Verdicts]:
    """Read the verdict files of an attempt without checking that they belong to its journal."""
    return [_read(path, None) for path in verdict_files(attempt)]


def verdict_files(attempt: Path) -> list[Path]:
    """Return the paths of an attempt's verdict files."""
    with os.scandir(attempt) as entries:
        return sorted(attempt / entry.name for entry in entries if is_verdict_file(entry.name))


def is_verdict_file(name: str) -> bool:
    """Whether a file of this name in an attempt directory holds verdicts."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def verdicts_of(found: Iterable[Facts], fits: Callable[[VerdictsHead], bool]) -> Facts | None:
    """Return the usable verdicts of the checker version that `fits` selects; None if there are none."""
    return next((one for one in found if one.usable and one.head is not None and fits(one.head)), None)


def _read(path: Path, journal: Outcome | None) -> Verdicts:
    found = Verdicts(path)
    try:
        whole, newline, tail = read_regular(path, most=most_bytes()).rpartition(b"\n")
    except OSError as error:
        found.damage = f"{path}: expected a file, got {reason_of(error)}"
        return found
    found.torn = len(tail)
    first, *lines = whole.split(b"\n")
    number = 1
    try:
        if not newline:
            raise ValueError("expected who judged, got no whole line")
        found.head, checksum = _parse_head(first)
        found.sealed = bool(found.head.journal)
        if path.name not in found.head.files:
            raise ValueError(f"expected the verdicts of {found.head.label} in {found.head.files[0]} alone")
        if journal is not None and found.sealed and found.head.journal != f"{journal.checksum:08x}":
            raise ValueError(f"expected verdicts on journal {journal.checksum:08x}, got {found.head.journal}")
        for number, line in enumerate(lines, start=2):  # noqa: B007 (the error names it)
            body, checksum = unseal(line, checksum) if found.sealed else (line, 0)
            verdict = msgspec.json.decode(body, type=StoredVerdict)
            if verdict.seq in found.by_sequence:
                raise ValueError(f"expected one verdict on each event, got another on {verdict.seq}")
            found.take(verdict)
    # Text that is not UTF-8 is a `ValueError` too.
    except (ValueError, msgspec.MsgspecError) as error:
        found.damage = f"{path}:{number}: {error}"
        found.by_sequence, found.judged = {}, 0
    return found


def _parse_head(line: bytes) -> tuple[VerdictsHead, int]:
    """Read a first line and its checksum; the line of an earlier version names no journal."""
    try:
        old = msgspec.json.decode(line, type=_OldHead)
    except (ValueError, msgspec.MsgspecError):
        body, checksum = unseal(line, 0)
        return msgspec.json.decode(body, type=VerdictsHead), checksum
    return VerdictsHead(old.checker, old.version, old.checked, old.candidates, journal=""), 0
