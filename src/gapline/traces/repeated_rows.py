"""Store trace rows that differ only in their candidate once.

The rows of a run are usually adjacent and repeat its arm, instance, seed, horizon and settings, which take ten times
the memory of the numbers. If runs alternate, equal rows are found once, and every later step works on the distinct rows
only.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

# Search for equal blocks if there are at least MANY, with fewer than SHORT rows on average.
MANY, SHORT = 64, 8


class Heads(NamedTuple):
    """The first row of each block of equal rows, the number of rows of each block, and the line of every row.

    `which` is the head of each block if equal blocks share one; otherwise block k has head k.
    """

    table: pl.DataFrame
    counts: NDArray[np.int64]
    lines: Sequence[int] | NDArray[np.int64]
    which: NDArray[np.int32] | None = None


def find_heads(table: pl.DataFrame, lines: Sequence[int] | NDArray[np.int64]) -> Heads:
    """Find the blocks of equal rows of a table.

    >>> heads = find_heads(pl.DataFrame({"arm": ["a", "a", "b", "a"]}), np.arange(2, 6))
    >>> heads.table["arm"].to_list(), heads.counts.tolist(), heads.lines
    (['a', 'b', 'a'], [2, 1, 1], range(2, 6))
    """
    whole = len(lines) == 0 or int(lines[-1]) - int(lines[0]) == len(lines) - 1
    kept = range(int(lines[0]), int(lines[-1]) + 1) if whole and len(lines) else lines
    if not table.height:
        return Heads(table, np.zeros(0, np.int64), kept)
    # Nested types are not allowed in a trace; they are refused by name later.
    if any(column.dtype.is_nested() or column.dtype == pl.Object for column in table):
        return Heads(table, np.ones(table.height, np.int64), kept)
    changed = pl.Series([], dtype=pl.Boolean)
    for column in table:
        after, before = column.slice(1), column.slice(0, table.height - 1)
        other = after.ne_missing(before) if column.null_count() else after != before
        # Polars stores booleans as bits, which saves memory until the last column.
        changed = changed | other if len(changed) else other
    starts = np.concatenate(([0], np.flatnonzero(changed.to_numpy()) + 1))
    counts = np.diff(starts, append=table.height)
    heads = table if len(starts) == table.height else table[starts]
    which = None
    if len(starts) >= MANY and len(starts) * SHORT > table.height and table.width:
        first, which = find_equal(heads)
        heads = heads[first]
    return Heads(heads, counts, kept, which)


def find_equal(rows: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the positions of the distinct rows, and for each row the number of the distinct row that it equals.

    >>> first, which = find_equal(pl.DataFrame({"arm": ["a", "b", "a", None, None]}))
    >>> first.tolist(), which.tolist()
    ([0, 1, 3], [0, 1, 0, 2, 2])
    """
    # Longer than any column name, so that it is unique.
    place = "_" + max(rows.columns, key=len)
    first = rows.with_row_index(place).select(pl.col(place).first().over(rows.columns)).to_series().to_numpy()
    new = first == np.arange(rows.height)
    which: NDArray[np.int32] = (np.cumsum(new, dtype=np.int32) - 1)[first]
    return np.flatnonzero(new), which


class Rows:
    """All rows of a trace: the concatenated heads of its pieces."""

    def __init__(self, pieces: Iterable[Heads]) -> None:
        pieces = list(pieces)
        before = np.cumsum([0, *(piece.table.height for piece in pieces)], dtype=np.int32).tolist()
        which = [
            np.arange(at, at + piece.table.height, dtype=np.int32) if piece.which is None else piece.which + at
            for at, piece in zip(before, pieces, strict=False)
        ]
        self.heads = pl.concat((piece.table for piece in pieces), how="vertical_relaxed")
        self.counts, self.which = np.concatenate([piece.counts for piece in pieces]), np.concatenate(which)
        self._lines = [piece.lines for piece in pieces]
        self._ends = np.cumsum([len(lines) for lines in self._lines])
        self._blocks = np.cumsum(self.counts) - self.counts

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each head."""
        starts: NDArray[np.int64] = self._blocks[np.unique(self.which, return_index=True)[1]]
        return starts

    def line(self, row: int) -> int:
        """Return the line of a row."""
        piece = int(np.searchsorted(self._ends, row, side="right"))
        lines = self._lines[piece]
        return int(lines[row - int(self._ends[piece]) + len(lines)])

    def head_of(self, row: int) -> int:
        """Return the number of the head of a row."""
        return int(self.which[np.searchsorted(self._blocks, row, side="right") - 1])

    def rows_of(self, heads: Sequence[int]) -> list[tuple[int, int]]:
        """Return all rows of some heads, in the order of the rows, each with its head."""
        blocks = np.flatnonzero(np.isin(self.which, heads)).tolist()
        return [
            (int(self._blocks[block]) + k, int(self.which[block]))
            for block in blocks
            for k in range(int(self.counts[block]))
        ]

    def expand(self, table: pl.DataFrame) -> pl.DataFrame:
        """Expand a table with one row per head to one row per row of the trace."""
        return table[np.repeat(self.which, self.counts)] if table.height else table

    def of_rows(self, numbers: NDArray[np.integer]) -> NDArray[np.int32]:
        """Expand numbers per head to numbers per row."""
        return np.repeat(numbers.astype(np.int32)[self.which], self.counts)

    def split_by(self, column: pl.Series) -> "Rows":
        """Return the rows with a further column, given per row."""
        lines = np.concatenate([np.asarray(lines, np.int64) for lines in self._lines])
        return Rows([find_heads(self.expand(self.heads).with_columns(column), lines)])
