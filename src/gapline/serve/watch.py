"""`watch`: the state of a study in a terminal, or as plain lines in a pipe, until it is finished."""

import sys
import time
from collections.abc import Callable
from typing import Any

from gapline.serve.curves import curves_document
from gapline.serve.live import LiveStudy
from gapline.serve.quiet import allowed_cores, avoid_cores
from gapline.serve.screen import alarm_lines, arm_lines, event_line, progress_lines, screen_lines
from gapline.terminal import console, say

LOOK_EVERY = 1.0
# Of a pipe: lines at a time, and seconds between two of them, so that one can read along.
MOST_LINES = 5
LINES_EVERY = 2.0
# Curves may take this share of the time.
SHARE = 0.02


class Curves:
    """The curves of a study, made anew when runs have joined, in a small share of the time."""

    def __init__(self, live: LiveStudy, clock: Callable[[], float] = time.monotonic) -> None:
        self._live = live
        self._clock = clock
        self._due = -1.0
        self._runs = -1
        self._found: dict[str, Any] = {}

    def now(self) -> dict[str, Any]:
        """Return the curves as they were when there was time for them."""
        scores, began = self._live.table.scores, self._clock()
        runs = 0 if scores is None else scores.frame.height
        if runs != self._runs and began >= self._due:
            self._found, self._runs = curves_document(self._live.table), runs
            self._due = self._clock() + (self._clock() - began) / SHARE
        return self._found


class PlainLines:
    """What a pipe gets: a line of progress where it changed, and the newest events, never faster than one reads."""

    def __init__(self, out: Callable[[str], None] = say) -> None:
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
        """Print the table."""
        for line in arm_lines(state, curves):
            self._out(line)


def watch(
    live: LiveStudy,
    *,
    once: bool = False,
    is_terminal: bool | None = None,
    wait: Callable[[float], object] = time.sleep,
) -> int:
    """Watch a study until it is finished; return 1 where an alarm rang."""
    curves, allowed = Curves(live), allowed_cores()
    shown = sys.stdout.isatty() if is_terminal is None else is_terminal
    state = live.look()
    if shown and not once:
        state = _on_screen(live, state, curves, allowed, wait)
    else:
        lines = PlainLines()
        lines.show(state)
        while not once and state["phase"] != "finished":
            avoid_cores(live.pinned_cores(), allowed)
            wait(LINES_EVERY)
            state = live.look()
            lines.show(state)
        lines.end(state, curves.now())
    return 1 if state["alarms"] or state["running_alarms"] else 0


def _on_screen(
    live: LiveStudy,
    state: dict[str, Any],
    curves: Curves,
    allowed: frozenset[int],
    wait: Callable[[float], object],
) -> dict[str, Any]:
    from rich.live import Live
    from rich.text import Text

    out = console()

    def drawn() -> Text:
        lines = screen_lines(state, curves.now(), width=min(out.width, 120), height=max(10, out.height - 1))
        text = Text()
        for line in lines:
            text.append(f"{line}\n", style="bold red" if line.startswith("ALARM") else "")
        return text

    with Live(drawn(), console=out, auto_refresh=False, screen=False) as screen:
        while True:
            screen.update(drawn(), refresh=True)
            if state["phase"] == "finished":
                return state
            avoid_cores(live.pinned_cores(), allowed)
            wait(LOOK_EVERY)
            state = live.look()
