"""Rows of CSV whose numbers are read as numbers, wherever reading them as text would tell nothing more.

Text is what lets a bad cell be shown as it was written, and it costs three times as much. Rows in which every number is
a plain one need none of it; a block with a single odd cell is given up here and read as text.
"""

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from gapline.capture.dialect import Dialect
from gapline.capture.time_units import TEXTS
from gapline.model.exact import EXACT

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
