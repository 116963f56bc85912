"""Rows of a CSV file that are not whole: too few fields, or a file that ends inside its last row.

A number that was cut is another number: `951` becomes `9`. What was cut for certain is not believed; a last row that
has all its fields and no line end may be whole, as many editors leave it, so it is kept and named.
"""

from enum import Enum
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import TraceError

_NEWLINE, _QUOTE = ord("\n"), ord('"')
# Small, because looking at a block takes some twenty times its bytes.
BLOCK = 4 << 20


class Fault(Enum):
    """What is wrong with a row."""

    BLANK = "blank"  # an empty line, which is no row
    SHORT = "short"  # a line end before the last field
    CUT = "cut"  # the file ends before the last field, or inside a quoted one: its last cell is not believed
    UNENDED = "unended"  # every field is there, and no line end


class Broken(NamedTuple):
    """A row that is not whole: what is wrong with it, and how that is said."""

    fault: Fault
    expected: str = ""
    got: str = ""


def find_broken(
    data: bytes, table: pl.DataFrame, *, separator: str, source: str, alone: bool = True
) -> tuple[pl.DataFrame, dict[int, Broken]]:
    r"""Return the rows of a table that are not whole, by number, and the table without the cells that were cut.

    `data` is the file that the table was read from, its header in the first line; `alone` says that it is all of it.

    >>> cells = pl.DataFrame({"seed": ["1", "1"], "time": ["2", "3"], "objective": ["951", "9"], "valid": ["t", None]})
    >>> table, broken = find_broken(b"seed,time,objective,valid\n1,2,951,t\n1,3,9", cells, separator=",", source="a")
    >>> table["objective"].to_list(), broken[1].fault, broken[1].got
    (['951', None], <Fault.CUT: 'cut'>, '3 where the file ends')
    """
    width, last = table.width, table.height - 1
    ended, open_quote = _has_end(data), ends_in_quotes(data)
    no_end = Broken(Fault.UNENDED, "a line end", "the end of the file: its last number may be cut")
    # A row that lacks a field lacks the last one: where that stands in every row there is nothing to count.
    if not table.height or not (table[:, -1].null_count() or open_quote):
        return table, {} if ended or not table.height else {last: no_end}
    counts = count_fields(data, separator)[1:]
    if len(counts) != table.height:
        raise TraceError(f"{source}: expected quotes in pairs, got {table.height:,} rows on {len(counts):,} lines")
    blank = table.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy() & (counts == 1)
    # Where the parser split a row and the count did not, a quote inside a name was no quote.
    short = (counts < width) & ~blank & table[:, -1].is_null().to_numpy()
    whole_lines = np.flatnonzero(~blank)[: None if ended else -1]
    if alone and len(whole_lines) and short[whole_lines].all() and width > 1:
        most = int(counts[whole_lines].max())
        raise TraceError(
            f"{source}: expected {width} fields in a row, as in the header, got at most {most} in every row",
            hint="an empty cell at the end of a row still has its separator",
        )
    fields = f"{width} fields"
    broken = {int(row): Broken(Fault.SHORT, fields, str(counts[row])) for row in np.flatnonzero(short)}
    broken |= {int(row): Broken(Fault.BLANK) for row in np.flatnonzero(blank)}
    if not ended and not blank[last]:
        if open_quote:
            broken[last] = Broken(Fault.CUT, "a closing quote", "the end of the file")
        elif short[last]:
            broken[last] = Broken(Fault.CUT, fields, f"{counts[last]} where the file ends")
        else:
            broken[last] = no_end
        if broken[last].fault is Fault.CUT:
            cut = table.columns[int(counts[last]) - 1]
            table = table.with_columns(pl.when(pl.int_range(pl.len()) != last).then(pl.col(cut)).alias(cut))
    return table, broken


def ends_in_quotes(data: bytes) -> bool:
    """Say whether a file without a last line end was cut inside a quoted cell."""
    return not _has_end(data) and data.count(b'"') % 2 == 1


def _has_end(data: bytes) -> bool:
    return data.endswith((b"\n", b"\r"))


def count_fields(data: bytes, separator: str) -> NDArray[np.int64]:
    r"""Return how many fields each row has.

    >>> count_fields(b'a,b,c\n1,"2,\n3",4\n5,', ",").tolist()
    [3, 3, 2]
    """
    pieces: list[NDArray[np.int64]] = []
    inside, pending = False, 0
    for start in range(0, len(data), BLOCK):
        block = np.frombuffer(data[start : start + BLOCK], np.uint8)
        marks, ends = block == ord(separator), block == _NEWLINE
        quoted = np.bitwise_xor.accumulate(block == _QUOTE) ^ inside
        marks &= ~quoted
        ends &= ~quoted
        inside = bool(quoted[-1])
        # Separators before each line end, those of the rows before taken away.
        before = np.searchsorted(np.flatnonzero(marks), np.flatnonzero(ends))
        if len(before):
            pieces.append(np.diff(before, prepend=-pending))
            pending = 0
        pending += int(np.count_nonzero(marks)) - (int(before[-1]) if len(before) else 0)
    if data and (inside or data[-1] != _NEWLINE):
        pieces.append(np.array([pending]))
    counts = np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
    return counts + 1
