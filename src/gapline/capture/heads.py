"""Rows of a trace that share everything but their candidate, kept once.

The rows of a run mostly stand together and repeat its arm, instance, seed, horizon and settings; as cells they take ten
times the memory of the numbers beside them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray


class Heads(NamedTuple):
    """The first row of each block of equal rows, how many rows it has, and the line of every row."""

    table: pl.DataFrame
    counts: NDArray[np.int64]
    lines: Sequence[int] | NDArray[np.int64]


def find_heads(table: pl.DataFrame, lines: NDArray[np.int64]) -> Heads:
    """Find the blocks of equal rows of a table.

    >>> heads = find_heads(pl.DataFrame({"arm": ["a", "a", "b", "a"]}), np.arange(2, 6))
    >>> heads.table["arm"].to_list(), heads.counts.tolist(), heads.lines
    (['a', 'b', 'a'], [2, 1, 1], range(2, 6))
    """
    whole = len(lines) == 0 or int(lines[-1]) - int(lines[0]) == len(lines) - 1
    kept = range(int(lines[0]), int(lines[-1]) + 1) if whole and len(lines) else lines
    if not table.height:
        return Heads(table, np.zeros(0, np.int64), kept)
    changed = np.zeros(table.height, np.bool_)
    changed[0] = True
    for column in table:
        # Lists and the like have no place in a trace: they are refused by name later on, row by row.
        if column.dtype.is_nested() or column.dtype == pl.Object:
            changed[:] = True
            break
        changed |= column.ne_missing(column.shift(1)).to_numpy()
        changed[0] = True
    starts = np.flatnonzero(changed)
    return Heads(table[starts.tolist()], np.diff(starts, append=table.height), kept)


class Rows:
    """All rows of a trace: the heads of its pieces one behind the other."""

    def __init__(self, pieces: Iterable[Heads]) -> None:
        pieces = list(pieces)
        self.heads = pl.concat((piece.table for piece in pieces), how="vertical_relaxed")
        self.counts = np.concatenate([piece.counts for piece in pieces])
        self._lines = [piece.lines for piece in pieces]
        self._ends = np.cumsum([len(lines) for lines in self._lines])

    @property
    def starts(self) -> NDArray[np.int64]:
        """The row at which each head stands."""
        starts: NDArray[np.int64] = np.cumsum(self.counts) - self.counts
        return starts

    def line(self, row: int) -> int:
        """Return the line of a row."""
        piece = int(np.searchsorted(self._ends, row, side="right"))
        lines = self._lines[piece]
        return int(lines[row - int(self._ends[piece]) + len(lines)])

    def head_of(self, row: int) -> int:
        """Return which head a row belongs to."""
        return int(np.searchsorted(self.starts, row, side="right")) - 1

    def rows_of(self, heads: Iterable[int]) -> list[tuple[int, int]]:
        """Return each row of some heads, with its head."""
        starts = self.starts
        return [(int(starts[head]) + k, head) for head in heads for k in range(int(self.counts[head]))]

    def expand(self, table: pl.DataFrame) -> pl.DataFrame:
        """Write a table with a row per head out, with a row per row."""
        return table[np.repeat(np.arange(len(self.counts)), self.counts).tolist()] if table.height else table

    def split_by(self, column: pl.Series) -> "Rows":
        """Return the rows with a further column, given row by row."""
        lines = np.concatenate([np.asarray(lines, np.int64) for lines in self._lines])
        return Rows([find_heads(self.expand(self.heads).with_columns(column), lines)])
