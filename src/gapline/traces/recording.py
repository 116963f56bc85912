"""`gapline.record`: the candidates of a search in Python, written to a journal while it runs."""

import contextlib
import datetime
import math
import operator
import os
import platform
import re
import time
from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, NoReturn, Self

import msgspec

from gapline.contract.choices import Sense
from gapline.errors import UsageError
from gapline.files.open_file import refuse_odd
from gapline.journal.line import RECORD_SCHEMA, seal
from gapline.journal.unclosed_recordings import this_recorder

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


Carried = str | int | float | bool | None
# Columns that are filled in when the file is read: a fact of the same name would be lost.
RESERVED = """
    first count status unclosed origins ladder ladder_step time objective valid claimed reason bound primary
    secondary validation clock value_resolution bound_resolution claim time_scale
    time_scale_source own_horizon started import_notes instance_digest problem_digest solver_version exit_code
    signal elapsed cpu_time peak_memory machine host cpus governor boost load cpu_share foreign_share overshoot
    jitter disturbed limits unpinned shared_memory leftover dropped attempts attempt order_seed
    order_position best_solution_digest
"""
# Facts that gapline reads itself have to be of their kind.
KINDS: dict[str, type] = {"tier": int, "threads": int, "size": float, "resolution": float}
KINDS |= dict.fromkeys(("solver", "charged", "granularity", "machine_class", "simplified_model"), str)
_LARGEST = 2**63 - 1


def record(
    path: str | os.PathLike[str],
    /,
    *,
    arm: str,
    instance: str,
    horizon: float,
    seed: int = 1,
    panel: str = "all",
    sense: Sense | None = None,
    **carried: Carried,
) -> Trace:
    """Record a run of a solver that is code of one's own; `gapline.read` reads the file as it is.

    Parameters
    ----------
    path
        The file, new or with other runs in it: runs are added at its end, also by several processes at once.
    arm, instance, seed, panel
        What ran on what.
    horizon
        Seconds that the run may take; candidates after it are kept, counted and not scored.
    sense
        "min" or "max"; without it the direction is not stated, and is judged when the file is read.
    **carried
        Further facts of the run, a column each: threads=4, slices=96, version="1.2".

    Used as a context: a run that adds nothing is an empty run, one that raises is a crashed run, one that Ctrl-C cut
    short is no run and counted as interrupted. A run that is never closed counts as `killed` once its process is gone.

    >>> import gapline as gl, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "traces.jsonl"
    >>> with gl.record(file, arm="mine", instance="a", seed=1, horizon=60) as trace:
    ...     trace.add(12.5)
    ...     trace.add(11.0, bound=9.0)
    >>> gl.read(file).runs.select("arm", "instance", "status", "count").rows()
    [('mine', 'a', 'finished', 2)]
    """
    if sense not in (None, "min", "max"):
        raise UsageError(f"sense: expected min or max, got {sense!r}")
    for name, value in (("arm", arm), ("instance", instance), ("panel", panel)):
        if not isinstance(value, str) or not value or not _is_text(value):
            raise UsageError(f"{name}: expected a name, got {value!r}")
    if "\0" in os.fsdecode(path):
        raise UsageError(f"path: expected a text without NUL characters, got {os.fsdecode(path)!r}")
    facts: dict[str, Any] = {"arm": arm, "instance": instance, "seed": _whole(seed), "panel": panel}
    facts |= {"horizon": _seconds(horizon), "machine": {"host": platform.node()}, "schema": RECORD_SCHEMA}
    facts["carried"] = {name: _fact(name, value) for name, value in carried.items()}
    facts["carried"] |= {"validation": "solver"} | ({} if sense is None else {"sense": sense})
    return Trace(path, facts, sense=sense)


def _whole(seed: Any) -> int:
    try:
        number = None if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = None
    if number is None or abs(number) > _LARGEST:
        raise UsageError(f"seed: expected a whole number of 64 bits, got {seed!r}")
    return number


def _seconds(horizon: Any) -> float:
    try:
        seconds = math.nan if isinstance(horizon, bool | str) else float(horizon)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise UsageError(f"horizon: expected seconds above 0, got {horizon!r}")
    return seconds


def _fact(name: str, value: Any) -> Carried:
    if name in RESERVED.split():
        raise UsageError(
            f"{name}: expected a fact under a name of its own, got one that `read` fills in",
            hint=f"call it my_{name}, or the like",
        )
    # Numbers of NumPy are made plain.
    plain = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    if plain is not None and not isinstance(plain, str | int | float | bool):
        raise UsageError(f"{name}: expected a text, a number or a truth value, got {type(value).__name__}")
    kind = KINDS.get(name)
    fits = kind is None or plain is None or type(plain) is kind or (kind is float and type(plain) is int)
    is_kept = _is_text(plain) if isinstance(plain, str) else plain is None or abs(plain) <= _LARGEST
    if not fits or not is_kept:
        raise UsageError(f"{name}: expected {_EXPECTED[kind]}, got {value!r}")
    return plain


_EXPECTED: dict[type | None, str] = {
    None: "a text or a finite number of 64 bits", int: "a whole number of 64 bits", float: "a finite number",
    str: "a text",
}  # fmt: skip


def _is_text(value: str) -> bool:
    """Whether a text can be written: names of files may hold bytes that are no text."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)
