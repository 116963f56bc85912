"""Parquet and Arrow files, tried in a process of their own first.

A damaged length in such a file makes the reader panic, with a trace on standard error that nobody can use, or asks for
exabytes and ends the whole process. What ends a process that has nothing else to do is one clear error here.
"""

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from typing import IO

import polars as pl

from gapline.capture import columnar_trial
from gapline.errors import TraceError

_DEADLY = "one that ends the program which reads it: it is damaged, or larger than the memory"


class _Trial:
    """The other process, started with the first file and again after a file that ended it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0

    def ask(self, data: bytes, form: str) -> str:
        """Return "" where the bytes can be read, else why not."""
        with self.lock:
            # A forked child must not write into the pipes of its parent.
            if self.process is None or self.owner != os.getpid():
                self.start()
            # Where no process may be started there is no trial.
            return "" if self.process is None else self._ask(self.process, data, form)

    def _ask(self, process: "subprocess.Popen[bytes]", data: bytes, form: str) -> str:
        try:
            _pipe(process.stdin).write(f"{form} {len(data)}\n".encode() + data)
            _pipe(process.stdin).flush()
            line = _pipe(process.stdout).readline()
        except OSError:
            line = b""
        if line.endswith(b"\n"):
            return line[:-1].decode("utf-8", "replace")
        self.stop()
        return _DEADLY

    def start(self) -> None:
        # One thread, and what it prints is for nobody: the answer is a line.
        environment = os.environ | {"POLARS_MAX_THREADS": "1"}
        command, pipe = [sys.executable, "-P", columnar_trial.__file__], subprocess.PIPE
        self.owner = os.getpid()
        try:
            self.process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment
            )
        except OSError:
            self.process = None

    def stop(self) -> None:
        process, self.process = self.process, None
        if process is None or self.owner != os.getpid():
            return
        for end in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                _pipe(end).close()
        process.wait()


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None
    return end


_trial = _Trial()
atexit.register(_trial.stop)


def read_columnar(data: bytes, *, form: str, source: str) -> pl.DataFrame:
    """Read a Parquet or Arrow file, or raise a `TraceError`."""
    if why := _trial.ask(data, form):
        raise TraceError(f"{source}: expected a {form} trace, got {why}")
    return columnar_trial.read_frame(data, form)
