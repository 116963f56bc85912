"""`watch`: the state of a study in a terminal, or as plain lines in a pipe, until it is finished."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gapline.serve.curves import curves_document
from gapline.serve.live import LiveStudy
from gapline.serve.quiet import Distance
from gapline.serve.reopen import Followable, Reopened
from gapline.serve.screen import (
    alarm_lines,
    arm_lines,
    event_line,
    note_lines,
    progress_lines,
    refusal_lines,
    screen_lines,
)
from gapline.terminal import console, say_words, width

LOOK_EVERY = 1.0
# Of a pipe: lines at a time, and seconds between two of them, so that one can read along.
MOST_LINES = 5
LINES_EVERY = 2.0
LOUD = ("ALARM", "REJECTED")
# Curves may take this share of the time.
SHARE = 0.02


class Curves:
    """The curves of a study, made anew when runs have joined, in a small share of the time; a trace file has none."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due = -1.0
        self._runs = -1
        self._found: dict[str, Any] = {}

    def now(self, live: Followable | None) -> dict[str, Any]:
        """Return the curves as they were when there was time for them."""
        if not isinstance(live, LiveStudy):
            return {}
        scores, began = live.table.scores, self._clock()
        runs = 0 if scores is None else scores.frame.height
        if runs != self._runs and began >= self._due:
            self._found, self._runs = curves_document(live.table), runs
            self._due = self._clock() + (self._clock() - began) / SHARE
        return self._found


class PlainLines:
    """What a pipe gets: a line of progress where it changed, and the newest events, never faster than one reads."""

    def __init__(self, out: Callable[[str], None] = say_words) -> None:
        self._out = out
        self._events = 0
        self._progress: list[str] = []
        self._alarms: set[str] = set()

    def show(self, state: dict[str, Any]) -> None:
        """Print what is new."""
        for alarm in alarm_lines(state):
            # Alarms wait for nobody.
            if alarm not in self._alarms:
                self._alarms.add(alarm)
                self._out(alarm)
        new = [one for one in state["events"] if one["number"] > self._events and one["kind"] != "alarm"]
        if new:
            self._events = new[0]["number"]
        shown = new[:MOST_LINES][::-1]
        if len(new) > len(shown):
            self._out(f"… {len(new) - len(shown)} events before these")
        for event in shown:
            self._out(event_line(event))
        # The time left changes all the time: it is no news by itself.
        progress = [line.partition("; about ")[0] for line in progress_lines(state)]
        if progress != self._progress:
            self._progress = progress
            for line in progress_lines(state):
                self._out(line)

    def end(self, state: dict[str, Any], curves: dict[str, Any]) -> None:
        """Print the table, or why there is none."""
        for line in (*note_lines(state), *refusal_lines(state), *arm_lines(state, curves, width(), legend=True)):
            self._out(line)


def watch(
    source: str | Path,
    *,
    opened: Callable[[str, Path], Followable] | None = None,
    once: bool = False,
    is_terminal: bool | None = None,
    wait: Callable[[float], object] = time.sleep,
) -> int:
    """Watch a study or a trace file until it is finished; return 1 where an alarm rang.

    What is not there yet is waited for, unless this moment is all that is asked for.
    """
    path, opened = Path(source), opened or (lambda name, path: LiveStudy(path, name=name))
    watched = Reopened(path.absolute().name, path, opened)
    shown = sys.stdout.isatty() if is_terminal is None else is_terminal
    try:
        if once:
            # Whoever asks once has to be told by the exit code too.
            watched.open()
        show = _on_screen if shown and not once else _in_lines
        state = show(watched, once, wait)
    finally:
        watched.close()
    return 1 if state["alarms"] or state["running_alarms"] else 0


def _in_lines(watched: Reopened, once: bool, wait: Callable[[float], object]) -> dict[str, Any]:
    lines, curves, distance, state = PlainLines(), Curves(), Distance(), watched.look()
    lines.show(state)
    while not once and state["phase"] != "finished":
        distance.keep(watched.pinned)
        wait(LINES_EVERY)
        state = watched.look()
        lines.show(state)
    lines.end(state, curves.now(watched.live))
    return state


def _on_screen(watched: Reopened, _once: bool, wait: Callable[[float], object]) -> dict[str, Any]:
    from rich.live import Live
    from rich.text import Text

    out, curves, distance, state = console(), Curves(), Distance(), watched.look()

    def drawn() -> Text:
        now = curves.now(watched.live)
        lines = screen_lines(state, now, width=min(out.width, 120), height=max(10, out.height - 1))
        text, style = Text(), ""
        for line in lines:
            # What goes on in the next line is set in.
            style = "bold red" if line.startswith(LOUD) else style if line.startswith("  ") else ""
            text.append(f"{line}\n", style=style)
        return text

    with Live(drawn(), console=out, auto_refresh=False, screen=False) as screen:
        while True:
            screen.update(drawn(), refresh=True)
            if state["phase"] == "finished":
                return state
            distance.keep(watched.pinned)
            wait(LOOK_EVERY)
            state = watched.look()
