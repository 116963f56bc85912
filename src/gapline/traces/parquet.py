"""Read Parquet and Arrow files in a separate process that sends tables.

A damaged length in such a file makes the reader panic, with a useless trace on standard error, or allocate exabytes,
which ends the process. In a separate process, both become one clear error here. Each process holds one table at a time
in memory.
"""

import atexit
import contextlib
import fcntl
import io
import os
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from typing import IO, BinaryIO

import polars as pl

from gapline.errors import TraceError
from gapline.files.open_file import VARIABLE, most_bytes
from gapline.traces import parquet_process

# Buffer size of the pipe between the processes: the most that an unprivileged process may request.
_PIPE = 1 << 20
_DEADLY = "one that ends the program which reads it: it is damaged, or takes more memory than {most:,} bytes"


class ParquetReader(subprocess.Popen[bytes]):
    """A process that reads files, and the socket that passes files to it."""

    def __init__(self) -> None:
        # Use one thread, and discard standard error.
        environment = os.environ | {"POLARS_MAX_THREADS": "1"}
        command = [sys.executable, "-P", parquet_process.__file__]
        self.owner = os.getpid()
        self.questions, theirs = socket.socketpair()
        try:
            with theirs:
                super().__init__(
                    command, stdin=theirs.fileno(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
                )
        except OSError:
            self.questions.close()
            raise
        # With a larger buffer, the processes wait less often for each other; some systems do not support it.
        with contextlib.suppress(AttributeError, OSError):
            fcntl.fcntl(self.answers, fcntl.F_SETPIPE_SZ, _PIPE)

    @property
    def answers(self) -> IO[bytes]:
        """The standard output of the process."""
        assert self.stdout is not None
        return self.stdout

    def end(self) -> None:
        """Kill the process."""
        # A forked child has a copy of this object, but the process belongs to its parent.
        if self.owner == os.getpid():
            self.kill()
            self.questions.close()
            with contextlib.suppress(OSError):
                self.answers.close()
            self.wait()


# At most one idle process, kept for the next file.
waiting: list[ParquetReader] = []


@atexit.register
def _end_waiting() -> None:
    while waiting:
        waiting.pop().end()


def _take_reader() -> ParquetReader | None:
    """Return an idle process, or None if no process can be started."""
    while waiting:
        # A forked child must not write into the pipes of its parent.
        if (reader := waiting.pop()).owner == os.getpid():
            return reader
    try:
        return ParquetReader()
    except OSError:
        return None


def read_columnar(file: BinaryIO, *, form: str, source: str) -> Iterator[pl.DataFrame]:
    """Yield the rows of a Parquet or Arrow file in tables, or raise a `TraceError`."""
    reader, most = _take_reader(), most_bytes()
    if reader is None:
        try:
            yield from parquet_process.read_tables(file, form, most)
        except parquet_process.TooLargeError as error:
            raise _no_trace(source, form, str(error)) from None
        return
    said: str | None = None
    try:
        said = yield from _answers(reader, file, form, most)
    finally:
        if said is None or waiting:
            reader.end()
        else:
            waiting.append(reader)
    if said != "":
        raise _no_trace(source, form, said or _DEADLY.format(most=most))


def _answers(reader: ParquetReader, file: BinaryIO, form: str, most: int) -> Generator[pl.DataFrame, None, str | None]:
    """Yield the tables from the reader; return its final message, or None if the process died."""
    # Pass the open file descriptor itself instead of sending the content.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        socket.send_fds(reader.questions, [f"{form} {most}\n".encode()], [file.fileno()])
    while True:
        word, _, rest = reader.answers.readline().decode("utf-8", "replace").rstrip("\n").partition(" ")
        if word != "table":
            return rest if word == "end" else None
        # Read into a buffer that Polars uses directly; `bytes` would be copied into newly allocated memory.
        data, size = io.BytesIO(), int(rest)
        data.seek(size - 1)
        data.write(b"\0")
        with data.getbuffer() as room:
            # A buffered reader fills the whole buffer unless the stream ends.
            found = reader.answers.readinto(room)  # type: ignore[attr-defined]
        if found < size:
            return None
        data.seek(0)
        yield pl.read_ipc_stream(data)


def _no_trace(source: str, form: str, why: str) -> TraceError:
    hint = f"{VARIABLE} raises the limit" if f"{most_bytes():,}" in why else None
    return TraceError(f"{source}: expected a {form} trace, got {why}", hint=hint)
