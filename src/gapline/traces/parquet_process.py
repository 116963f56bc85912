"""A process that reads Parquet and Arrow files for another one; started by `columnar`, it imports polars alone.

Each question is an open file and a line `FORM LIMIT NAMES`. Each answer is any number of tables, and a last line `end`,
behind which stands why the file could not be read, if so. A table is a line `table SIZE` and so many bytes of Arrow. A
large one is a line `split SIZE SIZE SIZE NAMES` and three pieces of Arrow: the columns that were named in the question,
the others once per block of rows that are equal in them, and the blocks; then the names of all columns in their order.

Where its columns are plain numbers it is a line `numbers FACTS`, and they follow as they lie in memory, column by
column: there is nothing to decode on the other side. What else several such tables have comes behind them, together: a
line `heads SIZE SIZE SIZE`, and three pieces as above, the first of them without the numbers.
"""

import contextlib
import io
import json
import os
import socket
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import polars as pl

if TYPE_CHECKING:
    from gapline.traces.repeated_rows import Heads

# Rows of a table: with its text, some 50 MB.
PIECE = 1 << 18
# Beside the data: for what decoding takes, and the threads of Polars.
_ROOM = 1 << 30
# Rows from which on a table is worth splitting, and of which a head must stand for several.
_LARGE, _SEVERAL = 10_000, 2
# Whole numbers up to which a double holds each.
_EXACT = 1 << 53
_NARROW = (pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16, pl.Int32, pl.UInt32, pl.Float32, pl.Date, pl.Null)


class TooLargeError(Exception):
    """A file that would become more than its limit."""


def read_tables(file: BinaryIO, form: str, most: int) -> tuple[int, Iterator[pl.DataFrame]]:
    """Return how many rows a Parquet or Arrow file has, whichever of the two Arrow forms it is, and them in tables.

    Moments come as text. A file of some kilobytes can stand for billions of rows: how many there are is looked at
    before they are made.
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
    return height, _tables(lazy, height)


def _tables(lazy: pl.LazyFrame, height: int) -> Iterator[pl.DataFrame]:
    read = 0
    # In one go through the file: a slice would decode its row group from the beginning.
    tables = lazy.collect_batches(chunk_size=PIECE, maintain_order=True) if height else iter([lazy.collect()])
    for table in tables:
        read += table.height
        yield from _by_chunks(table)
    if read != height:
        raise pl.exceptions.ComputeError(f"{read:,} rows where {height:,} are announced")


class Spelled:
    """How many bytes the texts of a file take: one can stand in the file once and on every row."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0

    def add(self, table: pl.DataFrame, rows: pl.Series | None = None) -> None:
        """Count the texts of a table, of which each row stands for one, or for so many."""
        for column in table:
            if column.dtype in (pl.String, pl.Binary):
                lengths = column.bin.size() if column.dtype == pl.Binary else column.str.len_bytes()
                self._bytes += int((lengths if rows is None else lengths.cast(pl.Int64) * rows).sum() or 0)
        _refuse(self._bytes, self._most)


