"""The carriers of a neutral trace: bytes of CSV, JSONL, Parquet or Arrow, or loose records, become a table of cells."""

import contextlib
import io
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from gapline.capture.columnar import read_columnar
from gapline.capture.dialect import find_separator
from gapline.capture.exact import is_exact
from gapline.capture.whole_rows import Broken, ends_in_quotes, find_broken
from gapline.errors import TraceError, listing
from gapline.model.tables import TRACE_REQUIRED

HEADER = 1 << 16


class Cells(NamedTuple):
    """The cells of a file, the line of its first row, and the rows of a CSV file that are not whole."""

    table: pl.DataFrame
    first_line: int = 1
    broken: Mapping[int, Broken] = MappingProxyType({})


def read_table(data: bytes, *, form: str, source: str) -> Cells:
    """Read the bytes of a CSV, JSONL, Parquet or Arrow file into a table, without judging its columns."""
    try:
        if form == "csv":
            return _read_csv(data, source)
        if form == "jsonl":
            return Cells(_read_jsonl(data, source))
        return Cells(read_columnar(data, form=form, source=source))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError) as error:
        # A panic of Polars is no `Exception`.
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TraceError(f"{source}: expected a {form} trace, got {first}") from error


def _read_csv(data: bytes, source: str) -> Cells:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise TraceError(f"{source}: expected a header {','.join(TRACE_REQUIRED)}, got an empty file")
    # Empty lines before the header are no rows, but they are lines.
    above = data[: len(data) - len(data.lstrip(b"\r\n"))].count(b"\n")
    data = data.lstrip(b"\r\n")
    separator = find_separator(data[:HEADER].split(b"\n", 1)[0])
    # A cell that was cut inside its quotes would make the parser refuse the rows before it too.
    closed = data + b'"' if ends_in_quotes(data) else data
    # Polars would rename a second `time` without a word, and the first one would be read.
    header = pl.read_csv(io.BytesIO(closed), has_header=False, n_rows=1, infer_schema=False, separator=separator).row(0)
    if twice := sorted({name for name in header if name is not None and header.count(name) > 1}):
        raise TraceError(f"{source}:{above + 1}: expected each column once, got {listing(twice)} more than once")
    # Everything is read as text: only then can a bad number be shown as it was written.
    table = pl.read_csv(io.BytesIO(closed), infer_schema=False, null_values=[""], separator=separator)
    table, broken = find_broken(data, table, separator=separator, source=source)
    return Cells(table, above + 2, broken)


def _read_jsonl(data: bytes, source: str) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    decoder = msgspec.json.Decoder(dict[str, Any])
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            rows.append({})
            continue
        try:
            rows.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            row = _decode_loosely(line)
            if row is None:
                shown = line[:60].decode("utf-8", "replace")
                raise TraceError(f"{source}:{number}: expected one JSON object, got {shown!r} ({error})") from error
            rows.append(row)
    # A blank line keeps its place, so that row k is line k; those at the end are no rows.
    while rows and not rows[-1]:
        rows.pop()
    return frame_of_records(rows)


def _decode_loosely(line: bytes) -> dict[str, Any] | None:
    """Decode an object with NaN, Infinity or 1e400 in it, kept as text: a bad number costs one candidate, no more."""
    try:
        row = json.loads(line, parse_constant=str, parse_float=lambda x: x if np.isinf(float(x)) else float(x))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def frame_of_records(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Make a frame of loose records; a column of mixed types becomes text, so that each bad cell can be shown."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values if value is not None}
        # An integer that no float can hold, or none exactly, stays text: it is shown, and costs one candidate.
        if kinds <= {int, float} and kinds != {int} and all(is_exact(v) for v in values if type(v) is int):
            columns[name] = pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
            continue
        if len(kinds) <= 1 and kinds <= {int, str, bool}:
            # An integer beyond 64 bits has no column: it becomes text like a mixture does.
            with contextlib.suppress(OverflowError, pl.exceptions.PolarsError, TypeError):
                columns[name] = pl.Series(name, values)
                continue
        columns[name] = pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
    return pl.DataFrame(columns)
