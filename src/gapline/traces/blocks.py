"""Split large CSV files into blocks of whole rows, find truncated rows, and collect columns block by block."""

import mmap
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import IO, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import TraceError
from gapline.files.compression import Content
from gapline.files.memory import memory_budget
from gapline.files.scratch_arrays import scratch_place

# Bytes of a file; as text cells they take about five times as much.
BLOCK = 4 << 20
# Longest row, and longest text between two quotes. A file beyond that is not a table and would fill the memory.
MOST_ROW = 256 << 20

_NEWLINE, _QUOTE = ord("\n"), ord('"')


def line_blocks(content: Content, *, start: int = 0, source: str) -> Iterator[bytes]:
    r"""Yield blocks of whole lines; the last one may lack its line end.

    >>> list(line_blocks(b"a\nb", source="t"))
    [b'a\nb']
    """
    return _blocks(content, start, None, source)


def row_blocks(content: Content, separator: str, *, start: int = 0, source: str) -> Iterator[bytes]:
    r"""Yield blocks of whole rows of a CSV file; a line end between quotes does not end a row.

    >>> list(row_blocks(b'1,"2\n3"\n4,5\n', ",", source="t"))
    [b'1,"2\n3"\n4,5\n']
    """
    return _blocks(content, start, separator, source)


def text_blocks(pieces: Iterable[bytes], *, source: str) -> Iterator[bytes]:
    r"""Yield blocks of whole lines of a text given in pieces; all line ends become line feeds.

    >>> list(text_blocks([b"a\r", b"\nb\rc"], source="t"))
    [b'a\nb\nc']
    """
    waiting: list[bytes] = []
    size, enough = 0, BLOCK
    for piece in _with_line_feeds(pieces):
        waiting.append(piece)
        size += len(piece)
        if size < enough:
            continue
        data = b"".join(waiting)
        end = data.rfind(b"\n") + 1
        if not end and size > MOST_ROW:
            raise TraceError(f"{source}: expected a line within {MOST_ROW:,} bytes, got none")
        yield from line_blocks(data[:end], source=source)
        waiting, size = [data[end:]], len(data) - end
        # Search again only after the size has doubled; otherwise a long line would be joined for each of its pieces.
        enough = max(BLOCK, 2 * size)
    yield from line_blocks(b"".join(waiting), source=source)


def _with_line_feeds(pieces: Iterable[bytes]) -> Iterator[bytes]:
    held = b""
    for piece in pieces:
        text = held + piece
        # The next byte decides whether a final carriage return is part of CR LF.
        held = b"\r" if text.endswith(b"\r") else b""
        text = text.removesuffix(held)
        yield text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
    if held:
        yield b"\n"


def release_pages(content: Content, end: int) -> None:
    """Release the pages of a mapped file up to `end`, which would otherwise stay in memory."""
    if isinstance(content, mmap.mmap):
        content.madvise(mmap.MADV_DONTNEED, 0, end)


def _blocks(content: Content, start: int, separator: str | None, source: str) -> Iterator[bytes]:
    while start < len(content):
        size = BLOCK
        while True:
            block = content[start : start + size]
            if start + len(block) == len(content):
                break
            if end := block.rfind(b"\n") + 1 if separator is None else _row_end(block, separator):
                block = block[:end]
                break
            if size >= MOST_ROW:
                what = "a line" if separator is None else "a row, and quotes around whole fields,"
                raise TraceError(f"{source}: expected {what} within {size:,} bytes, got none after byte {start:,}")
            size *= 2
        start += len(block)
        release_pages(content, start)
        yield block


def _row_end(block: bytes, separator: str) -> int:
    """Return the end of the last row of a block that is certainly complete, or 0."""
    if _QUOTE not in block:
        return block.rfind(b"\n") + 1
    marks = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(marks == _QUOTE)
    opening, closing = quotes[::2], quotes[1::2]
    # The parser does not treat a quote inside a name as opening; after one, counting quotes cannot find row ends.
    before = marks[opening - 1]
    strange = ~np.isin(before, [_QUOTE, _NEWLINE, ord(separator)]) & (opening > 0)
    certain = int(opening[strange][0]) if strange.any() else len(block)
    # Find the last line end that is not inside quotes, including a quoted field that the block truncates.
    while (end := block.rfind(b"\n", 0, certain)) >= 0:
        place = int(np.searchsorted(opening, end))
        inside = place > 0 and (place > len(closing) or closing[place - 1] > end)
        if not inside:
            return end + 1
        certain = int(opening[place - 1])
    return 0


class Fault(Enum):
    """The fault of an incomplete row."""

    BLANK = "blank"  # an empty line, not a row
    SHORT = "short"  # a line end before the last field
    CUT = "cut"  # the file ends before the last field or inside a quoted one: its last cell is not trusted
    UNENDED = "unended"  # all fields, but no line end


