"""Names as numbers: rows that are equal in some columns have one number, and each column is read once.

Text is slow to hash and to compare. Whatever counts or groups the runs by arm, panel, instance and seed takes numbers.
"""

from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.model.tables import CELL

Integers = NDArray[np.int64]


class Numbers(NamedTuple):
    """A number from 0 to `size - 1` per row; every one of them is there."""

    row: Integers
    size: int

    def first_row(self) -> Integers:
        """Return, for each number, the first row that has it."""
        found = np.empty(self.size, np.int64)
        # Of several rows the one that is written last stays.
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
        self._known: dict[tuple[str, ...], Numbers] = {}

    def by(self, *columns: str) -> Numbers:
        """Return the numbers of the rows by these columns together."""
        names = tuple(dict.fromkeys(columns))
        if names not in self._known:
            self._known[names] = self._numbers(names)
        return self._known[names]

    def carried(self, table: pl.DataFrame, /) -> Self:
        """Return the rows of a table of the same runs in the same order: what is known of their cells holds there."""
        found = type(self)(table)
        found._known = {names: numbers for names, numbers in self._known.items() if set(names) <= set(CELL)}
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
    """Return the rows of a table: those that are known, unless they are of another one."""
    return known if known is not None and known.table is table else Numbered(table)


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
    """Number what may be null, a fraction or far apart."""
    groups = column.alias("value").to_frame().with_row_index("row").group_by("value").agg("row")["row"]
    numbers = np.empty(len(column), np.int64)
    numbers[groups.explode().to_numpy()] = np.repeat(np.arange(len(groups)), groups.list.len().to_numpy())
    return Numbers(numbers, len(groups))


def _open_limit(rows: int) -> int:
    """Return how many numbers may be counted one by one, whether some row has them or not."""
    return 4 * rows + 1024


def _closed_up(numbers: Integers, span: int) -> Numbers:
    """Return the numbers without those between 0 and `span` that no row has."""
    if span > _open_limit(len(numbers)):
        return _grouped(pl.Series(numbers))
    there = np.zeros(span, np.bool_)
    there[numbers] = True
    size = int(np.count_nonzero(there))
    if size < span:
        numbers = (np.cumsum(there) - 1)[numbers]
    return Numbers(numbers, size)
