"""Fast paths for CSV and JSONL files whose numbers can be read as numbers."""

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from gapline.contract.number_limits import EXACT
from gapline.files.compression import UTF_8_MARK, Content
from gapline.traces.blocks import line_blocks
from gapline.traces.columns import Dialect
from gapline.traces.time_units import TEXTS

NUMBERS = ("time", "objective", "claimed", "bound", "primary", "secondary")
# These are meant however they are written; a `Bound` of others may hold anything.
_ANY_CASE = ("time", "objective")


def number_columns(names: Sequence[str], dialect: Dialect) -> dict[str, str]:
    """Return the columns that are numbers of the candidates and nothing else, and what each of them is.

    >>> number_columns(["arm", "Time", "objective", "Bound", "cost"], Dialect.parse("claimed=cost"))
    {'Time': 'time', 'objective': 'objective', 'cost': 'claimed'}
    """
    # A comma is no part of a number that Polars reads.
    if dialect.decimal != ".":
        return {}
    numbers = [name for name in NUMBERS if name != "time" or dialect.time_unit not in TEXTS]
    lower = Counter(name.lower() for name in names)
    declared = Counter(theirs.lower() for theirs in dialect.columns.values())
    meant = {name: name for name in numbers}
    meant |= {n: n.lower() for n in names if n.lower() in _ANY_CASE and n.lower() in numbers}
    meant = {name: ours for name, ours in meant.items() if lower[name.lower()] == 1 and not declared[name.lower()]}
    meant |= {n: ours for ours, n in dialect.columns.items() if ours in numbers and declared[n.lower()] == 1}
    return {name: meant[name] for name in names if name in meant}


def read_typed(data: bytes, numbers: Mapping[str, str], *, separator: str) -> pl.DataFrame | None:
    r"""Read rows under their header with some columns as numbers, None where a cell is not plain: those stay text.

    >>> read_typed(b"arm,time\na,1\nb,\n", {"time": "time"}, separator=",").rows()
    [('a', 1.0), ('b', None)]
    >>> [read_typed(b"t,b\n%b,b\n" % cell, {"t": "time"}, separator=",") for cell in (b"-1", b"inf", b"x", b" ")]
    [None, None, None, None]
    """
    if not numbers:
        return None
    try:
        table = _read_text(data, separator, schema_overrides=dict.fromkeys(numbers, pl.Float64))
        if not all(_is_plain(table[name], ours) for name, ours in numbers.items()):
            return None
        # A blank is no number and not nothing: Polars makes null of both, and messages tell them apart.
        if empty := [name for name in numbers if table[name].null_count()]:
            text = _read_text(data, separator, columns=empty)
            if any(text[name].null_count() != table[name].null_count() for name in empty):
                return None
    except pl.exceptions.PolarsError:
        return None
    return table


def _read_text(data: bytes, separator: str, **more: Any) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(data), infer_schema=False, null_values=[""], separator=separator, **more)


def _is_plain(column: pl.Series, ours: str) -> bool:
    """Say whether a double holds each number as it was written, and nothing about any of them has to be shown."""
    # The least and the greatest pass over NaN and over nothing.
    low, high = column.min(), column.max()
    if column.is_nan().any() or not isinstance(low, float) or not isinstance(high, float):
        return column.null_count() == column.len()
    return low > -EXACT and high < EXACT and (low >= 0 or ours != "time")


# Lines whose types are believed.
_BELIEVED = 1000
_NEWLINE, _RETURN, _OPEN, _CLOSE = b"\n\r{}"
# A line that is no JSON, a type or a name that msgspec does not take, a number that its column does not.
_ODD = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError, pl.exceptions.PolarsError)
_POLARS: dict[Any, Any] = {str: pl.String, bool: pl.Boolean, int: pl.Int64, float: pl.Float64}


class OddLineError(Exception):
    """A file of lines that are not all alike."""


class _Column(NamedTuple):
    """A column: its name in the lines, its field in our rows, and its type, None where every cell is empty."""

    name: str
    field: str
    kind: type | None


def read_alike(content: Content, *, source: str) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield tables and the line of their first row, or raise `OddLineError`, perhaps after some of the tables."""
    start = len(UTF_8_MARK) if content[: len(UTF_8_MARK)] == UTF_8_MARK else 0
    columns: list[_Column] = []
    decoder: msgspec.json.Decoder[Any] | None = None
    line = 1
    for block in line_blocks(content, start=start, source=source):
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
    r"""Return how many lines there are where each begins and ends as an object does, -1 elsewhere.

    As many objects as such lines are one in each: else what is row k would not be line k.

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
    """Return the columns of the first lines; a file of other things than text and numbers is given up."""
    kinds: dict[str, set[type]] = {}
    decoder = msgspec.json.Decoder(dict[str, Any])
    for line in block.split(b"\n", _BELIEVED)[:_BELIEVED]:
        for name, value in (decoder.decode(line) if line.strip() else {}).items():
            kinds.setdefault(name, set()).update(() if value is None else (type(value),))
    columns = []
    for number, (name, found) in enumerate(kinds.items()):
        # Whole numbers and others are both numbers; of a candidate they are doubles in the end.
        number_like = bool(found) and found <= {int, float} and (float in found or name in NUMBERS)
        if not number_like and (len(found) > 1 or not found <= _POLARS.keys()):
            raise OddLineError
        columns.append(_Column(name, f"c{number}", float if number_like else next(iter(found), None)))
    return columns


def _make_decoder(columns: list[_Column]) -> "msgspec.json.Decoder[Any]":
    kinds = (None if column.kind is None else column.kind | None for column in columns)
    fields: list[Any] = [(column.field, kind, None) for column, kind in zip(columns, kinds, strict=True)]
    names = {column.field: column.name for column in columns}
    # Whatever is not alike is an error: a further name, and a value of another type.
    row = msgspec.defstruct("Row", fields, rename=names, forbid_unknown_fields=True, gc=False)
    return msgspec.json.Decoder(row)


def _make_column(column: _Column, rows: list[Any]) -> pl.Series:
    cells = list(map(attrgetter(column.field), rows))
    series = pl.Series(column.name, cells, dtype=_POLARS[column.kind or float])
    # It may have been an integer that no double holds.
    if column.kind is float and (series.abs() >= EXACT).any():
        raise OddLineError
    return series
