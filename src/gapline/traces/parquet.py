"""Parquet and Arrow files, read by a process of their own that hands over tables.

A damaged length in such a file makes the reader panic, with a trace on standard error that nobody can use, or asks for
exabytes and ends the whole process. What ends a process that has nothing else to do is one clear error here. Memory
holds a table at a time on both sides.
"""

import atexit
import contextlib
import fcntl
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Generator, Iterator, Mapping
from types import MappingProxyType
from typing import IO, Any, BinaryIO, NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import TraceError
from gapline.files.compression import Content
from gapline.files.open_file import VARIABLE, most_bytes
from gapline.files.scratch_arrays import scratch_array
from gapline.traces import parquet_process
from gapline.traces.candidates import Ends
from gapline.traces.repeated_rows import Heads, join_heads

# What lies between the two processes: as much as anybody may ask for.
_PIPE = 1 << 20
_DEADLY = "one that ends the program which reads it: it is damaged, or takes more memory than {most:,} bytes"


class Sheet(NamedTuple):
    """Rows of a file: a table, or the columns that are new on every row and the others once per block of rows.

    `ends` are the least and the greatest number of those columns that have nothing but finite ones.
    """

    table: pl.DataFrame
    heads: Heads | None = None
    names: Collection[str] = ()
    ends: Mapping[str, Ends] = MappingProxyType({})

    def whole(self) -> pl.DataFrame:
        """Return all columns with a row per row."""
        return self.table if self.heads is None else self.table.hstack(self.heads.expand()).select(self.names)


