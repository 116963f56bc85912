"""The carriers of a neutral trace: CSV, JSONL, Parquet or Arrow files, or loose records, become tables of cells.

A large file becomes several tables, one after the other: as text, its cells would take ten times its size.
"""

import contextlib
import io
import json
import mmap
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
import polars as pl

from gapline.contract.number_limits import EXACT, is_exact
from gapline.contract.tables import TRACE_REQUIRED
from gapline.errors import TraceError, listing
from gapline.files.compression import UTF_8_MARK, UTF_16, Content, as_utf8
from gapline.traces.blocks import BLOCK, Broken, count_fields, ends_in_quotes, find_broken, line_blocks, row_blocks
from gapline.traces.candidates import EVENTS, NUMBER, Ends
from gapline.traces.columns import KNOWN, Dialect, find_separator
from gapline.traces.parquet import Sheet, read_sheets, stored
from gapline.traces.repeated_rows import Heads
from gapline.traces.typed_rows import number_columns, read_alike, read_typed

HEADER = 1 << 16
# Rows of a table that are looked at at once.
SLICE = 1 << 18
_ABOVE = re.compile(rb"[\r\n]*")
_LONGEST = 2**63


class Cells(NamedTuple):
    """Cells of a file, the line of the first row, and the rows of a CSV file that are not whole.

    Where there are `heads` the table has some of the columns, and they have the others, once per block of equal rows.
    `ends` are the least and the greatest number of some columns that have nothing but finite ones.
    """

    table: pl.DataFrame
    first_line: int = 1
    broken: Mapping[int, Broken] = MappingProxyType({})
    heads: Heads | None = None
    names: Collection[str] = ()
    ends: Mapping[str, Ends] = MappingProxyType({})

    def whole(self) -> "Iterator[Cells]":
        """Yield the same with all columns in the table, some of the rows at a time."""
        if self.heads is None:
            yield self
            return
        for start in range(0, self.table.height, SLICE):
            table = self.table[start : start + SLICE]
            sheet = Sheet(table, self.heads.cut(start, start + table.height), self.names)
            yield Cells(sheet.whole(), self.first_line + start)


def read_pieces(content: Content | BinaryIO, *, form: str, source: str, dialect: Dialect) -> Iterator[Cells]:
    """Read a CSV, JSONL, Parquet or Arrow file as one or more tables, without judging its columns.

    What repeats in a large Parquet or Arrow file comes once per block of rows.
    """
    with _failing(form, source):
        if isinstance(content, bytes | mmap.mmap):
            if form in ("csv", "jsonl") and content[:2] in UTF_16:
                content = b"".join(as_utf8(iter([bytes(content)])))
            if form == "csv":
                yield from _read_csv(content, source, dialect)
                return
            if form == "jsonl":
                yield from _read_jsonl(content, source)
                return
            content = stored(content)
        line, names = 1, {*EVENTS, *(theirs for ours, theirs in dialect.columns.items() if ours in EVENTS)}
        with content:
            for table, heads, order, ends in read_sheets(content, form=form, source=source, names=names):
                yield Cells(table, line, heads=heads, names=order, ends=ends)
                line += table.height


def read_all_alike(content: Content, *, source: str) -> Iterator[Cells]:
    """Read lines of JSON that are all alike, or raise `OddLineError`: then `read_pieces` says what they are."""
    return (Cells(table, line) for table, line in read_alike(content, source=source))


