"""File formats of a neutral trace: read CSV, JSONL, Parquet or Arrow files as tables of cells.

A large file is read as several tables, because as text its cells would take ten times its size.
"""

import contextlib
import io
import mmap
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, cast

import polars as pl

from gapline.contract.tables import TRACE_REQUIRED
from gapline.errors import TraceError, listing
from gapline.files.compression import UTF_16, Content, as_utf8, text_start
from gapline.traces.blocks import Broken, count_fields, ends_in_quotes, find_broken, row_blocks
from gapline.traces.candidates import NUMBER
from gapline.traces.columns import KNOWN, Dialect, find_separator
from gapline.traces.json_lines import read_json_lines
from gapline.traces.parquet import read_columnar

HEADER = 1 << 16
_ABOVE = re.compile(rb"[\r\n]*")


class Cells(NamedTuple):
    """Cells of a file, the line of the first row, and the incomplete rows of a CSV file."""

    table: pl.DataFrame
    first_line: int = 1
    broken: Mapping[int, Broken] = MappingProxyType({})


def read_pieces(content: Content | BinaryIO, *, form: str, source: str, dialect: Dialect) -> Iterator[Cells]:
    """Read a CSV, JSONL, Parquet or Arrow file as one or more tables, without checking its columns."""
    with _failing(form, source):
        if form not in ("csv", "jsonl"):
            line = 1
            with _stored(content) if isinstance(content, bytes | mmap.mmap) else content as file:
                for table in read_columnar(file, form=form, source=source):
                    yield Cells(table, line)
                    line += table.height
            return
        assert isinstance(content, bytes | mmap.mmap)
        if content[:2] in UTF_16:
            content = b"".join(as_utf8(iter([bytes(content)])))
        if form == "csv":
            yield from _read_csv(content, source, dialect)
        else:
            yield from (Cells(*piece) for piece in read_json_lines(content, source=source))


def _stored(content: Content) -> BinaryIO:
    """Write content to a temporary file that is deleted when closed."""
    file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - it is the caller who closes it
    file.write(content)
    file.flush()
    return cast(BinaryIO, file)


@contextlib.contextmanager
def _failing(form: str, source: str) -> Iterator[None]:
    """Convert Polars errors about a file to a `TraceError`."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError) as error:
        # `PanicException` is not a subclass of `Exception`, so it is listed explicitly.
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TraceError(f"{source}: expected a {form} trace, got {first}") from error


def _read_csv(content: Content, source: str, dialect: Dialect) -> Iterator[Cells]:
    start = text_start(content)
    # Empty lines before the header are not rows, but count as lines.
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
    # Check for duplicates here: Polars would silently rename a second `time`, and the first one would be read.
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
    # Prepend the header to each further block, so that Polars parses it like the whole file.
    under = b"" if alone else _heading(first, separator, source)
    for block in chain([first], blocks):
        data = heading + block
        # Read as text, so that messages quote bad numbers as written.
        table = _read_text(data, separator, source, line, null_values=[""])
        table, broken = find_broken(data, table, separator=separator, source=source, alone=alone)
        yield Cells(table, line, broken)
        heading, line = under, line + table.height


def _read_text(data: bytes, separator: str, source: str, line: int, **more: Any) -> pl.DataFrame:
    """Read a block of rows with its header as text; the error for a row with too many fields names the first one."""
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
    # Close the quotes of a truncated cell, or the parser would also refuse the rows before it.
    return data + b'"' if ends_in_quotes(data) else data


def _is_data(header: Sequence[str | None]) -> bool:
    """Say whether the first line of a table is a row of numbers instead of column names."""
    names = [name.strip() for name in header if name is not None]
    # The regular expression takes quadratic time, and the first line of a log can be one cell of 64 kB.
    numbers = sum(len(name) < 400 and re.fullmatch(NUMBER, name) is not None for name in names)
    return numbers > 1 and not {name.lower() for name in names} & {*KNOWN}


def _heading(block: bytes, separator: str, source: str) -> bytes:
    ends = (match.end() for match in re.finditer(rb"\n", block))
    heading = next((block[:end] for end in ends if not block.count(b'"', 0, end) % 2), block)
    if pl.read_csv(io.BytesIO(heading), infer_schema=False, separator=separator).height:
        raise TraceError(f"{source}: expected a header with quotes around whole names, got {heading[:60]!r}")
    return heading
