"""A chunk of an import as one file: what a worker hands over, and what a killed import goes on from.

The file holds a length, a text of JSON, the tables of the runs, and the columns as they lie in memory. It is written
as a whole or not at all, read on the machine and by the version that wrote it, and holds nothing that is run.
"""

import io
import json
import mmap
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
import polars as pl

from gapline import errors
from gapline.capture.chunk import Chunk
from gapline.capture.formats import UnknownFormatError
from gapline.capture.lines import FileLines, RunLines, Wrong
from gapline.capture.reader import SourceReference
from gapline.capture.spool import Batch, Spool, Waiting
from gapline.errors import GaplineError, TraceError
from gapline.model.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS
from gapline.model.diagnostics import Diagnostics
from gapline.model.writing import write_atomically

_MAGIC = b"gapline piece 2\n"
_ALIGN = 64
_DTYPES = {name: np.dtype(kind) for name, kind in (REQUIRED_COLUMNS | OPTIONAL_COLUMNS).items()}


class _Refusal(msgspec.Struct):
    kind: str
    message: str
    hint: str | None


class _Wrong(msgspec.Struct):
    place: int
    problem_count: int
    problems: tuple[str, ...]
    refusal: _Refusal | None


class _StoredBatch(msgspec.Struct):
    runs: int
    size: int
    table: tuple[int, int]
    columns: dict[str, int]
    codes: list[int] | None


class _Stored(msgspec.Struct):
    """What a piece says of itself; places count from the end of this text."""

    paths: list[str]
    formats: list[str | None]
    run_counts: list[int]
    wrong: list[_Wrong]
    runs: tuple[int, int]
    names: list[str | tuple[str, ...] | None]
    references: list[tuple[SourceReference, str]]
    notes: list[str]
    matched: int
    companions: list[str]
    empty: list[str]
    beside: dict[str, tuple[int, ...]]
    reasons: list[str]
    diagnostics: Diagnostics
    not_positive: int
    batches: list[_StoredBatch]


def save_piece(chunk: Chunk, path: Path) -> None:
    """Write a chunk."""
    spool = chunk.spool
    parts: list[Any] = []
    at = 0

    def place(data: Any) -> int:
        nonlocal at
        start, at = at, at + -(-len(data) // _ALIGN) * _ALIGN
        parts.append(data)
        return start

    batches = []

    def place_table(table: pl.DataFrame) -> tuple[int, int]:
        stream = io.BytesIO()
        table.write_ipc(stream)
        return place(stream.getvalue()), len(stream.getvalue())

    for batch, table in zip(spool.batches, spool.tables, strict=True):
        frame = place_table(table)
        columns = {name: place(_bytes(column)) for name, column in batch.columns.items()}
        codes = None if batch.codes is None else batch.codes.tolist()
        batches.append(_StoredBatch(batch.runs, batch.size, frame, columns, codes))
    stored = _Stored(
        chunk.files.paths,
        list(chunk.files.formats()),
        list(chunk.files.counts()),
        [_stored_wrong(place, wrong) for place, wrong in chunk.files.wrong.items()],
        place_table(chunk.runs.table),
        chunk.runs.names,
        chunk.references,
        chunk.notes,
        chunk.matched,
        chunk.companions,
        chunk.empty,
        chunk.beside,
        list(spool.reasons),
        spool.diagnostics,
        spool.not_positive,
        batches,
    )
    # By the JSON of Python: a path may be no UTF-8, which it can hold.
    text = json.dumps(msgspec.to_builtins(stored, enc_hook=_plain)).encode()

    def write(stream: IO[bytes]) -> None:
        head = _MAGIC + len(text).to_bytes(8, "little") + text
        stream.write(head + bytes(-len(head) % _ALIGN))
        for data in parts:
            stream.write(data)
            stream.write(bytes(-len(data) % _ALIGN))

    write_atomically(path, write)


def load_piece(path: Path) -> Chunk:
    """Read a chunk; its columns stay in the file. What cannot be read is a `TraceError`."""
    try:
        with path.open("rb") as stream:
            content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        head = len(_MAGIC) + 8
        if content[: len(_MAGIC)] != _MAGIC:
            raise ValueError("another kind of file")
        size = int.from_bytes(content[len(_MAGIC) : head], "little")
        stored = msgspec.convert(json.loads(content[head : head + size]), _Stored)
        start = head + size + -(head + size) % _ALIGN

        def read_table(place: tuple[int, int]) -> pl.DataFrame:
            return pl.read_ipc(content[start + place[0] : start + sum(place)])

        batches, tables, runs = [], [], read_table(stored.runs)
        for one in stored.batches:
            tables.append(read_table(one.table))
            columns: dict[str, Any] = {}
            for name, at in one.columns.items():
                if start + at + one.size * _DTYPES[name].itemsize > len(content):
                    raise ValueError("one that was cut")
                columns[name] = Waiting(path, _DTYPES[name], start + at, one.size)
            codes = None if one.codes is None else np.array(one.codes, np.uint8)
            batches.append(Batch(one.runs, one.size, columns, codes))
    except (OSError, ValueError, KeyError, msgspec.MsgspecError, pl.exceptions.PolarsError) as error:
        raise TraceError(f"{path}: expected a part of an unfinished import, got {error}") from error
    spool = Spool(
        tables=tables,
        reasons={name: code for code, name in enumerate(stored.reasons)},
        diagnostics=stored.diagnostics,
        not_positive=stored.not_positive,
        batches=batches,
        size=sum(batch.size for batch in batches),
    )
    wrong = {one.place: _loaded_wrong(one) for one in stored.wrong}
    files = FileLines.of(stored.paths, stored.formats, stored.run_counts, wrong)
    chunk = Chunk(
        files,
        stored.references,
        stored.notes,
        stored.matched,
        stored.companions,
        stored.empty,
        stored.beside,
        spool,
    )
    chunk.runs = RunLines(files, runs, stored.names)
    return chunk


def _bytes(column: Any) -> memoryview:
    # That of a large log waits in a file already.
    here = column.mapped() if isinstance(column, Waiting) else column
    return np.ascontiguousarray(here).view(np.uint8).data


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"{type(value).__name__} in what a reader found")


def _stored_wrong(place: int, wrong: Wrong) -> _Wrong:
    error = wrong.error
    refusal = None if error is None else _Refusal(type(error).__name__, error.message, error.hint)
    return _Wrong(place, wrong.problem_count, wrong.problems, refusal)


def _loaded_wrong(stored: _Wrong) -> Wrong:
    error: GaplineError | None = None
    if (refusal := stored.refusal) is not None:
        # Our own errors alone: a name in a file must not say which class is called.
        kind = getattr(errors, refusal.kind, TraceError)
        kind = UnknownFormatError if refusal.kind == UnknownFormatError.__name__ else kind
        error = (kind if isinstance(kind, type) and issubclass(kind, GaplineError) else TraceError)(
            refusal.message, hint=refusal.hint
        )
    return Wrong(stored.problem_count, stored.problems, error)