@contextlib.contextmanager
def _failing(form: str, source: str) -> Iterator[None]:
    """Turn what Polars says of a file into an error of ours."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError) as error:
        # A panic of Polars is no `Exception`.
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TraceError(f"{source}: expected a {form} trace, got {first}") from error


def _read_csv(content: Content, source: str, dialect: Dialect) -> Iterator[Cells]:
    start = len(UTF_8_MARK) if content[: len(UTF_8_MARK)] == UTF_8_MARK else 0
    # Empty lines before the header are no rows, but they are lines.
    blank = _ABOVE.match(content, start)
    assert blank is not None
    above, start = blank[0].count(b"\n"), blank.end()
    head = content[start : start + HEADER]
    if not head.strip():
        raise TraceError(
            f"{source}: expected a header {','.join(TRACE_REQUIRED)}, got an empty file",
            hint="a table has a header and one row for each candidate",
        )
    separator = find_separator(head.split(b"\n", 1)[0])
    blocks = row_blocks(content, separator, start=start, source=source)
    first = next(blocks)
    # Polars would rename a second `time` without a word, and the first one would be read.
    header = _read_text(first, separator, source, above + 2, has_header=False, n_rows=1).row(0)
    if not dialect.columns and _is_data(header):
        got = separator.join(cell or "" for cell in header)
        raise TraceError(
            f"{source}:{above + 1}: expected a header {','.join(TRACE_REQUIRED)}, got {got!r}",
            hint="the first line names the columns: write it above the rows",
        )
    if twice := sorted({name for name in header if name is not None and header.count(name) > 1}):
        raise TraceError(
            f"{source}:{above + 1}: expected each column once, got {listing(twice)} more than once",
            hint="rename or remove the columns that are not meant",
        )
    alone, heading, line = start + len(first) == len(content), b"", above + 2
    # Each further block goes under the header, so that Polars treats it as it would the whole file.
    under = b"" if alone else _heading(first, separator, source)
    numbers = number_columns([name or "" for name in header], dialect)
    for block in chain([first], blocks):
        data = heading + block
        typed = read_typed(data, numbers, separator=separator)
        broken: dict[int, Broken] = {}
        if typed is not None:
            table, broken = find_broken(data, typed, separator=separator, source=source, alone=alone)
        if typed is None or broken:
            # Everything is read as text: only then can a bad number be shown as it was written.
            table = _read_text(data, separator, source, line, null_values=[""])
            table, broken = find_broken(data, table, separator=separator, source=source, alone=alone)
        yield Cells(table, line, broken)
        heading, line = under, line + table.height


def _read_text(data: bytes, separator: str, source: str, line: int, **more: Any) -> pl.DataFrame:
    """Read a block of rows under its header as text, or name the first row that has too many fields."""
    try:
        return pl.read_csv(io.BytesIO(_closed(data)), infer_schema=False, separator=separator, **more)
    except pl.exceptions.PolarsError as error:
        width, *counts = count_fields(data, separator).tolist()
        wide = next((row for row, count in enumerate(counts) if count > width), None)
        if wide is None:
            raise
        raise TraceError(
            f"{source}:{line + wide}: expected {width} fields, as in the header, got {counts[wide]}",
            hint="the first line names the columns: remove what stands above it"
            if width == 1
            else f"put quotes around a cell that holds {separator!r}; numbers with decimal commas need quotes too, and "
            "--decimal ,",
        ) from error


def _closed(data: bytes) -> bytes:
    # A cell that was cut inside its quotes would make the parser refuse the rows before it too.
    return data + b'"' if ends_in_quotes(data) else data


def _is_data(header: Sequence[str | None]) -> bool:
    """Say whether the first line of a table is a row of numbers, and names no column."""
    names = [name.strip() for name in header if name is not None]
    # The time of a match grows with the square of the length; the header of a log can be one cell of 64 kB.
    numbers = sum(len(name) < 400 and re.fullmatch(NUMBER, name) is not None for name in names)
    return numbers > 1 and not {name.lower() for name in names} & {*KNOWN}


def _heading(block: bytes, separator: str, source: str) -> bytes:
    ends = (match.end() for match in re.finditer(rb"\n", block))
    heading = next((block[:end] for end in ends if not block.count(b'"', 0, end) % 2), block)
    if pl.read_csv(io.BytesIO(heading), infer_schema=False, separator=separator).height:
        raise TraceError(f"{source}: expected a header with quotes around whole names, got {heading[:60]!r}")
    return heading


def _read_jsonl(content: Content, source: str) -> Iterator[Cells]:
    start = len(UTF_8_MARK) if content[: len(UTF_8_MARK)] == UTF_8_MARK else 0
    kinds, line = _Kinds(), 1
    # A column has one type in all blocks, and only the whole file tells which: a large one is read twice.
    if len(content) - start > BLOCK:
        for block in line_blocks(content, start=start, source=source):
            rows = _decode_block(block, line, source)
            kinds.look(rows)
            line += len(rows)
        line = 1
        for block in line_blocks(content, start=start, source=source):
            rows = _decode_block(block, line, source)
            start += len(block)
            yield Cells(kinds.frame(_without_end(rows) if start == len(content) else rows), line)
            line += len(rows)
        return
    yield Cells(frame_of_records(_without_end(_decode_block(content[start:], line, source))))


def _without_end(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out the blank lines at the end of a file: they are no rows."""
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _decode_block(block: bytes, first: int, source: str) -> list[dict[str, Any]]:
    """Decode lines; a blank one keeps its place, so that row k is line k."""
    rows: list[dict[str, Any]] = []
    decoder = msgspec.json.Decoder(dict[str, Any])
    for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), start=first):
        if not line.strip():
            rows.append({})
            continue
        try:
            rows.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            row = _decode_loosely(line)
            if row is None:
                shown = line[:60].decode("utf-8", "replace")
                raise TraceError(
                    f"{source}:{number}: expected one JSON object, got {shown!r} ({error})",
                    hint="write one object per line (jq -c '.[]' turns an array into lines)" if not rows else None,
                ) from error
            rows.append(row)
    return rows