class _Reader(subprocess.Popen[bytes]):
    """A process that reads files, and the socket through which it is given them."""

    def __init__(self) -> None:
        # One thread, and what it prints is for nobody.
        environment = os.environ | {"POLARS_MAX_THREADS": "1"}
        command = [sys.executable, "-P", parquet_process.__file__]
        self.questions, theirs = socket.socketpair()
        try:
            with theirs:
                super().__init__(
                    command, stdin=theirs.fileno(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
                )
        except OSError:
            self.questions.close()
            raise
        # In larger pieces, the two wait less often for each other; some systems have no such pipes.
        with contextlib.suppress(AttributeError, OSError):
            fcntl.fcntl(_pipe(self.stdout), fcntl.F_SETPIPE_SZ, _PIPE)


class _Readers:
    """The other processes: one waits for the next file, and is started with the first one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: _Reader | None = None
        self.owner = 0

    def take(self) -> _Reader | None:
        """Return a process that has nothing else to do, None where none may be started."""
        with self.lock:
            process, self.waiting = self.waiting, None
        # A forked child must not write into the pipes of its parent.
        if process is not None and self.owner == os.getpid():
            return process
        try:
            return _Reader()
        except OSError:
            return None

    def give_back(self, process: _Reader) -> None:
        """Let a process wait for the next file."""
        with self.lock:
            if self.waiting is None or self.owner != os.getpid():
                self.waiting, self.owner = process, os.getpid()
                return
        end(process)

    def stop(self) -> None:
        """End the process that waits."""
        process, self.waiting = self.waiting, None
        if process is not None and self.owner == os.getpid():
            end(process)


def end(process: _Reader) -> None:
    """End a process, whatever it is at."""
    process.kill()
    process.questions.close()
    with contextlib.suppress(OSError):
        _pipe(process.stdout).close()
    process.wait()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


_readers = _Readers()
atexit.register(_readers.stop)


def read_columnar(content: Content, *, form: str, source: str) -> Iterator[pl.DataFrame]:
    """Yield the rows of a Parquet or Arrow file in one or more tables, or raise a `TraceError`."""
    with stored(content) as file:
        yield from (sheet.whole() for sheet in read_sheets(file, form=form, source=source))


def stored(content: Content) -> BinaryIO:
    """Put a content into a file that is gone once it is closed."""
    file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - it is the caller who closes it
    file.write(content)
    file.flush()
    return cast(BinaryIO, file)


def read_sheets(file: BinaryIO, *, form: str, source: str, names: Collection[str] = ()) -> Iterator[Sheet]:
    """Yield the rows of a Parquet or Arrow file, or raise a `TraceError`; `names` are columns new on every row."""
    process, most = _readers.take(), most_bytes()
    if process is None:
        yield from _read_here(file, form, source, most)
        return
    said: str | None = None
    try:
        said = yield from _answers(process, file, form, most, names)
    finally:
        if said is None:
            end(process)
        else:
            _readers.give_back(process)
    if said != "":
        _refuse(source, form, said or _DEADLY.format(most=most))


def _answers(
    process: _Reader, file: BinaryIO, form: str, most: int, names: Collection[str]
) -> Generator[Sheet, None, str | None]:
    """Yield the tables that the other process sends; return what it says at the end, None where it ended instead."""
    answers = _pipe(process.stdout)
    # Handed over as it is, and not through a pipe: what is open here is read there.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        question = f"{form} {most} {json.dumps(list(names))}\n".encode()
        socket.send_fds(process.questions, [question], [file.fileno()])
    before, plain = 0, _Plain()
    while True:
        word, _, rest = answers.readline().decode("utf-8", "replace").rstrip("\n").partition(" ")
        if plain.rows and word not in ("numbers", "heads"):
            yield plain.sheet(before)
            before, plain = before + plain.rows, _Plain()
        if word == "numbers":
            if not plain.take(answers, json.loads(rest)):
                return None
            continue
        if word not in ("table", "split", "heads"):
            return rest if word == "end" else None
        parts = []
        for size in rest.split(" ", 3)[:3]:
            data = answers.read(int(size))
            if len(data) < int(size):
                return None
            parts.append(pl.read_ipc_stream(io.BytesIO(data)))
        if word == "heads":
            plain.add(*parts)
            continue
        if word == "table":
            yield Sheet(parts[0])
        else:
            names = json.loads(rest.split(" ", 3)[3])["names"]
            yield Sheet(parts[0], _heads(parts[1], parts[2], before, parts[0].height), names)
        before += parts[0].height


def _heads(table: pl.DataFrame, blocks: pl.DataFrame, before: int, rows: int) -> Heads:
    which = blocks["which"].to_numpy() if "which" in blocks.columns else None
    return Heads(table, blocks["count"].to_numpy(), range(before, before + rows), which)


class _Plain:
    """Tables of plain numbers, gathered: these are read to the place where they stay, and become one sheet."""

    def __init__(self) -> None:
        self.rows = 0
        self._facts: dict[str, Any] = {}
        self._columns: dict[str, NDArray[Any]] = {}
        self._ends: dict[str, Ends] = {}
        self._others: list[pl.DataFrame] = []
        self._heads: list[Heads] = []

    def take(self, answers: IO[bytes], facts: dict[str, Any]) -> bool:
        """Take the numbers of one more table, and say whether they came whole."""
        if not self.rows:
            # As many as there may be: memory is taken as they come.
            kinds = {name: np.dtype(kind.lower()) for name, kind in facts["numbers"].items()}
            self._facts, self._columns = facts, {name: scratch_array(facts["of"], kind) for name, kind in kinds.items()}
        for name, (least, greatest) in facts["ends"].items():
            before = self._ends.get(name, (least, greatest))
            self._ends[name] = (min(before[0], least), max(before[1], greatest))
        start, self.rows = self.rows, self.rows + facts["rows"]
        places = [column[start : self.rows].data.cast("B") for column in self._columns.values()]
        # What has a buffer reads until the place is full.
        return all(answers.readinto(place) == len(place) for place in places)  # type: ignore[attr-defined]

    def add(self, others: pl.DataFrame, heads: pl.DataFrame, blocks: pl.DataFrame) -> None:
        """Take what else the rows have whose numbers have come since the last time."""
        start = sum(len(some.lines) for some in self._heads)
        self._others.append(others)
        self._heads.append(_heads(heads, blocks, start, self.rows - start))

    def sheet(self, before: int) -> Sheet:
        """Return the rows that came, of which the first has so many before it."""
        numbers = [pl.Series(name, column[: self.rows]) for name, column in self._columns.items()]
        table = pl.DataFrame([*numbers, *pl.concat(self._others)]).select(self._facts["loose"])
        heads, counts, which = join_heads(self._heads)
        lines = range(before, before + self.rows)
        return Sheet(table, Heads(heads, counts, lines, which), self._facts["names"], self._ends)


def _read_here(file: BinaryIO, form: str, source: str, most: int) -> Iterator[Sheet]:
    try:
        spelled = parquet_process.Spelled(most)
        for table in parquet_process.read_tables(file, form, most)[1]:
            spelled.add(table)
            yield Sheet(table)
    except parquet_process.TooLargeError as error:
        _refuse(source, form, str(error))


def _refuse(source: str, form: str, why: str) -> None:
    hint = f"{VARIABLE} raises the limit" if f"{most_bytes():,}" in why else None
    raise TraceError(f"{source}: expected a {form} trace, got {why}", hint=hint)
