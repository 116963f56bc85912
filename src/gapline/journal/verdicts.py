"""What checkers said of the candidates of an attempt, one file per checker version: they are never mixed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from gapline.errors import TraceError
from gapline.model.limits import read_limited

T = TypeVar("T")


class VerdictsHead(msgspec.Struct):
    """The first line of a verdict file: who judged, when, and how many candidates there were to judge."""

    checker: str
    version: str
    checked: str
    candidates: int

    @property
    def label(self) -> str:
        """Name and version, as printed with every output."""
        return f"{self.checker} {self.version}"


class StoredVerdict(msgspec.Struct, omit_defaults=True):
    """A verdict on the event with a sequence number; `valid` is null where the checker failed."""

    seq: int
    valid: bool | None = None
    objective: float | None = None
    reason: str | None = None


@dataclass(slots=True)
class Verdicts:
    """The verdicts of one checker version on one attempt."""

    head: VerdictsHead
    by_sequence: dict[int, StoredVerdict] = field(default_factory=dict)

    @property
    def unchecked(self) -> int:
        """Candidates without a verdict."""
        return self.head.candidates - sum(verdict.valid is not None for verdict in self.by_sequence.values())


def read_verdicts(attempt: Path) -> list[Verdicts]:
    """Read the verdict files of an attempt, one per checker version."""
    found = []
    for path in sorted(attempt.glob("verdicts-*.jsonl")):
        head, *lines = read_limited(path).splitlines() or [b""]
        stored = [_decode(f"{path}:{number}", line, StoredVerdict) for number, line in enumerate(lines, start=2)]
        found.append(Verdicts(_decode(f"{path}:1", head, VerdictsHead), {verdict.seq: verdict for verdict in stored}))
    return found


def choose_checker(cells: Iterable[Path]) -> list[str]:
    """Return the checker versions that judged cells, first the one whose verdicts count: they are never mixed."""
    rank: dict[str, tuple[int, str]] = {}
    for cell in cells:
        heads = {}
        for path in cell.glob("attempt-*/verdicts-*.jsonl"):
            with path.open("rb") as stream:
                head = _decode(f"{path}:1", stream.readline(), VerdictsHead)
            heads[head.label] = head
        # One vote per cell: a cell with many attempts must not decide for the others.
        for label, head in heads.items():
            count, last = rank.get(label, (0, ""))
            rank[label] = (count + 1, max(last, head.checked))
    return sorted(rank, key=lambda label: (rank[label], label), reverse=True)


def _decode(where: str, line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.MsgspecError as error:
        what = "who judged" if kind is VerdictsHead else "a verdict"
        hint = "remove the file and run gapline check"
        raise TraceError(f"{where}: expected {what}, got {error}", hint=hint) from error
