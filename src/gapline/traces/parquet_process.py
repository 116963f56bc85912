"""The process that reads Parquet and Arrow files for `traces.parquet`; it imports only polars.

Each question is an open file and a line `FORM LIMIT`. Each answer is any number of tables, each as a line `table SIZE`
and SIZE bytes of Arrow, and a last line `end`, followed by the reason if the file could not be read.
"""

import contextlib
import io
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple

import polars as pl

# Rows of a table: about 50 MB with its text.
PIECE = 1 << 18
# Memory in addition to the data, for decoding and the threads of Polars.
_ROOM = 1 << 30
_NARROW = (pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16, pl.Int32, pl.UInt32, pl.Float32, pl.Date, pl.Null)


class TooLargeError(Exception):
    """The columns of a file would exceed the size limit."""


def read_tables(file: BinaryIO, form: str, most: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of a Parquet file, or of an Arrow file or stream, in tables.

    Dates and times are returned as text. A file of a few kilobytes can expand to billions of rows, so the number of
    rows is checked before they are decoded. A text stored once can be used in every row, so the size of texts is
    counted during decoding.
    """
    file.seek(0)
    head = file.read(6)
    file.seek(0)
    place = f"/dev/fd/{file.fileno()}"
    if form == "parquet":
        lazy = pl.scan_parquet(place, glob=False)
    elif head == b"ARROW1":
        lazy = pl.scan_ipc(place, glob=False)
    else:
        lazy = pl.read_ipc_stream(place).lazy()
    # Cast here: Polars panics on an impossible date only when it is formatted.
    lazy = lazy.with_columns(pl.col(pl.Date, pl.Datetime, pl.Time).cast(pl.String))
    schema = lazy.collect_schema()
    height = lazy.select(pl.len()).collect().item() if len(schema) else 0
    _refuse(height * sum(4 if kind in _NARROW else 16 if _is_wide(kind) else 8 for kind in schema.values()), most)
    # Read in one pass; a slice would decode its row group from the beginning.
    tables = lazy.collect_batches(chunk_size=PIECE, maintain_order=True) if height else iter([lazy.collect()])
    read = spelled = 0
    for table in tables:
        read += table.height
        for column in table.select(pl.col(pl.String, pl.Binary)):
            lengths = column.bin.size() if column.dtype == pl.Binary else column.str.len_bytes()
            spelled += int(lengths.sum() or 0)
        _refuse(spelled, most)
        yield table.rechunk()
    if read != height:
        raise pl.exceptions.ComputeError(f"{read:,} rows where {height:,} are announced")


def _is_wide(kind: pl.DataType) -> bool:
    return kind.is_nested() or kind.is_decimal() or kind in (pl.String, pl.Binary, pl.Int128, pl.Categorical, pl.Enum)


def _refuse(size: int, most: int) -> None:
    if size > most:
        raise TooLargeError(f"one of {size:,} bytes as columns, more than {most:,}")


class Question(NamedTuple):
    """A file to read, its format and its size limit."""

    file: BinaryIO
    form: str
    most: int


def answer(
    questions: Iterable[Question], answers: BinaryIO, *, limit: Callable[[int], None] = lambda _room: None
) -> None:
    """Answer questions until there are no more; `limit` is called with the memory in bytes that a question may use."""
    # Reused for all tables, because new memory costs more than writing to it.
    room = io.BytesIO()
    for file, form, most in questions:
        said = ""
        try:
            limit(os.fstat(file.fileno()).st_size + most + _ROOM)
            for table in read_tables(file, form, most):
                room.seek(0)
                table.write_ipc_stream(room, compat_level=pl.CompatLevel.newest())
                answers.write(b"table %d\n" % room.tell())
                with room.getbuffer() as data:
                    answers.write(data[: room.tell()])
        # A Rust panic is not an `Exception`.
        except BaseException as error:
            said = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        file.close()
        answers.write(b"end " + said.encode("utf-8", "replace") + b"\n")
        answers.flush()


def _asked(questions: socket.socket) -> Iterator[Question]:
    """Yield the questions of the other process until it closes the socket."""
    while True:
        line, files, _, _ = socket.recv_fds(questions, 1 << 16, 1)
        if not line or not files:
            return
        form, most = line.decode().split()
        yield Question(os.fdopen(files[0], "rb"), form, int(most))


def _limit_memory(room: int) -> None:
    """Limit the address space, so that a damaged length ends this process before it uses up the machine's memory."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm", "rb") as stream:  # noqa: PTH123 - this process imports as little as it can
            now = int(stream.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = now + room
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


if __name__ == "__main__":
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        # A damaged file may end this process; do not write a core dump.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer(_asked(socket.socket(fileno=sys.stdin.fileno())), sys.stdout.buffer, limit=_limit_memory)