def _by_chunks(table: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Cut a table where row groups met: comparing rows across such a place copies all of them."""
    sizes = table.to_series(0).chunk_lengths() if table.width else [0]
    if len(sizes) == 1 or table.height < _LARGE * len(sizes):
        yield table.rechunk()
        return
    for start, size in zip([0, *accumulate(sizes)], sizes, strict=False):
        yield table.slice(start, size)


def _place(file: BinaryIO) -> str:
    return f"/dev/fd/{file.fileno()}"


def _is_wide(kind: pl.DataType) -> bool:
    return kind.is_nested() or kind.is_decimal() or kind in (pl.String, pl.Binary, pl.Int128, pl.Categorical, pl.Enum)


def _refuse(size: int, most: int) -> None:
    if size > most:
        raise TooLargeError(f"one of {size:,} bytes as columns, more than {most:,}")


class Question(NamedTuple):
    """A file to read, how much it may become, and which columns are new on every row."""

    file: BinaryIO
    form: str
    most: int
    names: Collection[str] = ()


def answer(
    questions: Iterable[Question], answers: BinaryIO, *, limit: Callable[[int], None] = lambda _room: None
) -> None:
    """Answer until nothing more is asked; `limit` is told how much memory a question may take."""
    # Kept from table to table: memory that is new costs more than what is written into it.
    room = io.BytesIO()

    def send(word: str, parts: Iterable[pl.DataFrame], facts: object = None) -> None:
        room.seek(0)
        ends = [0]
        for part in parts:
            part.write_ipc_stream(room, compat_level=pl.CompatLevel.newest())
            ends.append(room.tell())
        sizes = " ".join(str(end - start) for start, end in pairwise(ends))
        answers.write(f"{word} {sizes}{'' if facts is None else ' ' + json.dumps(facts)}\n".encode())
        with room.getbuffer() as data:
            answers.write(data[: ends[-1]])

    for file, form, most, names in questions:
        said = ""
        # What comes behind the numbers: their truths, and their heads.
        truths: list[pl.DataFrame] = []
        found: list[Heads] = []
        try:
            limit(os.fstat(file.fileno()).st_size + most + _ROOM)
            height, tables = read_tables(file, form, most)
            spelled = Spelled(most)
            for table in tables:
                parts = _split(table, names) if table.height >= _LARGE else None
                numbers = [] if parts is None else [column for column in parts[0] if column.dtype != pl.Boolean]
                ends = {column.name: _plain_ends(column) for column in numbers}
                plain = parts is not None and None not in ends.values()
                if parts is not None and plain:
                    kinds = {column.name: str(column.dtype) for column in numbers}
                    facts = {"names": table.columns, "loose": parts[0].columns, "numbers": kinds, "ends": ends}
                    rows = {"rows": table.height, "of": height}
                    answers.write(f"numbers {json.dumps(facts | rows)}\n".encode())
                    for column in numbers:
                        answers.write(column.to_numpy().data)
                    truths.append(pl.DataFrame([column for column in parts[0] if column.name not in kinds]))
                    found.append(parts[1])
                if found and not (plain and sum(heads.table.height for heads in found) < PIECE):
                    send("heads", [pl.concat(truths), *_blocks(found, spelled)])
                    truths, found = [], []
                if parts is None:
                    spelled.add(table)
                    send("table", [table])
                elif not plain:
                    spelled.add(parts[0])
                    send("split", [parts[0], *_blocks([parts[1]], spelled)], {"names": table.columns})
            if found:
                send("heads", [pl.concat(truths), *_blocks(found, spelled)])
        # A panic of Rust is no `Exception`.
        except BaseException as error:
            said = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        file.close()
        answers.write(b"end " + said.encode("utf-8", "replace") + b"\n")
        answers.flush()


def _plain_ends(column: pl.Series) -> tuple[float, float] | None:
    """Return the ends of a column of 64 bits all of whose numbers are finite and held by a double, None of others."""
    if column.dtype not in (pl.Float64, pl.Int64) or column.null_count():
        return None
    numbers = column.to_numpy()
    # Where there is a NaN, it is both the least and the greatest, and no comparison with it is true.
    least, greatest = numbers.min().item(), numbers.max().item()
    return (least, greatest) if least >= -_EXACT and greatest <= _EXACT else None


def _split(table: pl.DataFrame, names: Collection[str]) -> "tuple[pl.DataFrame, Heads] | None":
    """Return the columns named, and the others once per block; None where that is not less."""
    loose = [column for column in table if column.name in names or column.dtype.is_nested()]
    others = [column for column in table if column.name not in names and not column.dtype.is_nested()]
    if not loose or not others:
        return None
    try:
        # Here, because it takes NumPy, and a small file is answered sooner without.
        from gapline.traces.repeated_rows import find_heads
    except ImportError:
        return None
    heads = find_heads(pl.DataFrame(others), range(table.height))
    if heads.table.height * _SEVERAL > table.height:
        return None
    return pl.DataFrame(loose), heads


def _blocks(found: "list[Heads]", spelled: Spelled) -> list[pl.DataFrame]:
    """Return the heads of tables one behind the other, and their blocks, which name their heads if some are shared."""
    from gapline.traces.repeated_rows import join_heads

    table, counts, which = join_heads(found)
    # Here, and not on every row: a head stands for all of its blocks.
    blocks = pl.DataFrame({"which": which, "count": counts}).group_by("which").sum().sort("which")
    spelled.add(table, blocks["count"])
    shared = any(heads.which is not None for heads in found)
    return [table, pl.DataFrame({"count": counts} | ({"which": which} if shared else {}))]


def _asked(questions: socket.socket) -> Iterator[Question]:
    """Yield what another process asks, until it asks nothing more."""
    while True:
        line, files, _, _ = socket.recv_fds(questions, 1 << 16, 1)
        if not line or not files:
            return
        form, most, names = line.decode().split(" ", 2)
        yield Question(os.fdopen(files[0], "rb"), form, int(most), json.loads(names))


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
