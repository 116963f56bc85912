"""Any program whose log an import reads: `solver = "command"` with `format = "…"`.

Whenever the log of the child grows by a line, it is read again and what is new in it is printed as candidates and
bounds, so that the host stamps them as they come. A log has no solutions: the objective counts because the solver says
so (`validation = "solver"`), and its own seconds are a claim. The log itself goes to the standard error. A program that
holds its output back when it writes to a pipe must be told not to, for instance by `stdbuf -oL`.
"""

import argparse
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from gapline.errors import EnvironmentLacksError, TraceError
from gapline.solvers.protocol import announce, emit, emit_bound, emit_claim, errors_in_one_line

if TYPE_CHECKING:
    from gapline.logs.reader import Reader

PIECE = 1 << 16
RESOLUTIONS = ("value_resolution", "bound_resolution")
# Reading the log again and again may take a fifth of one core's time, not more.
REST = 4.0


class LogEvent(NamedTuple):
    """What a log says at one moment; None where it says nothing."""

    time: float
    objective: float | None
    bound: float | None


class LogWatch:
    """A log that grows, and what was printed of it."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self._data = b""
        self._read = 0
        self._printed: Counter[LogEvent] = Counter()

    def add(self, piece: bytes) -> None:
        """Take more of the log."""
        self._data += piece

    @property
    def has_news(self) -> bool:
        """Whether there is a whole line that was not read yet."""
        return self._data.rfind(b"\n") + 1 > self._read

    def print_news(self, *, ended: bool = False) -> None:
        """Read what is there up to the last whole line, or all of it at the end, and print what is new."""
        from gapline.logs.reader import LogFile

        self._read = len(self._data) if ended else self._data.rfind(b"\n") + 1
        try:
            found = self._reader.read(LogFile("stdout", self._data[: self._read]))
        except TraceError:
            # The first lines of a log need not show yet what it is.
            if ended:
                raise
            return
        for problem in found.problems if ended else ():
            print(problem, file=sys.stderr)
        events = Counter(event for run in found.runs for event in run_events(run))
        for event in sorted((events - self._printed).elements(), key=lambda event: event.time):
            print_event(event)
        self._printed |= events
        # Several solves in one log have no end in common.
        if ended and len(found.runs) == 1:
            said = {name: found.runs[0].carried.get(name) for name in ("claim", *RESOLUTIONS)}
            if any(value is not None for value in said.values()):
                emit_claim(**said)


def run_events(run: Any) -> Iterator[LogEvent]:
    """Yield the events of a run in a log, those that the solver itself calls invalid left out."""
    for index, moment in enumerate(run.time):
        valid = run.verdict is None or int(run.verdict[index]) != 0
        stated = (run.objective if valid else None, run.bound)
        # None and not NaN, which is not equal to itself and would be new each time.
        objective, bound = (
            float(column[index]) if column is not None and math.isfinite(column[index]) else None for column in stated
        )
        if objective is not None or bound is not None:
            yield LogEvent(float(moment), objective, bound)


def print_event(event: LogEvent) -> None:
    """Print a candidate with its bound, or a bound alone."""
    if event.objective is not None:
        emit(event.objective, None, time=event.time, bound=event.bound)
    elif event.bound is not None:
        emit_bound(event.bound)


def watch(program: list[str], format_name: str) -> int:
    """Run a program to its end, print what its log says, and return its exit code (negative for a signal)."""
    announce(Path(program[0]).name, f"unknown, log read as {format_name}")
    try:
        child = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0)
    except OSError as error:
        raise EnvironmentLacksError(f"{program[0]!r} cannot be started: {error.strerror}") from None

    def pass_on(number: int, _frame: FrameType | None) -> None:
        # What the program says when it is told to stop still counts: only its end is ours.
        child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    # Loaded while the program starts: reading its log is not its work.
    from gapline.logs.formats import find_reader

    log = LogWatch(find_reader(format_name))
    assert child.stdout is not None
    source = child.stdout.fileno()
    next_read = 0.0
    while True:
        wait = max(0.0, next_read - time.monotonic()) if log.has_news else None
        if select.select([source], [], [], wait)[0]:
            piece = os.read(source, PIECE)
            if not piece:
                break
            os.write(sys.stderr.fileno(), piece)
            log.add(piece)
        begun = time.monotonic()
        if log.has_news and begun >= next_read:
            log.print_news()
            ended = time.monotonic()
            next_read = ended + REST * (ended - begun)
    log.print_news(ended=True)
    return child.wait()


def main() -> None:
    """Read the command line `--format=F -- PROGRAM ARGUMENTS`, watch the program, and end as it ended."""
    parser = argparse.ArgumentParser(description="Print what the log of a program says, as JSON lines.")
    parser.add_argument("--format", required=True)
    parser.add_argument("program", nargs="+")
    given = parser.parse_args()
    with errors_in_one_line():
        code = watch(given.program, given.format)
    if code < 0:
        # The host tells a run that was killed from one that crashed.
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
