"""Rows of a verification: what was compared, what differs, and what was not compared."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import Any

from gapline.contract.layout import Identity
from gapline.text import printable

# Of what differs; the rest is counted.
MOST_DIFFERENCES = 100
_PLACE = re.compile(r"(?P<member>[^:]+?)(?::(?P<line>[0-9]+))?: (?P<said>.*)", re.DOTALL)


class CheckOutcome(StrEnum):
    """What became of a thing that was looked at."""

    SHOWN = "shown"
    DIFFERS = "differs"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that is not as it should be; `said` is `expected …, got …`, `member` the file that it is said of."""

    member: str
    said: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.member if self.line is None else f"{self.member}:{self.line}"
        return f"{place}: {self.said}"

    @classmethod
    def of(cls, message: str, *, member: str = "") -> "Mismatch":
        """Take a message of the shape `file:line: expected …, got …` apart; `member` where it names no file.

        >>> Mismatch.of("journal/a/events.jsonl:3: expected checksum 1, got 2").line
        3
        """
        found = _PLACE.fullmatch(message)
        if member or found is None:
            return cls(member or ".", message.removeprefix(f"{member}: "))
        return cls(found["member"], found["said"], None if found["line"] is None else int(found["line"]))


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One thing that was looked at: `how` it was compared where it was, `why` where it was not, or what to know of it.

    `number` is how many of `unit` were looked at, or are left unlooked at.
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
        """The number with its unit; nothing where there was nothing to look at."""
        if not self.number and self.outcome is CheckOutcome.NOT_SHOWN:
            return ""
        return f"{self.number:,} {self.unit.removesuffix('s') if self.number == 1 else self.unit}"

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "differing"}


def compared(
    what: str, number: int, unit: str, differing: Iterable[Mismatch] = (), *, how: str = "", why: str = ""
) -> CheckRow:
    """Return the row of what was compared."""
    found = tuple(differing)
    outcome = CheckOutcome.DIFFERS if found else CheckOutcome.SHOWN
    return CheckRow(what, number, unit, outcome, how, f"{len(found):,} differ" if found else why, found)


def not_compared(what: str, number: int, unit: str, why: str) -> CheckRow:
    """Return the row of what was not compared."""
    return CheckRow(what, number, unit, CheckOutcome.NOT_SHOWN, why=why)


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification found, in the order in which it looked."""

    source: str
    kind: str
    rows: tuple[CheckRow, ...]
    identity: Identity | None = None

    @property
    def differences(self) -> tuple[Mismatch, ...]:
        """The first things that differ; `more` of them are counted only."""
        return tuple(islice(chain.from_iterable(row.differing for row in self.rows), MOST_DIFFERENCES))

    @property
    def more(self) -> int:
        """How many differences there are beyond those in `differences`."""
        return max(0, sum(len(row.differing) for row in self.rows) - MOST_DIFFERENCES)

    @property
    def passed(self) -> bool:
        """Whether nothing that was looked at differs."""
        return self.first is None

    @property
    def first(self) -> Mismatch | None:
        """The first thing that differs."""
        return next(iter(self.differences), None)

    @property
    def left(self) -> tuple[CheckRow, ...]:
        """What was not shown."""
        return tuple(row for row in self.rows if row.outcome is CheckOutcome.NOT_SHOWN)

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
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
