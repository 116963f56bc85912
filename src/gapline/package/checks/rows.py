"""Results of a verification: a row per check with its first difference, and the source that is verified."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from gapline.contract.layout import (
    CONTRACT_FILE,
    DOCUMENT,
    SCHEMA,
    SUMS,
    Identity,
    PackageDocument,
    PackedInstance,
    is_study,
)
from gapline.errors import GaplineError, UsageError, found_at
from gapline.files.archives import is_zip
from gapline.files.open_file import read_regular
from gapline.text import printable
from gapline.traces.package_source import is_package, unpacked_package

# What is under way, how much of it is done, of how much.
Progress = Callable[[str, int, int], None]
# Of what differs; the rest is counted.
MOST_DIFFERENCES = 100
_PLACE = re.compile(r"(?P<member>[^:]+?)(?::(?P<line>[0-9]+))?: (?P<said>.*)", re.DOTALL)


class Outcome(StrEnum):
    """What became of a thing that was looked at."""

    SHOWN = "shown"
    DIFFERS = "differs"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it should be; `said` is `expected …, got …`, `member` the file that it is said of."""

    member: str
    said: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.member if self.line is None else f"{self.member}:{self.line}"
        return f"{place}: {self.said}"

    @classmethod
    def of(cls, message: str, *, member: str = "") -> "Difference":
        """Take a message of the shape `file:line: expected …, got …` apart; `member` where it names no file.

        >>> Difference.of("journal/a/events.jsonl:3: expected checksum 1, got 2").line
        3
        """
        found = _PLACE.fullmatch(message)
        if member or found is None:
            return cls(member or ".", message.removeprefix(f"{member}: "))
        return cls(found["member"], found["said"], None if found["line"] is None else int(found["line"]))


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was looked at: `how` it was compared where it was, `why` where it was not, or what to know of it.

    `number` is how many of `unit` were looked at, or are left unlooked at.
    """

    what: str
    number: int
    unit: str
    outcome: Outcome
    how: str = ""
    why: str = ""

    @property
    def counted(self) -> str:
        """The number with its unit; nothing where there was nothing to look at."""
        if not self.number and self.outcome is Outcome.NOT_SHOWN:
            return ""
        return f"{self.number:,} {self.unit.removesuffix('s') if self.number == 1 else self.unit}"

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {name: getattr(self, name) for name in self.__slots__} | {"outcome": self.outcome.value}


@dataclass(slots=True)
class Findings:
    """Rows and differences as they are found."""

    rows: list[Row] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    total: int = 0

    def judge(
        self, what: str, number: int, unit: str, differing: Iterable[Difference], *, how: str, why: str = ""
    ) -> bool:
        """Add the row of what was compared; return whether nothing of it differs."""
        found = list(differing)
        self.differences += found[: MOST_DIFFERENCES - len(self.differences)]
        self.total += len(found)
        outcome = Outcome.DIFFERS if found else Outcome.SHOWN
        self.rows.append(Row(what, number, unit, outcome, how, f"{len(found):,} differ" if found else why))
        return not found

    def join(self, later: "Findings") -> None:
        """Add what was found apart."""
        self.rows += later.rows
        self.differences += later.differences[: MOST_DIFFERENCES - len(self.differences)]
        self.total += later.total

    def leave(self, what: str, number: int, unit: str, why: str) -> None:
        """Add the row of what was not looked at."""
        self.rows.append(Row(what, number, unit, Outcome.NOT_SHOWN, "", why))


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification found, in the order in which it looked."""

    source: str
    kind: str
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    more: int = 0
    identity: Identity | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing that was looked at differs."""
        return not self.differences

    @property
    def first(self) -> Difference | None:
        """The first thing that differs."""
        return self.differences[0] if self.differences else None

    @property
    def left(self) -> tuple[Row, ...]:
        """What was not shown."""
        return tuple(row for row in self.rows if row.outcome is Outcome.NOT_SHOWN)

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


@dataclass(frozen=True, slots=True)
class Source:
    """A folder with the files of a study, and how what it was opened from is called."""

    folder: Path
    name: str
    is_package: bool = False
    identity: Identity | None = None

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        return "package" if self.is_package else "study"

    def words(self, text: object) -> str:
        """Return a message with paths as they are named in the package or the study, wherever it lies now."""
        said = text.message if isinstance(text, GaplineError) else str(text)
        # Of several mistakes each has a line, and a row has one.
        one_line = "; ".join(line.strip() for line in said.splitlines())
        return one_line.replace(f"{self.folder}/", "").replace(str(self.folder), self.name)

    def absent_instances(self, package: PackageDocument | None) -> dict[str, PackedInstance]:
        """Return the instances that a package does not include, by name."""
        known = {} if package is None else package.instances
        return {name: one for name, one in known.items() if not one.included}


@contextmanager
def opened(path: str | Path) -> Iterator[Source]:
    """Open what is to be verified; nothing of it is run, and nothing is written beside it.

    Raises
    ------
    UsageError
        Where it is neither a package nor a study directory.
    TraceError
        Where the archive is damaged, or has a member that may not be unpacked.
    """
    given = Path(path)
    if given.is_dir():
        packed = _was_unpacked(given)
        if not packed and not is_study(given):
            raise UsageError(
                f"{given}: expected a package or a study directory, got one without {CONTRACT_FILE}",
                hint="a campaign directory is verified whenever it is opened: gapline score",
            )
        yield Source(given, given.name or str(given), packed)
    elif is_package(given) or is_zip(given):
        # Whether its members are what its sums say is the first row of what is shown.
        with unpacked_package(given, as_is=True) as package:
            yield Source(package.folder, given.name, is_package=True, identity=package.identity)
    else:
        raise UsageError(f"{given}: expected a package or a study directory, got {found_at(given)}")


def _was_unpacked(folder: Path) -> bool:
    """Say whether a folder holds the members of a package: either of its lists tells, should the other be gone."""
    try:
        if msgspec.json.decode(read_regular(folder / DOCUMENT), type=_Schema).schema.startswith(
            SCHEMA.partition("/")[0]
        ):
            return True
    except (OSError, ValueError, msgspec.MsgspecError):
        pass
    try:
        return f"  {DOCUMENT}\n".encode() in read_regular(folder / SUMS)
    except OSError:
        return False


class _Schema(msgspec.Struct):
    schema: str
