"""Rows of a trace that share everything but their candidate, kept once.

The rows of a run mostly stand together and repeat its arm, instance, seed, horizon and settings; as cells they take ten
times the memory of the numbers beside them. Where runs take turns, their rows are told apart once, and every later step
looks at as many rows as there are different ones.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

# Where there are this many blocks, and they have fewer rows than that on average, equal ones are looked for.
MANY, SHORT = 64, 8


class Heads(NamedTuple):
    """The first row of each block of equal rows, how many rows each block has, and the line of every row.

    `which` names the head of each block where equal blocks share one; else block k has head k.
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
    # Lists and the like have no place in a trace: they are refused by name later on, row by row.
    if any(column.dtype.is_nested() or column.dtype == pl.Object for column in table):
        return Heads(table, np.ones(table.height, np.int64), kept)
    changed = pl.Series([], dtype=pl.Boolean)
    for column in table:
        after, before = column.slice(1), column.slice(0, table.height - 1)
        other = after.ne_missing(before) if column.null_count() else after != before
        # As bits, of which eight are one byte, for as long as there is something to add.
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
    """Return the places of the rows that are new, and which of these each row equals.

    >>> first, which = find_equal(pl.DataFrame({"arm": ["a", "b", "a", None, None]}))
    >>> first.tolist(), which.tolist()
    ([0, 1, 3], [0, 1, 0, 2, 2])
    """
    # Longer than any name, so that it is none of them.
    place = "_" + max(rows.columns, key=len)
    first = rows.with_row_index(place).select(pl.col(place).first().over(rows.columns)).to_series().to_numpy()
    new = first == np.arange(rows.height)
    which: NDArray[np.int32] = (np.cumsum(new, dtype=np.int32) - 1)[first]
    return np.flatnonzero(new), which


class Rows:
    """All rows of a trace: the heads of its pieces one behind the other."""

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
        """Return which head a row belongs to."""
        return int(self.which[np.searchsorted(self._blocks, row, side="right") - 1])

    def rows_of(self, heads: Sequence[int]) -> list[tuple[int, int]]:
        """Return each row of some heads, in their order, with its head."""
        blocks = np.flatnonzero(np.isin(self.which, heads)).tolist()
        return [
            (int(self._blocks[block]) + k, int(self.which[block]))
            for block in blocks
            for k in range(int(self.counts[block]))
        ]

    def expand(self, table: pl.DataFrame) -> pl.DataFrame:
        """Write a table with a row per head out, with a row per row."""
        return table[np.repeat(self.which, self.counts)] if table.height else table

    def of_rows(self, numbers: NDArray[np.integer]) -> NDArray[np.int32]:
        """Write a number per head out, with one per row."""
        return np.repeat(numbers.astype(np.int32)[self.which], self.counts)

    def split_by(self, column: pl.Series) -> "Rows":
        """Return the rows with a further column, given row by row."""
        lines = np.concatenate([np.asarray(lines, np.int64) for lines in self._lines])
        return Rows([find_heads(self.expand(self.heads).with_columns(column), lines)])