def _decode_loosely(line: bytes) -> dict[str, Any] | None:
    """Decode an object with NaN, Infinity or 1e400 in it, kept as text: a bad number costs one candidate, no more."""
    try:
        row = json.loads(line, parse_constant=str, parse_float=lambda x: x if np.isinf(float(x)) else float(x))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def frame_of_records(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Make a frame of loose records; a column of mixed types becomes text, so that each bad cell can be shown."""
    kinds = _Kinds()
    kinds.look(rows)
    return kinds.frame(rows)


class _Kinds:
    """Which types the columns of records have, as far as the records were looked at."""

    def __init__(self) -> None:
        self.found: dict[str, set[type]] = {}
        # Columns with an integer that no float holds exactly, and with one that no 64 bits hold.
        self.inexact: set[str] = set()
        self.too_long: set[str] = set()

    def look(self, rows: Sequence[Mapping[str, Any]]) -> None:
        for name in dict.fromkeys(chain.from_iterable(rows)):
            values = [row.get(name) for row in rows]
            kinds = set(map(type, values)) - {type(None)}
            self.found.setdefault(name, set()).update(kinds)
            if int in kinds:
                numbers = [value for value in values if type(value) is int]
                low, high = min(numbers), max(numbers)
                # Looked at only where a number is that large.
                if max(-low, high) > EXACT and not all(map(is_exact, numbers)):
                    self.inexact.add(name)
                if not (low >= -_LONGEST and high < _LONGEST):
                    self.too_long.add(name)

    def frame(self, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
        return pl.DataFrame([self._column(name, [row.get(name) for row in rows]) for name in self.found])

    def _column(self, name: str, values: list[Any]) -> pl.Series:
        kinds = self.found[name]
        # An integer that no float can hold, or none exactly, stays text: it is shown, and costs one candidate.
        if kinds <= {int, float} and kinds != {int} and name not in self.inexact:
            return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
        if kinds == {int} and name not in self.too_long:
            return pl.Series(name, values, dtype=pl.Int64)
        if kinds in ({str}, {bool}):
            return pl.Series(name, values, dtype=pl.Boolean if bool in kinds else pl.String)
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
