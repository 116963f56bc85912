"""`Trace`: a run that is being recorded, a journal of its own in a file that it may share with others.

    {"run":"5b0c…","seq":0,"start":{"arm":"mine","instance":"a","seed":1,…},"crc":"…"}
    {"run":"5b0c…","seq":1,"t":0.013502,"say":{"objective":12.5},"crc":"…"}
    {"run":"5b0c…","seq":2,"end":{"cause":"exit",…},"crc":"…"}

A file takes any number of runs, of several threads and processes at once: each line names its run, and the checksums of
a run are a chain of its own. A line is one `write`: what `add` returned from is in the file, whatever kills us.
"""

import contextlib
import datetime
import operator
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, NoReturn, Self

import msgspec

from gapline.errors import UsageError
from gapline.journal.line import seal
from gapline.journal.unclosed import this_recorder
from gapline.model.regular import refuse_odd

# How every line begins, and what a kill in the middle of it leaves.
RUN_HEAD = re.compile(rb'\{"run":"([0-9a-f]{16})","seq":(\d+),')
_TORN_HEAD = re.compile(rb'\{"run":"[0-9a-f]{0,16}[",:seq\d]*')
# Bytes of a file that tell whether it is one of ours.
LOOKED_AT = 200
_HOW = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_MOST_WORDS = 2000

# How often this process came out of a fork: a child must not go on with the runs of its parent.
_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 (the kernel's own count, as far as Python sees it)
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


# Number and checksum of a run's last line, the line, what writes it, what that wrote, and whether it ends the run.
# An interrupt (Ctrl-C, the handler of a signal) may come between any two steps of `add`. So what writes does it once,
# for whoever asks first, and what it wrote is known in the same step: the next one finishes what was begun.
_State = tuple[int, int, bytes, Iterator[int], list[int], bool]


class Trace:
    """One run that is being recorded; `record` opens it."""

    __slots__ = ("_cpu", "_done", "_file", "_forks", "_head", "_lock", "_started", "_state", "_zero", "path", "sense")

    def __init__(self, path: str | os.PathLike[str], start: dict[str, Any], *, sense: str | None) -> None:
        self._file: int | None = None
        self.path, self.sense = Path(path), sense
        self._head = f'{{"run":"{os.urandom(8).hex()}","seq":'
        # One that its owner may take again: the handler of a signal may add, or close, in the middle of an `add`.
        self._lock, self._forks = RLock(), _forks
        self._state: _State = (-1, 0, b"", iter(()), [], False)
        # The last state whose line is known to be in the file.
        self._done = self._state
        self._started = datetime.datetime.now(datetime.UTC).isoformat()
        start = start | {"started": self._started, "recorder": this_recorder()}
        first = f'"start":{msgspec.json.encode(start).decode()}'
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, _HOW, 0o644)
        try:
            refuse_odd(self._file, self.path)
            self._take_over()
            self._write(first)
        except BaseException:
            os.close(self._file)
            self._file = None
            raise
        self._cpu = time.process_time()
        self._zero = time.monotonic_ns()

    @property
    def is_open(self) -> bool:
        """Whether the run is still being recorded, in this process."""
        return self._file is not None and self._forks == _forks

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return (time.monotonic_ns() - self._zero) / 1e9

    def add(self, objective: float, /, *, bound: float | None = None, solution: Any = None) -> None:
        """Keep a candidate that was found now: its objective, and the dual bound and the solution where there are any.

        It is in the file when this returns. A value that is no number is kept as it is and rejected when it is read.
        """
        now = (time.monotonic_ns() - self._zero) / 1e9
        more = "" if bound is None else f',"bound":{_number(bound)}'
        if solution is not None:
            more += f',"solution":{_solution(solution)}'
        self._write(f'"t":{now:.9f},"say":{{"objective":{_number(objective)}{more}}}')

    def add_bound(self, bound: float, /) -> None:
        """Keep a dual bound that came without a candidate."""
        now = (time.monotonic_ns() - self._zero) / 1e9
        self._write(f'"t":{now:.9f},"say":{{"bound":{_number(bound)}}}')

    def close(self, error: BaseException | None = None) -> None:
        """End the run, once; one that ends by an error is a crashed run, one that was interrupted is no run."""
        if self._file is None:
            return
        if self._forks != _forks:
            # The run is the parent's; a child that leaves the same block has nothing to say of it.
            self._let_go()
            return
        with self._lock:
            if self._state[-1]:
                return
            cause, exit_code = _outcome(error)
            end: dict[str, Any] = {"cause": cause, "started": self._started, "elapsed": self.elapsed}
            end |= {"zero": self._zero, "cpu_time": time.process_time() - self._cpu, "events": self._state[0]}
            end |= {"exit_code": exit_code} | ({"error": _words(error)} if exit_code and error is not None else {})
            try:
                self._write(f'"end":{msgspec.json.encode(end).decode()}', is_last=True)
                os.fdatasync(self._file)
            finally:
                self._let_go()

    def _let_go(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _write(self, body: str, *, is_last: bool = False) -> None:
        # Before the lock: of a forked process a thread may hold it that is not there.
        if self._forks != _forks:
            self._refuse("one of the process that this one was forked from")
        # Two threads may find something at once; a line has to follow the one whose checksum it continues.
        with self._lock:
            while True:
                before = self._state
                sequence, checksum, _, _, _, has_ended = before
                if self._file is None or has_ended:
                    self._refuse("one that has ended")
                if before is not self._done:
                    self._finish(before)
                line, checksum = seal(f"{self._head}{sequence + 1},{body}".encode(), checksum)
                after: _State = (sequence + 1, checksum, line, map(os.write, (self._file,), (line,)), [], is_last)
                # Nothing is called between this look and the step after it, so that no handler comes between them.
                if self._state is before:
                    self._state = after
                    break
            self._finish(after)

    def _finish(self, state: _State) -> None:
        """Write the last line where it is not in the file yet."""
        _, _, line, writing, written, _ = state
        try:
            written.extend(writing)
            while (torn := sum(written)) != len(line):
                # A full disk takes a part and has an error for the rest. Others write to this file too, so that the
                # part stays a line of its own, which counts as torn, and the line follows whole.
                taken = os.write(self._file, b"\n" + line if torn else line)  # type: ignore[arg-type]
                written[:] = [taken - bool(torn)]
        except OSError as error:
            what = f"{os.strerror(error.errno or 0)}; what was added is not in the file"
            raise OSError(error.errno, what, str(self.path)) from error
        self._done = state

    def _refuse(self, got: str) -> NoReturn:
        raise UsageError(
            f"{self.path}: expected a run that is being recorded, got {got}",
            hint="add inside of `with gl.record(…) as trace:`, in the process that searches; each run has its own",
        )

    def _take_over(self) -> None:
        """Refuse a file with something else in it; a line that a kill cut short stays a line of its own."""
        file = self._file
        assert file is not None
        first = os.pread(file, LOOKED_AT, 0)
        if not first:
            return
        if not begins_a_run(first):
            raise UsageError(
                f"{self.path}: expected a new file or one with recorded runs, got one that begins with {first[:40]!r}",
                hint="record into a file of its own; `gl.read` takes several files at once",
            )
        if os.pread(file, 1, os.fstat(file).st_size - 1) != b"\n":
            os.write(file, b"\n")

    def __enter__(self) -> Self:
        if self._file is None:
            self._refuse("one that has ended")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error)

    def __del__(self) -> None:
        # Nobody said how it ended, and nobody can any more: at least no file stays open.
        with contextlib.suppress(OSError, AttributeError):
            self._let_go()

    def __reduce__(self) -> NoReturn:
        self._refuse("a copy of it for another process")


