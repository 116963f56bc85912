"""Row groups: rows that are equal in some columns share a number, and each column is read once.

Text is slow to hash and to compare. Code that counts or groups runs by arm, panel, instance and seed uses numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.tables import CELL
from gapline.errors import UsageError, listing

Integers = NDArray[np.int64]
_CELL = frozenset(CELL)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A number from 0 to `size - 1` per row; each number occurs."""

    row: Integers
    size: int

    @cached_property
    def first_row(self) -> Integers:
        """For each number, the first row that has it."""
        found = np.empty(self.size, np.int64)
        # Of several rows with the same number, the last one written stays.
        found[self.row[::-1]] = np.arange(len(self.row) - 1, -1, -1)
        return found


class Numbered:
    """The rows of a table, numbered by any of its columns.

    >>> rows = Numbered(pl.DataFrame({"arm": ["a", "b", "a"], "seed": [1, 1, 2]}))
    >>> rows.by("arm").size, rows.by("arm", "seed").size, rows.by().row.tolist()
    (2, 3, [0, 0, 0])
    """

    def __init__(self, table: pl.DataFrame, /) -> None:
        self.table = table
        # Groups by columns of the cell are kept apart: all tables of the same runs share them.
        self._of_cells: dict[tuple[str, ...], Numbers] = {}
        self._others: dict[tuple[str, ...], Numbers] = {}

    def by(self, *columns: str) -> Numbers:
        """Return the numbers of the rows by these columns together."""
        names = tuple(dict.fromkeys(columns))
        known = self._of_cells if _CELL.issuperset(names) else self._others
        if names not in known:
            if unknown := [name for name in names if name not in self.table.columns]:
                raise UsageError(f"by: expected columns of the runs, got {listing(unknown)}")
            known[names] = self._numbers(names)
        return known[names]

    def names(self, column: str) -> list[Any]:
        """Return the distinct values of a column in order of appearance."""
        return self.table[column].gather(np.sort(self.by(column).first_row)).to_list()

    def carried(self, table: pl.DataFrame, /) -> Self:
        """Return the groups of another table of the same runs in the same order; those by cell columns are reused."""
        found = type(self)(table)
        found._of_cells = self._of_cells
        return found

    def _numbers(self, names: tuple[str, ...]) -> Numbers:
        if not names:
            return Numbers(np.zeros(self.table.height, np.int64), min(self.table.height, 1))
        if len(names) == 1:
            return _number_column(self.table[names[0]])
        head, last = self.by(*names[:-1]), self.by(names[-1])
        if last.size == 1 or head.size == self.table.height:
            return head
        return _closed_up(head.row * last.size + last.row, head.size * last.size)


def rows_of(table: pl.DataFrame, known: Numbered | None) -> Numbered:
    """Return the known groups if they are of this table, else new ones."""
    return known if known is not None and known.table is table else Numbered(table)


def distinct(column: pl.Series) -> list[Any]:
    """Return the distinct numbers of a column in increasing order; a constant column is not hashed.

    >>> distinct(pl.Series([2.0, 1.0, 2.0])), distinct(pl.Series([3.0, 3.0])), distinct(pl.Series([], dtype=pl.Float64))
    ([1.0, 2.0], [3.0], [])
    """
    least = column.min()
    if least is not None and not column.null_count() and least == column.max():
        return [least]
    return column.unique().sort().to_list()


def count_words(table: pl.DataFrame, column: str, words: Sequence[str]) -> dict[str, int]:
    """Return how often each of a few words occurs in a column.

    >>> count_words(pl.DataFrame({"status": ["a", "b", "a"]}), "status", ["a", "c"])
    {'a': 2, 'c': 0}
    """
    # As expressions, so that a constant column is not expanded to all rows.
    return table.select((pl.col(column) == word).sum().alias(word) for word in words).row(0, named=True)


def _number_column(column: pl.Series) -> Numbers:
    if not len(column):
        return Numbers(np.empty(0, np.int64), 0)
    if column.dtype == pl.String:
        column = column.cast(pl.Categorical).to_physical()
    if not column.dtype.is_integer() or column.null_count():
        return _grouped(column)
    low = int(column.min())  # type: ignore[arg-type]
    span = int(column.max()) - low + 1  # type: ignore[arg-type]
    if span > _open_limit(len(column)):
        return _grouped(column)
    numbers = column.to_numpy().astype(np.int64)
    numbers -= low
    return _closed_up(numbers, span)


def _grouped(column: pl.Series) -> Numbers:
    """Number values that may be null, fractional or far apart."""
    groups = column.alias("value").to_frame().with_row_index("row").group_by("value").agg("row")["row"]
    numbers = np.empty(len(column), np.int64)
    numbers[groups.explode().to_numpy()] = np.repeat(np.arange(len(groups)), groups.list.len().to_numpy())
    return Numbers(numbers, len(groups))


def _open_limit(rows: int) -> int:
    """Return how many consecutive numbers may be counted directly, whether or not rows have them."""
    return 4 * rows + 1024


def _closed_up(numbers: Integers, span: int) -> Numbers:
    """Return the numbers without gaps: those between 0 and `span` that no row has are removed."""
    if span > _open_limit(len(numbers)):
        return _grouped(pl.Series(numbers))
    there = np.zeros(span, np.bool_)
    there[numbers] = True
    size = int(np.count_nonzero(there))
    if size < span:
        numbers = (np.cumsum(there) - 1)[numbers]
    return Numbers(numbers, size)