class Broken(NamedTuple):
    """An incomplete row: its fault, and the values for the error message."""

    fault: Fault
    expected: str = ""
    got: str = ""


def find_broken(
    data: bytes, table: pl.DataFrame, *, separator: str, source: str, alone: bool = True
) -> tuple[pl.DataFrame, dict[int, Broken]]:
    r"""Return the table without truncated cells, and its incomplete rows by number.

    `data` is the block that the table was read from, with a header in the first line; `alone` says that it is the
    whole file.

    >>> cells = pl.DataFrame({"seed": ["1", "1"], "time": ["2", "3"], "objective": ["951", "9"], "valid": ["t", None]})
    >>> table, broken = find_broken(b"seed,time,objective,valid\n1,2,951,t\n1,3,9", cells, separator=",", source="a")
    >>> table["objective"].to_list(), broken[1].fault, broken[1].got
    (['951', None], <Fault.CUT: 'cut'>, '3 where the file ends')
    """
    width, last = table.width, table.height - 1
    ended, open_quote = _has_end(data), ends_in_quotes(data)
    no_end = Broken(Fault.UNENDED, "a line end", "the end of the file: its last number may be cut")
    # A row that lacks any field lacks the last one; if no row lacks it, the fields need not be counted.
    if not table.height or not (table[:, -1].null_count() or open_quote):
        return table, {} if ended or not table.height else {last: no_end}
    counts = count_fields(data, separator)[1:]
    if len(counts) != table.height:
        raise TraceError(f"{source}: expected quotes in pairs, got {table.height:,} rows on {len(counts):,} lines")
    blank = table.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy() & (counts == 1)
    # If the last cell is present, the parser found all fields: the count was misled by a quote inside a name.
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
    """Say whether a file without a final line end was truncated inside a quoted cell."""
    return not _has_end(data) and data.count(b'"') % 2 == 1


def _has_end(data: bytes) -> bool:
    return data.endswith((b"\n", b"\r"))


def count_fields(data: bytes, separator: str) -> NDArray[np.int64]:
    r"""Return the number of fields of each row.

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
        # Separators before each line end, minus those of previous rows.
        before = np.searchsorted(np.flatnonzero(marks), np.flatnonzero(ends))
        if len(before):
            pieces.append(np.diff(before, prepend=-pending))
            pending = 0
        pending += int(np.count_nonzero(marks)) - (int(before[-1]) if len(before) else 0)
    if data and (inside or data[-1] != _NEWLINE):
        pieces.append(np.array([pending]))
    counts = np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
    return counts + 1


# Fraction of the memory budget; the arrays derived from the columns take as much again.
_SHARE = 8


class GrowingColumns:
    """Columns that are collected in parts, moved to temporary files when they exceed a share of the memory budget.

    >>> gathered = GrowingColumns()
    >>> gathered.add({"time": np.array([1.0])})
    >>> gathered.add({"time": np.array([2.0, 3.0])})
    >>> gathered.whole("time").tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._files: dict[str, IO[bytes]] = {}
        self._held = 0

    def add(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Append a part to every column."""
        for name, column in columns.items():
            self._parts.setdefault(name, []).append(column)
            self._held += column.nbytes
        # A column in a single part needs no copy, so it is not written to a file.
        if self._held > memory_budget() // _SHARE and (self._files or any(len(p) > 1 for p in self._parts.values())):
            self._put_away()

    def whole(self, name: str) -> NDArray[Any]:
        """Return a column, memory-mapped if it is in a file."""
        parts = self._parts[name]
        if name not in self._files:
            return parts[0] if len(parts) == 1 else np.concatenate(parts)
        kind = parts[0].dtype
        self._append(name)
        return np.memmap(self._files[name], kind, "r")

    def take(self, name: str) -> NDArray[Any]:
        """Return a column and remove it from this object."""
        whole = self.whole(name)
        del self._parts[name]
        if name in self._files:
            self._files.pop(name).close()
        return whole

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._parts)

    def _put_away(self) -> None:
        for name in self._parts:
            if name not in self._files:
                self._files[name] = tempfile.TemporaryFile(dir=scratch_place())  # noqa: SIM115 - closed when it is taken
            self._append(name)
        self._held = 0

    def _append(self, name: str) -> None:
        for part in self._parts[name]:
            self._files[name].write(np.ascontiguousarray(part).data)
        self._files[name].flush()
        # Keep an empty part for its dtype.
        self._parts[name] = [self._parts[name][-1][:0]]

    def __del__(self) -> None:
        for file in self._files.values():
            file.close()