def begins_a_run(first: bytes) -> bool:
    """Say whether these are the first bytes of a file that `record` wrote; a kill may have cut its first line."""
    if _TORN_HEAD.fullmatch(first.partition(b"\n")[0]):
        return True
    return first.startswith(b'{"run":"') and RUN_HEAD.search(first) is not None


def _outcome(error: BaseException | None) -> tuple[str, int]:
    """Return why a run ended and its exit code, as of a process that ends by this error."""
    if error is None:
        return "exit", 0
    if isinstance(error, SystemExit):
        code = error.code
        return "exit", code if isinstance(code, int) else int(code is not None)
    # What is no `Exception` comes from outside: Ctrl-C, a task that was cancelled.
    return ("exit" if isinstance(error, Exception) else "interrupted"), 1


def _words(error: BaseException) -> str:
    try:
        return _text_of(f"{type(error).__name__}: {error}")
    except Exception:
        # Its own text fails.
        return type(error).__name__


def _text_of(value: object) -> str:
    return str(value)[:_MOST_WORDS].encode(errors="backslashreplace").decode()


def _number(value: Any) -> str:
    """Write a number with every digit it has; numbers of NumPy and of solvers are made plain first.

    What is no number stays as text, and the reader counts it as rejected; so do NaN and infinity, which are no JSON.
    """
    if type(value) is not float and type(value) is not int:
        try:
            value = _plain_number(value)
        except (TypeError, ValueError, OverflowError):
            return "null" if value is None else msgspec.json.encode(_text_of(value)).decode()
    try:
        return repr(value) if value - value == 0 else f'"{value!r}"'
    except ValueError:
        # A whole number of thousands of digits.
        return '"inf"'


def _plain_number(value: Any) -> int | float:
    if hasattr(value, "item"):
        # Of an array or a tensor its one number.
        value = value.item()
    if isinstance(value, bool | str | bytes):
        raise TypeError
    with contextlib.suppress(TypeError):
        return operator.index(value)
    return float(value)


def _solution(value: Any) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=_plain).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"solution: expected lists, dictionaries, texts and numbers, got {type(value).__name__}: {error}",
            hint="turn it into lists of numbers first",
        ) from error


def _plain(value: Any) -> Any:
    """Return arrays and their numbers as lists and numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is none of them")
