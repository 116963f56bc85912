"""The protocol for a solver's child process: its task, its clock, and lines on standard output.

An adapter is a module with one function of a task, and three lines at its end::

    from gapline.solvers.protocol import Task, announce, emit, run_adapter

    def solve(task: Task) -> None:
        announce("mine", "1.0")
        for objective, routes in my_search(task.instance, seed=task.seed, seconds=task.time_left()):
            emit(objective, routes)

    if __name__ == "__main__":
        run_adapter(solve)

Everything from the start of the process counts against the horizon: loading, modelling, searching. `time_left` accounts
for it. With the option `iterations` an adapter stops after that many steps, whatever the clock shows, so that the same
seed gives the same lines on any machine.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from gapline.contract.number_limits import INFINITE
from gapline.errors import EnvironmentLacksError, GaplineError, UsageError
from gapline.files.process_start import began

# The tolerance for rounding to an integer: the integrality tolerance of the checker of MIPs.
NEAR = 1e-6
# The time when this module is loaded; the operating system tells the time before that, where it can.
_LOADED = time.monotonic()


@dataclass(frozen=True, slots=True)
class Task:
    """One run, as announced to the solver."""

    instance: Path
    seed: int
    horizon: float
    threads: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)

    def time_left(self) -> float:
        """Return the seconds until the horizon, at least a hundredth."""
        # Never zero, which several solvers read as no limit.
        return max(0.01, self.horizon - seconds_since_start())

    def last_word(self) -> float:
        """Return the time limit for a solver that prints only at its end: 95 % of the remaining seconds."""
        return max(0.01, 0.95 * self.time_left())

    def deadline(self) -> float:
        """Return the horizon as a time of `time.monotonic()`, for solvers that check it in every step."""
        return time.monotonic() + self.time_left()

    def option(self, name: str, default: Any, *, among: tuple[str | int, ...] = ()) -> Any:
        """Return an option; refuse a value that is not among the valid ones."""
        value = self.options.get(name, default)
        if among and value not in among:
            raise UsageError(f"options.{name}: expected one of {', '.join(map(str, among))}, got {value!r}")
        return value

    def iterations(self) -> int | None:
        """Return the limit on steps, or None if the clock is the limit."""
        value = self.options.get("iterations")
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"options.iterations: expected a positive whole number, got {value!r}")
        return value


def read_task(arguments: list[str] | None = None) -> Task:
    """Read the task from the command line; missing parts come from the environment (GAPLINE_INSTANCE, ...)."""
    parser = argparse.ArgumentParser(description="A solver that prints one JSON line per candidate.")
    parser.add_argument("--instance", default=os.environ.get("GAPLINE_INSTANCE"))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("GAPLINE_SEED", "0")))
    parser.add_argument("--horizon", type=float, default=float(os.environ.get("GAPLINE_HORIZON", "10")))
    parser.add_argument("--threads", type=int, default=int(os.environ.get("GAPLINE_THREADS", "1")))
    parser.add_argument("--options", type=json.loads, default={}, help="a JSON object")
    given = parser.parse_args(arguments)
    if not given.instance:
        parser.error("--instance or GAPLINE_INSTANCE is needed")
    if not Path(given.instance).is_file():
        raise UsageError(f"instance: expected a file, got {given.instance!r}")
    return Task(Path(given.instance), given.seed, given.horizon, given.threads, given.options)


def announce(solver: str, version: str = "", *, terminal_only: bool = False, model: str = "") -> None:
    """Print the first line: solver, version (by default that of the package), and whether it prints only at its end.

    `model` names the problem that is solved if it differs from the instance, such as "mean travel times": the arm is
    then described and not compared, unless the contract states that the model is exact.
    """
    found = version or metadata.version(solver)
    stated: dict[str, object] = {
        "solver": solver,
        "version": f"{found}, terminal solution only" if terminal_only else found,
    }
    _print_line(stated | ({"model": model} if model else {}))


def emit(objective: float, solution: object, *, time: float | None = None, bound: float | None = None) -> None:
    """Print one candidate at once: the objective according to the solver, and a solution as JSON for the checker.

    A routing solution is lists of customer numbers from 1. `time` is in the solver's own seconds, `bound` a dual bound.
    """
    more = {"time": time, "bound": bound}
    stated = {name: value for name, value in more.items() if value is not None}
    _print_line({"objective": objective, "solution": solution, **stated})


def emit_bound(bound: float) -> None:
    """Print a dual bound alone: the solver has proven that no better solution exists."""
    _print_line({"bound": bound})


def emit_claim(claim: str | None, **resolutions: float | None) -> None:
    """Print what the solver has finally proven: `optimal` (its best candidate) or `infeasible`.

    If numbers come from a rounded log, `value_resolution` and `bound_resolution` are the units of their last digits.
    """
    _print_line({"claim": claim} | {name: unit for name, unit in resolutions.items() if unit is not None})


def named_values(names: Iterable[str], values: Iterable[float], whole: Iterable[bool]) -> dict[str, float]:
    """Return the nonzero values by name; nearly integer values of integer variables are rounded.

    >>> named_values(["x", "y", "z"], [0.9999999999, 0.0, 0.5], [True, True, False])
    {'x': 1, 'z': 0.5}
    """
    point: dict[str, float] = {}
    for name, value, must in zip(names, values, whole, strict=True):
        rounded = round(value) if must and abs(value - round(value)) <= NEAR else value
        if rounded:
            point[name] = rounded
    return point


class BestBound:
    """Remembers the last printed dual bound, so that each bound is printed once."""

    def __init__(self) -> None:
        self._last: float | None = None

    def news(self, bound: float) -> float | None:
        """Return the bound if it is finite and new, or None."""
        if not abs(bound) < INFINITE or bound == self._last:
            return None
        self._last = bound
        return bound

    def print(self, bound: float) -> None:
        """Print the bound alone, if it is finite and new."""
        if (news := self.news(bound)) is not None:
            emit_bound(news)


def seconds_since_start() -> float:
    """Return the seconds since the start of this process, or since this module was loaded if the start is unknown."""
    started = began(os.getpid())
    if started is None or not hasattr(time, "CLOCK_BOOTTIME"):
        return time.monotonic() - _LOADED
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK"), time.monotonic() - _LOADED)


def run_adapter(solve: Callable[[Task], None]) -> None:
    """Read the task and solve it; end with one clear line if something is wrong or missing."""
    with errors_in_one_line():
        try:
            solve(read_task())
        except ImportError as error:
            raise _not_installed(error) from error


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """End this process with one line on its standard error if gapline raises an error."""
    try:
        yield
    except BrokenPipeError:
        # The host is gone, so there is no reader left.
        os._exit(1)
    except GaplineError as error:
        print(str(error).replace("\n", "; "), file=sys.stderr)
        sys.exit(error.exit_code)


def _not_installed(error: ImportError) -> Exception:
    """Name the extra that installs a missing import of our adapters; other import errors stay unchanged."""
    # Import late: the catalogue loads the contract and its libraries, which would be charged to the solver.
    from gapline.solvers.catalogue import ADAPTERS

    spec = sys.modules["__main__"].__spec__
    for adapter in ADAPTERS.values():
        if spec is not None and adapter.module == spec.name:
            return EnvironmentLacksError.for_extra(adapter.package, adapter.extra)
    return error


def _print_line(content: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(content, separators=(",", ":")) + "\n")
    sys.stdout.flush()
