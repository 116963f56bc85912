"""A process that reads Parquet and Arrow files for another one; started by `parquet`, it imports polars alone.

Each question is an open file and a line `FORM LIMIT`. Each answer is any number of tables, each a line `table SIZE` and
so many bytes of Arrow, and a last line `end`, behind which stands why the file could not be read, if so.
"""

import contextlib
import io
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple

import polars as pl

# Rows of a table: with its text, some 50 MB.
PIECE = 1 << 18
# Beside the data: for what decoding takes, and the threads of Polars.
_ROOM = 1 << 30
_NARROW = (pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16, pl.Int32, pl.UInt32, pl.Float32, pl.Date, pl.Null)


class TooLargeError(Exception):
    """A file that would become more than its limit."""


def read_tables(file: BinaryIO, form: str, most: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of a Parquet or Arrow file, whichever of the two Arrow forms it is, in tables.

    Moments come as text. A file of some kilobytes can stand for billions of rows: how many there are is looked at
    before they are made. A text can stand in it once and on every row: what they take is counted on the way.
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
    # Here, because a moment that there is not makes Polars panic only when it is looked at.
    lazy = lazy.with_columns(pl.col(pl.Date, pl.Datetime, pl.Time).cast(pl.String))
    schema = lazy.collect_schema()
    height = lazy.select(pl.len()).collect().item() if len(schema) else 0
    _refuse(height * sum(4 if kind in _NARROW else 16 if _is_wide(kind) else 8 for kind in schema.values()), most)
    # In one go through the file: a slice would decode its row group from the beginning.
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
    """A file to read, and how much it may become."""

    file: BinaryIO
    form: str
    most: int


def answer(
    questions: Iterable[Question], answers: BinaryIO, *, limit: Callable[[int], None] = lambda _room: None
) -> None:
    """Answer until nothing more is asked; `limit` is told how much memory a question may take."""
    # Kept from table to table: memory that is new costs more than what is written into it.
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
        # A panic of Rust is no `Exception`.
        except BaseException as error:
            said = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        file.close()
        answers.write(b"end " + said.encode("utf-8", "replace") + b"\n")
        answers.flush()


def _asked(questions: socket.socket) -> Iterator[Question]:
    """Yield what another process asks, until it asks nothing more."""
    while True:
        line, files, _, _ = socket.recv_fds(questions, 1 << 16, 1)
        if not line or not files:
            return
        form, most = line.decode().split()
        yield Question(os.fdopen(files[0], "rb"), form, int(most))


def _limit_memory(room: int) -> None:
    """Let a damaged length end this process before it takes the machine's memory."""
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

        # A damaged file may end this process: nobody needs the core of it.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer(_asked(socket.socket(fileno=sys.stdin.fileno())), sys.stdout.buffer, limit=_limit_memory)
