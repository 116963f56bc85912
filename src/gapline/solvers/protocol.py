"""What a solver's child process needs: its task, its clock, and lines on standard output.

An adapter is a module with one function of a task, and three lines at its end::

    from gapline.solvers.protocol import Task, announce, emit, run_adapter

    def solve(task: Task) -> None:
        announce("mine", "1.0")
        for objective, routes in my_search(task.instance, seed=task.seed, seconds=task.time_left()):
            emit(objective, routes)

    if __name__ == "__main__":
        run_adapter(solve)

Everything from the start of the process counts against the horizon: loading, modelling, searching. `time_left` knows
how much of it is gone. With the option `iterations` an adapter stops after that many steps, whatever the clock says, so
that the same seed gives the same lines on any machine.
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

# How far from a whole number a value may be: the integrality that the checker of MIPs allows.
NEAR = 1e-6
# Taken when this module is loaded: what came before is added from the operating system, where it tells.
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
        """Return the seconds that a solver has which prints at its end alone: a twentieth less than are left."""
        return max(0.01, 0.95 * self.time_left())

    def deadline(self) -> float:
        """Return the moment of `time.monotonic()` at which the horizon is over, for solvers that ask in every step."""
        return time.monotonic() + self.time_left()

    def option(self, name: str, default: Any, *, among: tuple[str | int, ...] = ()) -> Any:
        """Return an option, refusing a value that is not among the valid ones."""
        value = self.options.get(name, default)
        if among and value not in among:
            raise UsageError(f"options.{name}: expected one of {', '.join(map(str, among))}, got {value!r}")
        return value

    def iterations(self) -> int | None:
        """Return the limit on steps, or None when the clock is the limit."""
        value = self.options.get("iterations")
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"options.iterations: expected a positive whole number, got {value!r}")
        return value


def read_task(arguments: list[str] | None = None) -> Task:
    """Read the task from the command line, or what is missing there from the environment (GAPLINE_INSTANCE, ...)."""
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
    """Print the first line: who solves, in which version (else the package's own), and whether only its end prints.

    `model` names the problem that is solved where it is not that of the instance, such as "mean travel times": the arm
    is then described and not compared, unless the contract states that the model is exact.
    """
    found = version or metadata.version(solver)
    stated: dict[str, object] = {
        "solver": solver,
        "version": f"{found}, terminal solution only" if terminal_only else found,
    }
    _print_line(stated | ({"model": model} if model else {}))


def emit(objective: float, solution: object, *, time: float | None = None, bound: float | None = None) -> None:
    """Print one candidate at once: what the solver believes, which the checker recomputes, and a solution for JSON.

    A routing solution is lists of customer numbers from 1. `time` are the solver's own seconds, `bound` a dual bound.
    """
    more = {"time": time, "bound": bound}
    stated = {name: value for name, value in more.items() if value is not None}
    _print_line({"objective": objective, "solution": solution, **stated})


def emit_bound(bound: float) -> None:
    """Print a dual bound alone: no better solution is possible, by the solver's proof."""
    _print_line({"bound": bound})


def emit_claim(claim: str | None, **resolutions: float | None) -> None:
    """Print what the solver has proven in the end: `optimal` (of its best candidate) or `infeasible`.

    Where numbers come from a rounded print, `value_resolution` and `bound_resolution` are the units of its last digits.
    """
    _print_line({"claim": claim} | {name: unit for name, unit in resolutions.items() if unit is not None})


def named_values(names: Iterable[str], values: Iterable[float], whole: Iterable[bool]) -> dict[str, float]:
    """Return the values that are not zero by name; what is nearly whole and must be is rounded.

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
    """Remembers the dual bound that was printed last, so that each is printed once."""

    def __init__(self) -> None:
        self._last: float | None = None

    def news(self, bound: float) -> float | None:
        """Return the bound when it is finite and new, or None."""
        if not abs(bound) < INFINITE or bound == self._last:
            return None
        self._last = bound
        return bound

    def print(self, bound: float) -> None:
        """Print the bound alone, when it is news."""
        if (news := self.news(bound)) is not None:
            emit_bound(news)


def seconds_since_start() -> float:
    """Return the seconds since this process began, or since this module was loaded where the system does not tell."""
    started = began(os.getpid())
    if started is None or not hasattr(time, "CLOCK_BOOTTIME"):
        return time.monotonic() - _LOADED
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK"), time.monotonic() - _LOADED)


def run_adapter(solve: Callable[[Task], None]) -> None:
    """Read the task, solve it, and end with one clear line when something is wrong or missing."""
    with errors_in_one_line():
        try:
            solve(read_task())
        except ImportError as error:
            raise _not_installed(error) from error


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """End this process with one line on its standard error where an error of ours comes through."""
    try:
        yield
    except BrokenPipeError:
        # The host is gone; nobody is left to print to.
        os._exit(1)
    except GaplineError as error:
        print(str(error).replace("\n", "; "), file=sys.stderr)
        sys.exit(error.exit_code)


def _not_installed(error: ImportError) -> Exception:
    """Name the extra that brings what an adapter of ours could not import; another's import error stays what it is."""
    # Only now: the catalogue loads the contract and its libraries, which would be charged to the solver.
    from gapline.solvers.catalogue import ADAPTERS

    spec = sys.modules["__main__"].__spec__
    for adapter in ADAPTERS.values():
        if spec is not None and adapter.module == spec.name:
            return EnvironmentLacksError.for_extra(adapter.package, adapter.extra)
    return error


def _print_line(content: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(content, separators=(",", ":")) + "\n")
    sys.stdout.flush()
