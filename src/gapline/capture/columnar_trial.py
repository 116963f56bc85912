"""A process that reads Parquet and Arrow files for another one; started by `columnar`, it imports polars alone.

Each question is a line `FORM SIZE LIMIT` and so many bytes. Each answer is any number of tables, each a line `table
SIZE` and so many bytes of Arrow, and a last line `end`, behind which stands why the file could not be read, if so.
"""

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import BinaryIO

import polars as pl

# Rows of a table: with its text, some 50 MB.
PIECE = 1 << 18
# Beside the data: for what decoding takes, and the threads of Polars.
_ROOM = 1 << 30
_NARROW = (pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16, pl.Int32, pl.UInt32, pl.Float32, pl.Date, pl.Null)


class TooLargeError(Exception):
    """A file that would become more than its limit."""


def read_tables(file: BinaryIO, form: str, most: int) -> Iterator[pl.DataFrame]:
    """Read a Parquet or Arrow file, whichever of the two Arrow forms it is, in tables; moments come as text.

    A file of some kilobytes can stand for billions of rows: how many there are is looked at before they are made.
    """
    file.seek(0)
    head = file.read(6)
    file.seek(0)
    if form == "parquet":
        lazy = pl.scan_parquet(_place(file), glob=False)
    elif head == b"ARROW1":
        lazy = pl.scan_ipc(_place(file), glob=False)
    else:
        lazy = pl.read_ipc_stream(_place(file)).lazy()
    # Here, because a moment that there is not makes Polars panic only when it is looked at.
    lazy = lazy.with_columns(pl.col(pl.Date, pl.Datetime, pl.Time).cast(pl.String))
    schema = lazy.collect_schema()
    height = lazy.select(pl.len()).collect().item() if len(schema) else 0
    _refuse(height * sum(4 if kind in _NARROW else 16 if _is_wide(kind) else 8 for kind in schema.values()), most)
    texts = [name for name, kind in schema.items() if kind in (pl.String, pl.Binary)]
    spelled = 0
    for start in range(0, max(height, 1), PIECE):
        table = lazy.slice(start, PIECE).collect()
        # A text can stand in the file once and on every row.
        for name in texts:
            column = table[name]
            lengths = column.bin.size() if column.dtype == pl.Binary else column.str.len_bytes()
            spelled += int(lengths.sum() or 0)
        _refuse(spelled, most)
        yield table


def _place(file: BinaryIO) -> str:
    return f"/dev/fd/{file.fileno()}"


def _is_wide(kind: pl.DataType) -> bool:
    return kind.is_nested() or kind.is_decimal() or kind in (pl.String, pl.Binary, pl.Int128, pl.Categorical, pl.Enum)


def _refuse(size: int, most: int) -> None:
    if size > most:
        raise TooLargeError(f"one of {size:,} bytes as columns, more than {most:,}")


def answer(questions: BinaryIO, answers: BinaryIO, *, limit: Callable[[int], None] = lambda _room: None) -> None:
    """Answer until nothing more is asked; `limit` is told how much memory a question may take."""
    while head := questions.readline():
        form, size, most = head.decode().split()
        said = ""
        try:
            with tempfile.TemporaryFile() as file:
                _take(questions, file, int(size))
                limit(int(size) + int(most) + _ROOM)
                for table in read_tables(file, form, int(most)):
                    data = io.BytesIO()
                    table.write_ipc_stream(data)
                    answers.write(b"table %d\n" % data.tell())
                    answers.write(data.getbuffer())
        # A panic of Rust is no `Exception`.
        except BaseException as error:
            said = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        answers.write(b"end " + said.encode("utf-8", "replace") + b"\n")
        answers.flush()


def _take(questions: BinaryIO, file: BinaryIO, size: int) -> None:
    while size:
        piece = questions.read(min(size, 1 << 20))
        file.write(piece)
        size -= len(piece)
        if not piece:
            raise EOFError
    file.flush()


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
    answer(sys.stdin.buffer, sys.stdout.buffer, limit=_limit_memory)
