"""`gapline.record`: write the candidates of a Python search to a journal while it runs."""

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

# The beginning of every line, and of a line that was cut short by a kill.
RUN_HEAD = re.compile(rb'\{"run":"([0-9a-f]{16})","seq":(\d+),')
_TORN_HEAD = re.compile(rb'\{"run":"[0-9a-f]{0,16}[",:seq\d]*')
# First bytes of a file that show whether `record` wrote it.
LOOKED_AT = 200
_HOW = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_MOST_WORDS = 2000

# Number of forks that led to this process: a child must not continue the runs of its parent.
_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 (the kernel's own count, as far as Python sees it)
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


# State of a run: number and checksum of its last line, the line, an iterator that writes it when advanced, the list of
# bytes written, and whether the line ends the run. An interrupt (Ctrl-C, a signal handler) may come between any two
# steps of `add`. The iterator therefore writes the line at most once, for the first caller, and records the bytes in
# the same step; the next call completes an interrupted write.
_State = tuple[int, int, bytes, Iterator[int], list[int], bool]


class Trace:
    """One run that is being recorded; `record` opens it."""

    __slots__ = ("_cpu", "_done", "_file", "_forks", "_head", "_lock", "_started", "_state", "_zero", "path", "sense")

    def __init__(self, path: str | os.PathLike[str], start: dict[str, Any], *, sense: str | None) -> None:
        self._file: int | None = None
        self.path, self.sense = Path(path), sense
        self._head = f'{{"run":"{os.urandom(8).hex()}","seq":'
        # Reentrant, because a signal handler may call `add` or `close` during an `add`.
        self._lock, self._forks = RLock(), _forks
        self._state: _State = (-1, 0, b"", iter(()), [], False)
        # The last state whose line is completely in the file.
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
        """Whether this process is still recording the run."""
        return self._file is not None and self._forks == _forks

    @property
    def elapsed(self) -> float:
        """Seconds since the start of the run."""
        return (time.monotonic_ns() - self._zero) / 1e9

    def add(self, objective: float, /, *, bound: float | None = None, solution: Any = None) -> None:
        """Record a candidate found now: its objective, and optionally the dual bound and the solution.

        The candidate is in the file when the call returns. A value that is not a number is recorded unchanged and
        rejected by the reader.
        """
        now = (time.monotonic_ns() - self._zero) / 1e9
        more = "" if bound is None else f',"bound":{_number(bound)}'
        if solution is not None:
            more += f',"solution":{_solution(solution)}'
        self._write(f'"t":{now:.9f},"say":{{"objective":{_number(objective)}{more}}}')

    def add_bound(self, bound: float, /) -> None:
        """Record a dual bound without a candidate."""
        now = (time.monotonic_ns() - self._zero) / 1e9
        self._write(f'"t":{now:.9f},"say":{{"bound":{_number(bound)}}}')

    def close(self, error: BaseException | None = None) -> None:
        """End the run, once. A run that ends with an error is crashed; an interrupted one does not count as a run."""
        if self._file is None:
            return
        if self._forks != _forks:
            # The run belongs to the parent process; a forked child that leaves the block must not end it.
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
        # Check before taking the lock: in a forked process, a thread that no longer exists may hold it.
        if self._forks != _forks:
            self._refuse("one of the process that this one was forked from")
        # Two threads may add at the same time, but each line has to follow the one whose checksum it continues.
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
                # No call separates this test from the assignment, so no signal handler can run in between.
                if self._state is before:
                    self._state = after
                    break
            self._finish(after)

    def _finish(self, state: _State) -> None:
        """Write the last line if it is not yet in the file."""
        _, _, line, writing, written, _ = state
        try:
            written.extend(writing)
            while (torn := sum(written)) != len(line):
                # A full disk accepts a part of the line and fails on the rest. Other processes may write to this file,
                # so the part is ended as a torn line of its own, and the whole line follows.
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
        """Refuse a file with other content; a line that was cut short by a kill is ended as a line of its own."""
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
        # The run was never closed, so its outcome is unknown; just close the file.
        with contextlib.suppress(OSError, AttributeError):
            self._let_go()

    def __reduce__(self) -> NoReturn:
        self._refuse("a copy of it for another process")


def begins_a_run(first: bytes) -> bool:
    """Say whether these are the first bytes of a file that `record` wrote, perhaps with a truncated first line."""
    if _TORN_HEAD.fullmatch(first.partition(b"\n")[0]):
        return True
    return first.startswith(b'{"run":"') and RUN_HEAD.search(first) is not None


def _outcome(error: BaseException | None) -> tuple[str, int]:
    """Return why a run ended, and the exit code of a process that ends with this error."""
    if error is None:
        return "exit", 0
    if isinstance(error, SystemExit):
        code = error.code
        return "exit", code if isinstance(code, int) else int(code is not None)
    # An error that is not an `Exception` comes from outside: Ctrl-C or a cancelled task.
    return ("exit" if isinstance(error, Exception) else "interrupted"), 1


def _words(error: BaseException) -> str:
    try:
        return _text_of(f"{type(error).__name__}: {error}")
    except Exception:
        # Converting the error to text may itself fail.
        return type(error).__name__


def _text_of(value: object) -> str:
    return str(value)[:_MOST_WORDS].encode(errors="backslashreplace").decode()


def _number(value: Any) -> str:
    """Return a number as JSON with all its digits; numbers of NumPy and solver types are converted first.

    Other values, and NaN and infinity, which JSON cannot represent, are written as text; the reader rejects them.
    """
    if type(value) is not float and type(value) is not int:
        try:
            value = _plain_number(value)
        except (TypeError, ValueError, OverflowError):
            return "null" if value is None else msgspec.json.encode(_text_of(value)).decode()
    try:
        return repr(value) if value - value == 0 else f'"{value!r}"'
    except ValueError:
        # Python refuses to print an integer of thousands of digits.
        return '"inf"'


def _plain_number(value: Any) -> int | float:
    if hasattr(value, "item"):
        # The single number of an array or a tensor.
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
    """Convert arrays and array scalars to lists and numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is none of them")


Carried = str | int | float | bool | None
# Columns that the reader fills in; a fact with the same name would be lost.
RESERVED = """
    first count status unclosed origins ladder ladder_step time objective valid claimed reason bound primary
    secondary validation clock value_resolution bound_resolution claim time_scale
    time_scale_source own_horizon started import_notes instance_digest problem_digest solver_version exit_code
    signal elapsed cpu_time peak_memory machine host cpus governor boost load cpu_share foreign_share overshoot
    jitter disturbed limits unpinned shared_memory leftover dropped attempts attempt order_seed
    order_position best_solution_digest
"""
# Required types of the facts that gapline itself uses.
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
    """Record a run of your own Python solver to a file that `gapline.read` reads.

    Parameters
    ----------
    path
        The file, new or with other runs; runs are appended, also by several processes at the same time.
    arm, instance, seed, panel
        The identity of the run.
    horizon
        Time budget in seconds; later candidates are kept and counted, but not scored.
    sense
        "min" or "max". If omitted, the reader assumes "min" and refuses objectives that seem to be maximised.
    **carried
        Further facts of the run, one column each: threads=4, slices=96, version="1.2".

    Use it as a context manager. A run that adds nothing is an empty run, one that raises is a crashed run, and one
    stopped by Ctrl-C is not a run but counted as interrupted. A run that is never closed counts as `killed` once its
    process has ended.

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
    # Convert NumPy scalars.
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
    """Say whether a text can be encoded; file names may contain bytes that are not text."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)
