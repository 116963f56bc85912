"""Any program as a checker: one JSON line in per candidate, one JSON line out.

The program first prints its name and version, then answers each line with one line, flushed::

    out: {"checker": "mine", "version": "1.0"}
    in:  {"instance": "/study/instances/a.vrp", "solution": [[1, 2], [3]]}
    out: {"valid": true, "objective": 1234.5}
    in:  {"instance": "/study/instances/a.vrp", "solution": [[1, 2]]}
    out: {"valid": false, "reason": "missing customers: 3"}

It ends when its input ends. One that crashes, hangs or prints anything else is killed and started again for the next
candidate; the one it failed on stays unchecked.
"""

import contextlib
import os
import select
import shlex
import signal
import subprocess
import threading
import time
import weakref
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from gapline.checkers.verdict import CheckerFailure, Verdict
from gapline.errors import EnvironmentLacksError, UsageError

PATIENCE = 60.0
LONGEST_LINE = 1 << 20
# Bytes kept from the end of a checker's standard error.
ERRORS_KEPT = 1 << 18
T = TypeVar("T")


class _Hello(msgspec.Struct):
    checker: str
    version: str


class _Answer(msgspec.Struct):
    valid: bool
    # Both types: an integer that no float can represent is refused, not rounded.
    objective: int | float | None = None
    reason: str = ""


class CommandChecker:
    """Check through a program that is kept running; `command` is split like a shell would, but no shell is used."""

    def __init__(self, command: str, *, patience: float = PATIENCE) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"checker command:{command}: {error}") from error
        if not self._arguments:
            raise UsageError(f"checker: expected command:PROGRAM [ARGUMENTS], got 'command:{command}'")
        self._command = command
        self.patience = patience
        self._child: LineProcess | None = None
        hello = self._start()
        self.name = f"command:{hello.checker}"
        self.version = hello.version

    def check(self, instance: str | Path, solution: object, /) -> Verdict:
        """Return the program's verdict."""
        # Started again after a failure; another version must not judge the rest of a campaign.
        if self._child is None:
            again = self._start()
            if (f"command:{again.checker}", again.version) != (self.name, self.version):
                self.close()
                raise CheckerFailure(f"{self.name}: expected version {self.version}, got {again}")
        try:
            request = msgspec.json.encode({"instance": str(Path(instance).resolve()), "solution": solution})
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            return Verdict.reject(f"malformed solution: it cannot be written as JSON, {error}")
        answer = self._ask(request, _Answer)
        if not answer.valid:
            return Verdict.reject(answer.reason or "rejected without a reason")
        if answer.objective is None:
            raise self._failure("a valid candidate without an objective")
        return Verdict.accept(answer.objective)

    def close(self) -> None:
        """End the program."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def _start(self) -> _Hello:
        try:
            self._child = LineProcess(self._arguments)
        except OSError as error:
            raise EnvironmentLacksError(f"checker {self._arguments[0]!r} cannot be started: {error.strerror}") from None
        return self._ask(None, _Hello)

    def _ask(self, request: bytes | None, kind: type[T]) -> T:
        assert self._child is not None
        try:
            line = self._child.exchange(request, self.patience)
            return msgspec.json.decode(line, type=kind)
        except msgspec.MsgspecError as error:
            raise self._failure(f"{line[:80]!r} ({error})") from None
        except (OSError, TimeoutError, EOFError) as error:
            raise self._failure(str(error)) from None

    def _failure(self, got: str) -> CheckerFailure:
        assert self._child is not None
        failure = CheckerFailure(
            f"checker {self._command}: expected a JSON line, got {got}{self._child.last_error_line()}"
        )
        if errors := self._child.errors():
            failure.add_note(errors)
        self.close()
        return failure


class LineProcess:
    """A running program that exchanges lines, with a limit on each wait."""

    def __init__(self, arguments: list[str], *, cwd: Path | None = None) -> None:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            start_new_session=True,
            bufsize=0,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.pid, self._process = process.pid, process
        self._said = bytearray()
        self._listener = threading.Thread(target=_listen, args=(process.stderr, self._said), daemon=True)
        self._listener.start()
        self._source, self._target = process.stdout.fileno(), process.stdin.fileno()
        # Without this, a program that does not read would block us at the pipe, beyond any limit.
        os.set_blocking(self._target, False)
        self._buffer = b""
        self.end = weakref.finalize(self, _end, process, self._listener)

    def exchange(self, request: bytes | None, patience: float) -> bytes:
        """Send a line, if any, and return the next one; raise TimeoutError, EOFError or OSError if none comes."""
        source, target = self._source, self._target
        left = b"" if request is None else request + b"\n"
        limit = time.monotonic() + patience
        while b"\n" not in self._buffer or left:
            if len(self._buffer) > LONGEST_LINE:
                raise EOFError(f"a line longer than {LONGEST_LINE} bytes")
            wait = limit - time.monotonic()
            readable, writable, _ = select.select([source], [target] if left else [], [], max(0.0, wait))
            if not readable and not writable:
                raise TimeoutError(f"no answer within {patience:g} s")
            if writable:
                left = left[os.write(target, left[:65536]) :]
            if readable:
                piece = os.read(source, 65536)
                if not piece:
                    raise EOFError(f"the end of its output{self._code()}")
                self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _code(self) -> str:
        try:
            code = self._process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            return ""
        return f" (exit code {code})" if code >= 0 else f" (signal {-code})"

    def errors(self) -> str:
        """Return the end of the standard error of the program."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            # Its last error message may arrive a moment after the end of its output.
            self._process.wait(timeout=0.2)
            self._listener.join(timeout=0.2)
        return self._said.decode("utf-8", "replace")

    def last_error_line(self) -> str:
        """Return the last line on its standard error, as the end of a sentence."""
        words = [line.strip() for line in self.errors().split("\n") if line.strip()]
        return f"; it said: {words[-1][:200]}" if words else ""


def _listen(stream: IO[bytes], said: bytearray) -> None:
    """Read a standard error to its end and keep only its last part: a program may print without end."""
    with contextlib.suppress(OSError, ValueError):
        while piece := stream.read(ERRORS_KEPT):
            said += piece
            del said[:-ERRORS_KEPT]


def _end(process: subprocess.Popen[bytes], listener: threading.Thread) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        # Kill the whole session: otherwise the children of a shell script would survive.
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    # A child that left the session may keep the pipe open; then stop waiting for the listener.
    listener.join(timeout=1.0)
    for stream in (process.stdin, process.stdout, None if listener.is_alive() else process.stderr):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
