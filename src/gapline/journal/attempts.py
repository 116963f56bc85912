"""Which attempt at a cell counts."""

import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

from gapline.contract.layout import JOURNALS, slug
from gapline.contract.tables import RunKey
from gapline.journal.read import Journal, JournalState, Outcome, read_journal
from gapline.journal.records import Order
from gapline.text import counted

_ATTEMPT = re.compile(r"attempt-(?!0+$)([0-9]{3,})")
# An attempt with its events, or without them if the caller does not need them.
Attempt = TypeVar("Attempt", bound=Outcome)


class Superseded(StrEnum):
    """Why an attempt does not count although another one does."""

    CUT_SHORT = "cut short"
    CHANGED = "changed after it was written"
    DISTURBED = "disturbed by others"
    REPEATED = "whole, but not the first"


@dataclass(slots=True)
class CellRecord(Generic[Attempt]):
    """All attempts at one cell, and the one that counts."""

    directory: Path
    attempts: list[Attempt]
    counting: Attempt | None = field(init=False)

    def __post_init__(self) -> None:
        # Computed once: the other properties use it.
        self.counting = counting_of(self.attempts)

    @property
    def order(self) -> Order | None:
        """The order of the attempt that counts, otherwise of the last attempt with one."""
        begun = [journal.order for journal in self.attempts if journal.order is not None]
        return self.counting.order if self.counting is not None else begun[-1] if begun else None

    @property
    def key(self) -> RunKey | None:
        """The run that the order names."""
        return None if self.order is None else RunKey(self.order.arm, self.order.instance, self.order.seed)

    @property
    def is_copy(self) -> bool:
        """Whether the directory is a copy (`cp -r`): the run's own directory exists next to it."""
        own = None if self.key is None else self.directory.with_name(slug(self.key))
        return own is not None and own.name != self.directory.name and own.is_dir()

    @property
    def superseded(self) -> Counter[str]:
        """Count the attempts that do not count by reason; empty if no attempt counts."""
        counting = self.counting
        others = [] if counting is None else [journal for journal in self.attempts if journal is not counting]
        return Counter(_why_superseded(journal).value for journal in others)

    @property
    def interrupted(self) -> bool:
        """Whether there are attempts but none is whole."""
        return self.counting is None and self.order is not None


def counting_of(attempts: list[Attempt]) -> Attempt | None:
    """Return the first whole undisturbed attempt, otherwise the first whole attempt, otherwise None.

    The choice depends on how an attempt was measured, never on its result: the best of several must not be
    picked. An attempt that was cut short or changed afterwards is evidence, not a run, and never counts.
    """
    whole = [journal for journal in attempts if journal.state is JournalState.WHOLE]
    for journal in whole:
        if not journal.disturbed:
            return journal
    return whole[0] if whole else None


def _why_superseded(journal: Outcome) -> Superseded:
    if journal.state is JournalState.QUARANTINED:
        return Superseded.CHANGED
    if journal.state is JournalState.BROKEN:
        return Superseded.CUT_SHORT
    return Superseded.DISTURBED if journal.disturbed else Superseded.REPEATED


def superseded_words(because: Mapping[str, int]) -> str:
    """Summarise in words how many attempts were superseded, and why.

    >>> superseded_words({"cut short": 2, "disturbed by others": 1})
    '3 attempts superseded by the one that counts: 2 cut short, 1 disturbed by others'
    """
    each = ", ".join(f"{number:,} {why}" for why, number in sorted(because.items()))
    return f"{counted(sum(because.values()), 'attempt')} superseded by the one that counts: {each}"


def attempts_of(cell: Path) -> list[Path]:
    """Return the attempt directories of a cell in order; a name such as `attempt-001.bak` is ignored."""
    # `scandir` is faster than a glob, and a study has as many of these folders as it has runs.
    try:
        with os.scandir(cell) as entries:
            names = [entry.name for entry in entries if is_attempt(entry.name) and entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted((cell / name for name in names), key=attempt_number)


def is_attempt(name: str) -> bool:
    """Whether a directory of this name inside a cell is an attempt."""
    return _ATTEMPT.fullmatch(name) is not None


def attempt_number(attempt: Path) -> int:
    """Return the number of an attempt directory; 0 if the name is not that of an attempt."""
    named = _ATTEMPT.fullmatch(attempt.name)
    return int(named.group(1)) if named else 0


def cells_of(study: Path) -> list[Path]:
    """Return the cell directories of a study: the folders of its journal that contain attempts."""
    return [path for path in folders_of(study) if attempts_of(path)]


def folders_of(study: Path) -> list[Path]:
    """Return all directories in the journal of a study."""
    try:
        with os.scandir(study / JOURNALS) as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [study / JOURNALS / name for name in sorted(names)]


def read_cell(cell: Path) -> CellRecord[Journal]:
    """Read all attempts at a cell."""
    return CellRecord(cell, [read_journal(attempt) for attempt in attempts_of(cell)])
