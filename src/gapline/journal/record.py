"""`record`: the candidates of a solver that is code of one's own, kept as a journal while it searches.

    {"run":"5b0c…","seq":0,"start":{"arm":"mine","instance":"a","seed":1,…},"crc":"…"}
    {"run":"5b0c…","seq":1,"t":0.013502,"say":{"objective":12.5},"crc":"…"}
    {"run":"5b0c…","seq":2,"end":{"cause":"exit",…},"crc":"…"}

A file takes any number of runs, of several threads and processes at once: each line names its run, and the checksums of
a run are a chain of its own. A line is one `write`: what `add` returned from is in the file, whatever kills us.
"""

import datetime
import os
import platform
import time
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

import msgspec

from gapline.errors import UsageError
from gapline.journal.line import RECORD_SCHEMA, seal

Carried = str | int | float | bool | None
# How often this process came out of a fork: a child must not go on with the runs of its parent.
_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 (the kernel's own count, as far as Python sees it)
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class Trace:
    """One run that is being recorded; `record` opens it."""

    __slots__ = ("_checksum", "_cpu", "_file", "_forks", "_head", "_lock", "_sequence", "_started", "_zero", "path")

    def __init__(self, path: str | os.PathLike[str], start: dict[str, Any]) -> None:
        self.path = Path(path)
        self._file: int | None = None
        self._head = f'{{"run":"{os.urandom(8).hex()}","seq":'
        self._sequence = self._checksum = 0
        self._lock, self._forks = Lock(), _forks
        self._started = datetime.datetime.now(datetime.UTC).isoformat()
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        # A line that a kill cut short in the middle of a write stays a line of its own.
        self._mend_last_line()
        start["started"] = self._started
        self._write(f'"start":{msgspec.json.encode(start).decode()}')
        self._cpu = time.process_time()
        self._zero = time.monotonic_ns()

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
            more += f',"solution":{msgspec.json.encode(solution, enc_hook=_plain).decode()}'
        self._write(f'"t":{now:.9f},"say":{{"objective":{_number(objective)}{more}}}')

    def add_bound(self, bound: float, /) -> None:
        """Keep a dual bound that came without a candidate."""
        now = (time.monotonic_ns() - self._zero) / 1e9
        self._write(f'"t":{now:.9f},"say":{{"bound":{_number(bound)}}}')

    def close(self, error: BaseException | None = None) -> None:
        """End the run, once; one that ends by an error is a crashed run, one that was interrupted is no run."""
        if self._file is None:
            return
        cause = "exit" if error is None or isinstance(error, Exception) else "interrupted"
        end: dict[str, Any] = {"cause": cause, "started": self._started, "elapsed": self.elapsed, "zero": self._zero}
        end |= {"cpu_time": time.process_time() - self._cpu, "events": self._sequence - 1, "exit_code": 0}
        if error is not None:
            end |= {"exit_code": 1, "error": f"{type(error).__name__}: {error}"}
        self._write(f'"end":{msgspec.json.encode(end).decode()}')
        file, self._file = self._file, None
        try:
            os.fdatasync(file)
        finally:
            os.close(file)

    def _write(self, body: str) -> None:
        # Two threads may find something at once; a line has to follow the one whose checksum it continues.
        with self._lock:
            if self._file is None or self._forks != _forks:
                raise UsageError(
                    f"{self.path}: expected a run that is being recorded here, got one that has ended or that belongs "
                    "to another process",
                    hint="use `with gl.record(…) as trace:` around the search, in the process that searches",
                )
            line, checksum = seal(f"{self._head}{self._sequence},{body}".encode(), self._checksum)
            written = os.write(self._file, line)
            while written < len(line):
                # A full disk answers with a short count first, and with the error when asked again.
                written += os.write(self._file, line[written:])
            self._sequence += 1
            self._checksum = checksum

    def _mend_last_line(self) -> None:
        size = os.fstat(self._file).st_size  # type: ignore[arg-type]
        if not size:
            return
        with self.path.open("rb") as stream:
            stream.seek(size - 1)
            if stream.read(1) != b"\n":
                os.write(self._file, b"\n")  # type: ignore[arg-type]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error)


def record(
    path: str | os.PathLike[str],
    /,
    *,
    arm: str,
    instance: str,
    horizon: float,
    seed: int = 1,
    panel: str = "all",
    sense: str = "min",
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
        "min" or "max".
    **carried
        Further facts of the run, a column each: threads=4, slices=96, version="1.2".

    Used as a context: a run that adds nothing is an empty run, one that raises is a crashed run, one that Ctrl-C or a
    kill cut short is no run and counted as interrupted.

    >>> import gapline as gl, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "traces.jsonl"
    >>> with gl.record(file, arm="mine", instance="a", seed=1, horizon=60) as trace:
    ...     trace.add(12.5)
    ...     trace.add(11.0, bound=9.0)
    >>> gl.read(file).runs.select("arm", "instance", "status", "count").rows()
    [('mine', 'a', 'finished', 2)]
    """
    if sense not in ("min", "max"):
        raise UsageError(f"sense: expected min or max, got {sense!r}")
    if not (isinstance(horizon, int | float) and 0 < horizon < float("inf")):
        raise UsageError(f"horizon: expected seconds above 0, got {horizon!r}")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise UsageError(f"seed: expected a whole number, got {seed!r}")
    for name, value in (("arm", arm), ("instance", instance), ("panel", panel)):
        if not isinstance(value, str) or not value:
            raise UsageError(f"{name}: expected a name, got {value!r}")
    for name, fact in carried.items():
        if fact is not None and not isinstance(fact, str | int | float | bool):
            raise UsageError(f"{name}: expected a text, a number or a truth value, got {type(fact).__name__}")
    machine = {"host": platform.node()}
    facts = {"arm": arm, "instance": instance, "seed": seed, "panel": panel, "horizon": float(horizon)}
    return Trace(
        path,
        facts
        | {"carried": carried | {"sense": sense, "validation": "solver"}, "machine": machine, "schema": RECORD_SCHEMA},
    )


def _number(value: Any) -> str:
    """Write a number with every digit it has; numbers of NumPy and of solvers are made plain first."""
    if type(value) is not float and type(value) is not int:
        try:
            value = float(value)
        except (TypeError, ValueError):
            return msgspec.json.encode(str(value)).decode()
    # NaN and infinity are no JSON: they stay as text, and the reader counts them as rejected.
    return repr(value) if value - value == 0 else f'"{value!r}"'


def _plain(value: Any) -> Any:
    """Return arrays and their numbers as lists and numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise UsageError(f"solution: expected lists, dictionaries, texts and numbers, got {type(value).__name__}")
