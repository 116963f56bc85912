"""Convert JSON lines to tables, in bulk if all lines have the same types, else line by line; also Python records."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from gapline.contract.number_limits import EXACT, is_exact
from gapline.errors import TraceError
from gapline.files.compression import Content, text_start
from gapline.traces.blocks import BLOCK, line_blocks

# Numeric columns of a candidate, which are converted to doubles.
_NUMBERS = ("time", "objective", "claimed", "bound", "primary", "secondary")
_LONGEST = 2**63
# Number of lines from which the types of the columns are taken.
_BELIEVED = 1000
_NEWLINE, _RETURN, _OPEN, _CLOSE = b"\n\r{}"
# Errors for a line that is not JSON, a type or name that msgspec refuses, or a number that a column cannot hold.
_ODD = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError, pl.exceptions.PolarsError)
_POLARS: dict[Any, Any] = {str: pl.String, bool: pl.Boolean, int: pl.Int64, float: pl.Float64}


class OddLineError(Exception):
    """The lines of a file do not all have the same columns and types."""


class _Column(NamedTuple):
    """A column: its name in the lines, its field in the decoded rows, and its type (None if all cells are null)."""

    name: str
    field: str
    kind: type | None


def read_alike(content: Content, *, source: str) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield tables and the line of their first row; raise `OddLineError`, perhaps after some tables."""
    columns: list[_Column] = []
    decoder: msgspec.json.Decoder[Any] | None = None
    line = 1
    for block in line_blocks(content, start=text_start(content), source=source):
        try:
            if decoder is None:
                columns = _find_columns(block)
                decoder = _make_decoder(columns)
            rows = decoder.decode_lines(block)
            if len(rows) != _count_lines(block):
                raise OddLineError
            table = pl.DataFrame([_make_column(column, rows) for column in columns])
        except _ODD as odd:
            raise OddLineError from odd
        yield table, line
        line += table.height
    if decoder is None:
        raise OddLineError


def _count_lines(block: bytes) -> int:
    r"""Return the number of lines if each begins and ends like an object, else -1.

    If that equals the number of objects, there is one object per line, so that row k is line k.

    >>> _count_lines(b'{"x":1}\n{"x":2}\r\n{"x":3}'), _count_lines(b'{"x":\n1}\n'), _count_lines(b'{"x":1}\n\n')
    (3, -1, -1)
    """
    marks = np.frombuffer(block, np.uint8)
    if len(marks) < len(b"{}"):
        return -1
    ends = np.flatnonzero(marks == _NEWLINE)
    if not len(ends) or ends[-1] < len(marks) - 1:
        ends = np.append(ends, len(marks))
    starts = np.concatenate(([0], ends[:-1] + 1))
    last = marks[ends - 1]
    last = np.where(last == _RETURN, marks[ends - 2], last)
    return len(ends) if bool((marks[starts] == _OPEN).all() and (last == _CLOSE).all()) else -1


def _find_columns(block: bytes) -> list[_Column]:
    """Return the columns of the first lines; raise `OddLineError` for mixed or unsupported types."""
    kinds: dict[str, set[type]] = {}
    decoder = msgspec.json.Decoder(dict[str, Any])
    for line in block.split(b"\n", _BELIEVED)[:_BELIEVED]:
        for name, value in (decoder.decode(line) if line.strip() else {}).items():
            kinds.setdefault(name, set()).update(() if value is None else (type(value),))
    columns = []
    for number, (name, found) in enumerate(kinds.items()):
        # Integers and floats mix; candidate columns become doubles in any case.
        number_like = bool(found) and found <= {int, float} and (float in found or name in _NUMBERS)
        if not number_like and (len(found) > 1 or not found <= _POLARS.keys()):
            raise OddLineError
        columns.append(_Column(name, f"c{number}", float if number_like else next(iter(found), None)))
    return columns


def _make_decoder(columns: list[_Column]) -> "msgspec.json.Decoder[Any]":
    kinds = (None if column.kind is None else column.kind | None for column in columns)
    fields: list[Any] = [(column.field, kind, None) for column, kind in zip(columns, kinds, strict=True)]
    names = {column.field: column.name for column in columns}
    # A new name and a value of another type are errors.
    row = msgspec.defstruct("Row", fields, rename=names, forbid_unknown_fields=True, gc=False)
    return msgspec.json.Decoder(row)


def _make_column(column: _Column, rows: list[Any]) -> pl.Series:
    cells = list(map(attrgetter(column.field), rows))
    series = pl.Series(column.name, cells, dtype=_POLARS[column.kind or float])
    # The value may have been an integer without an exact double.
    if column.kind is float and (series.abs() >= EXACT).any():
        raise OddLineError
    return series


def read_json_lines(content: Content, *, source: str) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield tables and the line of their first row."""
    start = text_start(content)
    kinds, line = _Kinds(), 1
    # A column has one type in all blocks, which depends on the whole file; so a large file is read twice.
    if len(content) - start > BLOCK:
        for block in line_blocks(content, start=start, source=source):
            rows = _decode_block(block, line, source)
            kinds.look(rows)
            line += len(rows)
        line = 1
        for block in line_blocks(content, start=start, source=source):
            rows = _decode_block(block, line, source)
            start += len(block)
            yield kinds.frame(_without_end(rows) if start == len(content) else rows), line
            line += len(rows)
        return
    yield frame_of_records(_without_end(_decode_block(content[start:], line, source))), line


def _without_end(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Drop the blank lines at the end of a file."""
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _decode_block(block: bytes, first: int, source: str) -> list[dict[str, Any]]:
    """Decode lines; a blank line becomes an empty row, so that row k is line k."""
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
    """Decode an object with NaN, Infinity or 1e400, kept as text, so that a bad number costs only one candidate."""
    try:
        row = json.loads(line, parse_constant=str, parse_float=lambda x: x if np.isinf(float(x)) else float(x))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def frame_of_records(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Build a frame from records; a column of mixed types becomes text, so that messages can quote each bad cell."""
    kinds = _Kinds()
    kinds.look(rows)
    return kinds.frame(rows)


class _Kinds:
    """The types of the columns of all records seen so far."""

    def __init__(self) -> None:
        self.found: dict[str, set[type]] = {}
        # Columns with an integer without an exact float, and columns with one of more than 64 bits.
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
                # Check each number only if some are that large.
                if max(-low, high) > EXACT and not all(map(is_exact, numbers)):
                    self.inexact.add(name)
                if not (low >= -_LONGEST and high < _LONGEST):
                    self.too_long.add(name)

    def frame(self, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
        return pl.DataFrame([self._column(name, [row.get(name) for row in rows]) for name in self.found])

    def _column(self, name: str, values: list[Any]) -> pl.Series:
        kinds = self.found[name]
        # An integer without an exact float, or beyond 64 bits, stays text: it is reported and costs one candidate.
        if kinds <= {int, float} and kinds != {int} and name not in self.inexact:
            return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
        if kinds == {int} and name not in self.too_long:
            return pl.Series(name, values, dtype=pl.Int64)
        if kinds in ({str}, {bool}):
            return pl.Series(name, values, dtype=pl.Boolean if bool in kinds else pl.String)
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
