"""Which attempt at a cell counts."""

from dataclasses import dataclass
from pathlib import Path

from gapline.journal.read import Journal, JournalState, read_journal


@dataclass(slots=True)
class CellRecord:
    """All attempts at one cell, and the one that counts."""

    directory: Path
    attempts: list[Journal]

    @property
    def counting(self) -> Journal | None:
        """The first whole attempt that nothing disturbed, else the first whole one, else the last broken one.

        Nobody may choose the best of several: what decides is how they were measured, never what they found.
        """
        whole = [journal for journal in self.attempts if journal.state is JournalState.WHOLE]
        for journal in whole:
            if not journal.disturbed:
                return journal
        if whole:
            return whole[0]
        begun = [journal for journal in self.attempts if journal.order is not None]
        return begun[-1] if begun else None


def attempts_of(cell: Path) -> list[Path]:
    """Return the attempt directories of a cell in their order."""
    return sorted(path for path in cell.glob("attempt-*") if path.is_dir())


def read_cell(cell: Path) -> CellRecord:
    """Read all attempts at a cell."""
    return CellRecord(cell, [read_journal(attempt) for attempt in attempts_of(cell)])
