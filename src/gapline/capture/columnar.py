"""Parquet and Arrow files, read by a process of their own that hands over tables.

A damaged length in such a file makes the reader panic, with a trace on standard error that nobody can use, or asks for
exabytes and ends the whole process. What ends a process that has nothing else to do is one clear error here. Memory
holds a table at a time on both sides.
"""

import atexit
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator
from typing import IO

import polars as pl

from gapline.capture import columnar_trial
from gapline.capture.blocks import let_go
from gapline.capture.unpack import Content
from gapline.errors import TraceError
from gapline.model.limits import VARIABLE, most_bytes

_WRITTEN = 1 << 20
_DEADLY = "one that ends the program which reads it: it is damaged, or takes more memory than {most:,} bytes"


class _Readers:
    """The other processes: one waits for the next file, and is started with the first one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: subprocess.Popen[bytes] | None = None
        self.owner = 0

    def take(self) -> "subprocess.Popen[bytes] | None":
        """Return a process that has nothing else to do, None where none may be started."""
        with self.lock:
            process, self.waiting = self.waiting, None
        # A forked child must not write into the pipes of its parent.
        if process is not None and self.owner == os.getpid():
            return process
        # One thread, and what it prints is for nobody.
        environment = os.environ | {"POLARS_MAX_THREADS": "1"}
        command, pipe = [sys.executable, "-P", columnar_trial.__file__], subprocess.PIPE
        try:
            return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)
        except OSError:
            return None

    def give_back(self, process: "subprocess.Popen[bytes]") -> None:
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


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, whatever it is at."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            _pipe(pipe).close()
    process.wait()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


_readers = _Readers()
atexit.register(_readers.stop)


def read_columnar(content: Content, *, form: str, source: str) -> Iterator[pl.DataFrame]:
    """Yield the rows of a Parquet or Arrow file in one or more tables, or raise a `TraceError`."""
    process, most = _readers.take(), most_bytes()
    if process is None:
        yield from _read_here(content, form, source, most)
        return
    said: str | None = None
    try:
        said = yield from _answers(process, content, form, most)
    finally:
        if said is None:
            end(process)
        else:
            _readers.give_back(process)
    if said != "":
        _refuse(source, form, said or _DEADLY.format(most=most))


def _answers(
    process: "subprocess.Popen[bytes]", content: Content, form: str, most: int
) -> Generator[pl.DataFrame, None, str | None]:
    """Yield the tables that the other process sends; return what it says at the end, None where it ended instead."""
    answers = _pipe(process.stdout)
    with contextlib.suppress(BrokenPipeError):
        _pipe(process.stdin).write(f"{form} {len(content)} {most}\n".encode())
        for start in range(0, len(content), _WRITTEN):
            _pipe(process.stdin).write(content[start : start + _WRITTEN])
            let_go(content, start)
        _pipe(process.stdin).flush()
    while True:
        word, _, rest = answers.readline().decode("utf-8", "replace").rstrip("\n").partition(" ")
        if word != "table":
            return rest if word == "end" else None
        data = answers.read(int(rest))
        if len(data) < int(rest):
            return None
        yield pl.read_ipc_stream(io.BytesIO(data))


def _read_here(content: Content, form: str, source: str, most: int) -> Iterator[pl.DataFrame]:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        try:
            yield from columnar_trial.read_tables(file, form, most)
        except columnar_trial.TooLargeError as error:
            _refuse(source, form, str(error))


def _refuse(source: str, form: str, why: str) -> None:
    hint = f"{VARIABLE} raises the limit" if f"{most_bytes():,}" in why else None
    raise TraceError(f"{source}: expected a {form} trace, got {why}", hint=hint)
