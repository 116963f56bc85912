"""Which attempt at a cell counts."""

from dataclasses import dataclass
from pathlib import Path

from gapline.journal.read import Journal, JournalState, read_journal
from gapline.journal.records import Order


@dataclass(slots=True)
class CellRecord:
    """All attempts at one cell, and the one that counts."""

    directory: Path
    attempts: list[Journal]

    @property
    def counting(self) -> Journal | None:
        """The first whole attempt that nothing disturbed, else the first whole one, else none.

        Nobody may choose the best of several: what decides is how they were measured, never what they found. An attempt
        that was cut short, or changed afterwards, is evidence and not a run: it never counts.
        """
        whole = [journal for journal in self.attempts if journal.state is JournalState.WHOLE]
        for journal in whole:
            if not journal.disturbed:
                return journal
        return whole[0] if whole else None

    @property
    def order(self) -> Order | None:
        """What was to be done: the order of the attempt that counts, else of the last one that was begun."""
        begun = [journal.order for journal in self.attempts if journal.order is not None]
        return self.counting.order if self.counting is not None else begun[-1] if begun else None

    @property
    def interrupted(self) -> bool:
        """Whether attempts were begun and none is whole."""
        return self.counting is None and self.order is not None


def attempts_of(cell: Path) -> list[Path]:
    """Return the attempt directories of a cell in their order."""
    # Numbers have three digits, so that the order of the names is that of the attempts.
    return sorted(path for path in cell.glob("attempt-*") if path.is_dir())


def read_cell(cell: Path) -> CellRecord:
    """Read all attempts at a cell."""
    return CellRecord(cell, [read_journal(attempt) for attempt in attempts_of(cell)])
