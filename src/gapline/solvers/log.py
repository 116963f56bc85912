"""Any program whose log an import reads: `solver = "command"` with `format = "…"`.

Whenever the log of the child grows by a line, it is parsed again, and new candidates and bounds are printed, so that
the host stamps them on arrival. A log has no solutions: the objective is accepted without a check (`validation =
"solver"`), and the solver's own seconds are a claim. The log itself goes to the standard error. A program that buffers
its output when it writes to a pipe must be told not to, for instance by `stdbuf -oL`.
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
# Parsing the log repeatedly may take at most a fifth of one core's time.
REST = 4.0


class LogEvent(NamedTuple):
    """The content of a log at one moment; None for what it does not state."""

    time: float
    objective: float | None
    bound: float | None


class LogWatch:
    """A growing log, and the events of it that were printed."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self._data = b""
        self._read = 0
        self._printed: Counter[LogEvent] = Counter()

    def add(self, piece: bytes) -> None:
        """Append a piece to the log."""
        self._data += piece

    @property
    def has_news(self) -> bool:
        """Whether there is a complete line that was not read yet."""
        return self._data.rfind(b"\n") + 1 > self._read

    def print_news(self, *, ended: bool = False) -> None:
        """Parse the log up to the last complete line, or all of it at the end, and print new events."""
        from gapline.logs.reader import LogFile

        self._read = len(self._data) if ended else self._data.rfind(b"\n") + 1
        try:
            found = self._reader.read(LogFile("stdout", self._data[: self._read]))
        except TraceError:
            # The first lines of a log may not identify its format yet.
            if ended:
                raise
            return
        for problem in found.problems if ended else ():
            print(problem, file=sys.stderr)
        events = Counter(event for run in found.runs for event in run_events(run))
        for event in sorted((events - self._printed).elements(), key=lambda event: event.time):
            print_event(event)
        self._printed |= events
        # Several solves in one log have no common claim at the end.
        if ended and len(found.runs) == 1:
            said = {name: found.runs[0].carried.get(name) for name in ("claim", *RESOLUTIONS)}
            if any(value is not None for value in said.values()):
                emit_claim(**said)


def run_events(run: Any) -> Iterator[LogEvent]:
    """Yield the events of a run in a log, without those that the solver itself calls invalid."""
    for index, moment in enumerate(run.time):
        valid = run.verdict is None or int(run.verdict[index]) != 0
        stated = (run.objective if valid else None, run.bound)
        # None instead of NaN: NaN differs from itself and would look new each time.
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
    """Run a program to its end, print the events of its log, and return its exit code (negative for a signal)."""
    announce(Path(program[0]).name, f"unknown, log read as {format_name}")
    try:
        child = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0)
    except OSError as error:
        raise EnvironmentLacksError(f"{program[0]!r} cannot be started: {error.strerror}") from None

    def pass_on(number: int, _frame: FrameType | None) -> None:
        # Candidates that the program prints after the signal still count: do not end before it does.
        child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    # Import while the program starts: parsing the log is not charged to the program.
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
        # The host distinguishes a killed run from a crashed one.
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
