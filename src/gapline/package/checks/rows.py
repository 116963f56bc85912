"""Rows of a verification: what was compared, what differs, and what was not compared."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import Any

from gapline.contract.layout import Identity
from gapline.text import printable

# Differences listed in full; further ones are only counted.
MOST_DIFFERENCES = 100
_PLACE = re.compile(r"(?P<member>[^:]+?)(?::(?P<line>[0-9]+))?: (?P<said>.*)", re.DOTALL)


class CheckOutcome(StrEnum):
    """The outcome of one check."""

    SHOWN = "shown"
    DIFFERS = "differs"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference: `said` is `expected …, got …`, and `member` is the file that it concerns."""

    member: str
    said: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.member if self.line is None else f"{self.member}:{self.line}"
        return f"{place}: {self.said}"

    @classmethod
    def of(cls, message: str, *, member: str = "") -> "Mismatch":
        """Parse a message of the form `file:line: expected …, got …`; `member` is used where it names no file.

        >>> Mismatch.of("journal/a/events.jsonl:3: expected checksum 1, got 2").line
        3
        """
        found = _PLACE.fullmatch(message)
        if member or found is None:
            return cls(member or ".", message.removeprefix(f"{member}: "))
        return cls(found["member"], found["said"], None if found["line"] is None else int(found["line"]))


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One thing that was checked: `how` it was compared, `why` it was not, or a remark.

    `number` is how many of `unit` were compared or left out.
    """

    what: str
    number: int
    unit: str
    outcome: CheckOutcome
    how: str = ""
    why: str = ""
    differing: tuple[Mismatch, ...] = ()

    @property
    def counted(self) -> str:
        """The number with its unit; empty where there was nothing to compare."""
        if not self.number and self.outcome is CheckOutcome.NOT_SHOWN:
            return ""
        return f"{self.number:,} {self.unit.removesuffix('s') if self.number == 1 else self.unit}"

    def document(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "differing"}


def compared(
    what: str, number: int, unit: str, differing: Iterable[Mismatch] = (), *, how: str = "", why: str = ""
) -> CheckRow:
    """Return a row for a comparison that was made."""
    found = tuple(differing)
    outcome = CheckOutcome.DIFFERS if found else CheckOutcome.SHOWN
    return CheckRow(what, number, unit, outcome, how, f"{len(found):,} differ" if found else why, found)


def not_compared(what: str, number: int, unit: str, why: str) -> CheckRow:
    """Return a row for a comparison that was not made."""
    return CheckRow(what, number, unit, CheckOutcome.NOT_SHOWN, why=why)


@dataclass(frozen=True, slots=True)
class Verification:
    """The rows of a verification, in the order of the checks."""

    source: str
    kind: str
    rows: tuple[CheckRow, ...]
    identity: Identity | None = None

    @property
    def differences(self) -> tuple[Mismatch, ...]:
        """The first differences; `more` counts the others."""
        return tuple(islice(chain.from_iterable(row.differing for row in self.rows), MOST_DIFFERENCES))

    @property
    def more(self) -> int:
        """The number of differences beyond those in `differences`."""
        return max(0, sum(len(row.differing) for row in self.rows) - MOST_DIFFERENCES)

    @property
    def passed(self) -> bool:
        """Whether no check found a difference."""
        return self.first is None

    @property
    def first(self) -> Mismatch | None:
        """The first difference."""
        return next(iter(self.differences), None)

    @property
    def left(self) -> tuple[CheckRow, ...]:
        """The rows of what was not checked."""
        return tuple(row for row in self.rows if row.outcome is CheckOutcome.NOT_SHOWN)

    def document(self) -> dict[str, Any]:
        """Return the verification for JSON."""
        return {
            "source": self.source,
            "kind": self.kind,
            "passed": self.passed,
            "rows": [row.document() for row in self.rows],
            "differences": [
                {"member": one.member, "line": one.line, "said": one.said, "text": printable(one)}
                for one in self.differences
            ],
            "more_differences": self.more,
        }
