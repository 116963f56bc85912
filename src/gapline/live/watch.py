"""`gapline watch`: the state of a study in a terminal, or as plain lines in a pipe."""

import math
import sys
import textwrap
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gapline.contract.fact_origins import CHANGED, LATE_PLAN
from gapline.contract.reading import waiting_words
from gapline.errors import listing
from gapline.live.cpu_affinity import Distance
from gapline.live.hub import Watched
from gapline.live.state import LiveStudy
from gapline.live.table import SHARE, curves_document
from gapline.live.time_share import TimeShare
from gapline.report.writers.terminal import legend_lines, short_names
from gapline.terminal import cells, console, say_words, width
from gapline.text import counted, printable

HEIGHTS = "▁▂▃▄▅▆▇█"


def sparkline(time: Sequence[float], value: Sequence[float], *, end: float, width: int = 20, top: float = 1.0) -> str:
    """Draw a step curve from 0 to `end`, with heights from 0 (or the lowest value) to `top` (or the highest).

    >>> sparkline([0.0, 5.0], [1.0, 0.0], end=10.0, width=4)
    '██▁▁'
    """
    if not time or end <= 0:
        return ""
    drawn = values_drawn(time, value, end=end, width=width)
    low, high = min(0.0, *drawn), max(top, *drawn)
    shares = [(one - low) / ((high - low) or 1.0) for one in drawn]
    return "".join(HEIGHTS[min(len(HEIGHTS) - 1, int(share * len(HEIGHTS)))] for share in shares)


def values_drawn(time: Sequence[float], value: Sequence[float], *, end: float, width: int) -> list[float]:
    """Return the values of a step curve at its letters, each in the middle of its interval.

    >>> values_drawn([0.0, 5.0], [1.0, 0.25], end=10.0, width=4)
    [1.0, 1.0, 0.25, 0.25]
    """
    moments = [(column + 0.5) * end / width for column in range(width)]
    return [value[max(0, bisect_right(time, moment) - 1)] for moment in moments]


WIDTH = 80
CURVE = 14
# A narrower terminal shows names instead of curves.
_SPARKS = 72
State = Mapping[str, Any]


def screen_lines(state: State, curves: State | None = None, *, width: int = WIDTH, height: int = 24) -> list[str]:
    """Return the lines of a screen, at most `height` lines of at most `width` letters."""
    head = wrapped([*progress_lines(state), *alarm_lines(state), *note_lines(state)], width)
    arms = wrapped(refusal_lines(state), width) + arm_lines(state, curves, width)
    failures = [f"failed {one['arm']}/{one['instance']}/{one['seed']}: {one['status']} ({one['cause']})"
                for one in state.get("failures", [])[:3]]  # fmt: skip
    rest = max(3, height - len(head) - len(arms) - len(failures) - 2)
    # Alarms are shown above, in full.
    events = [event_line(one) for one in state.get("events", []) if one["kind"] != "alarm"][:rest]
    blocks = [block for block in (head, arms + failures, events) if block]
    lines = [line for block in blocks for line in ("", *block)][1:]
    return [clipped(line, width) for line in lines[:height]]


def progress_lines(state: State) -> list[str]:
    """Return how far the study is, and the runner's state if none works on it."""
    progress, runner = state.get("progress"), state.get("runner") or {}
    name = state["study"]["name"]
    if state["phase"] == "absent":
        return [f"{name}: no study here", runner["words"]]
    if progress is None:
        refused = state.get("refused") or {}
        return [f"{name}: {state['phase']}", str(refused.get("message", ""))]
    left = progress.get("time_left")
    about = "" if left is None else f"; about {duration(left)} left"
    lines = [f"{name}: {state['phase']}; {_counts(progress)} of {progress['planned']}{about}"]
    if runner.get("resume"):
        lines += [runner["words"], f"{'begin' if state['phase'] == 'not begun' else 'go on'} with: {runner['resume']}"]
    return lines


def _counts(progress: State) -> str:
    """Return how many cells are done, running and left, which add up, with details in brackets."""
    among = {"done": ("failed",), "left": ("interrupted", "quarantined")}
    parts = []
    for name in ("done", "running", "unchecked", "left"):
        if progress[name] or name in among:
            some = ", ".join(f"{progress[one]} {one}" for one in among.get(name, ()) if progress[one])
            what = waiting_words(progress[name]) if name == "unchecked" else f"{progress[name]} {name}"
            parts.append(f"{what}{f' ({some})' if some else ''}")
    return ", ".join(parts)


def refusal_lines(state: State) -> list[str]:
    """Return why there is no table, unless it is simply too early."""
    refused, progress = state.get("refused"), state.get("progress")
    if not refused or progress is None:
        return []
    if not progress["done"]:
        if state["phase"] == "not begun":
            return []
        return [f"no table: {waiting_words(progress['unchecked'])}" if progress["unchecked"] else "no run is whole yet"]
    hint = [f"Hint: {refused['hint']}"] if refused.get("hint") else []
    return [f"no table: {refused['message']}", *hint]


def arm_lines(state: State, curves: State | None, width: int = WIDTH, *, legend: bool = False) -> list[str]:
    """Return the table of arms: the mean of the whole runs, the bounds of the final mean, and the curve.

    The ranked arms come first, by the cells that all of them have finished. A long name is shortened in its middle, and
    written out below if a `legend` is requested.
    """
    kernels = state.get("kernels") or list(state.get("bounds", {}))
    if not kernels or state["phase"] == "not begun":
        return []
    lead = kernels[0]
    bounds = {one["arm"]: one for one in state["bounds"].get(lead, {}).get("arms", [])}
    rows = {row["arm"]: row for row in state["arms"]}
    ranking = state.get("ranking") or {"arms": {}, "words": ""}
    placed = ranking["arms"].get(lead, {})
    ranks = {name: one["rank"] for name, one in placed.items() if one["rank"] is not None}
    names = sorted({*rows, *bounds}, key=lambda name: (ranks.get(name, math.inf), name))
    if not names:
        return []
    is_open = any(one["open"] for one in bounds.values())
    drawn, top = _curves(curves, state) if width >= _SPARKS else ({}, 1.0)
    # A mean over other cells than those of the whole runs is shown in an extra column.
    is_common = any(name in rows and one["mean"] != rows[name]["scores"].get(lead) for name, one in placed.items())
    # Numbers take 18 columns, a rank 5, the common cells 9, bounds 19, and a curve 16.
    taken = 18 + (5 if placed else 0) + (9 if is_common else 0) + (19 if is_open else 0) + (16 if drawn else 0)
    room = max(6, min(max(cells(printable(name)) for name in names), width - taken))
    short = short_names(map(printable, names), room)
    between = f"  {'still between':>17}" if is_open else ""
    common = f" {'common':>8}" if is_common else ""
    head = f"{'rank ' if placed else ''}{'arm':<{room}} {'runs':>5} {lead[:10]:>10}{common}"
    lines = [f"{head}{between}{'  curve' if drawn else ''}"]
    for name in names:
        row, ends, curve = rows.get(name), bounds.get(name), drawn.get(name)
        score = None if row is None else row["scores"].get(lead)
        known = "" if ends is None or ends["low"] is None else f"{_rounded(ends['low'])} {_rounded(ends['high'])}"
        spark = "" if curve is None else "  " + sparkline(**curve, width=CURVE, top=top)
        shown = _mean(score, 5)
        runs = 0 if row is None else row["runs"]
        arm = short[printable(name)]
        rank = f"{ranks.get(name, '-'):>4} " if placed else ""
        line = f"{rank}{arm}{' ' * (room - cells(arm))} {runs:>5} {shown:>10}"
        if is_common:
            line += f" {_mean(placed[name]['mean'], 4) if name in placed else '-':>8}"
        lines.append((line + (f"  {known:>17}" if is_open else "") + spark).rstrip())
    lines += wrapped([ranking["words"]] if ranking["words"] else [], width)
    decided = [pair for pair in state["bounds"].get(lead, {}).get("pairs", []) if pair["decided"]]
    if decided and is_open:
        words = [f"{p['better']} before {p['b'] if p['better'] == p['a'] else p['a']}" for p in decided[:3]]
        more = f" and {len(decided) - 3} more" if len(decided) > 3 else ""
        lines.append(f"decided: {', '.join(words)}{more}")
    whole = {name: form for name, form in short.items() if form != name}
    return [*lines, *(legend_lines(whole, width) if legend else ())]


def _mean(score: float | str | None, digits: int) -> str:
    return "-" if score is None else score if isinstance(score, str) else f"{score:.{digits}f}"


def _rounded(value: float) -> str:
    # Bounds are rounded outwards by a little: -0.0000 must not appear.
    return f"{round(value, 4) + 0.0:.4f}"


def _curves(curves: State | None, state: State) -> tuple[dict[str, dict[str, Any]], float]:
    """Return the curves to draw, by arm, and their highest value."""
    end = _end(curves, state)
    found = {
        line["arm"]: {"time": line["time"], "value": line["value"], "end": end}
        for line in (curves or {}).get("mean", [])
        if line["time"]
    }
    return found, max((max(values_drawn(**one, width=CURVE)) for one in found.values()), default=1.0)


def alarm_lines(state: State) -> list[str]:
    """Return the alarms: contradictions, and arms whose candidates are all rejected."""
    found = [*state.get("alarms", []), *state.get("running_alarms", [])]
    lines = [f"ALARM {one['instance']}: {one['kind']}{_sides(one)}" for one in found[:5]]
    if len(found) > 5:
        lines.append(f"ALARM and {len(found) - 5} more")
    for one in state.get("rejected_arms", []):
        why = f": {', '.join(one['reasons'])}" if one["reasons"] else ""
        lines.append(f"REJECTED {one['arm']}: {counted(one['candidates'], 'candidate')}, none valid{why}")
    return lines


def note_lines(state: State) -> list[str]:
    """Return the lines after the alarms: beaten references, and changes of the contract after the first run."""
    beaten = [one["instance"] for one in state.get("beaten", ())]
    lines = [f"{counted(len(beaten), 'reference')} beaten: {listing(beaten, most=5)}"] if beaten else []
    notes = [note for note in state.get("notes", ()) if note.startswith((CHANGED, LATE_PLAN))]
    lines += [f"note: {note}" for note in notes[:3]]
    return lines + ([f"note: and {counted(len(notes) - 3, 'more change')}"] if len(notes) > 3 else [])


def _sides(alarm: State) -> str:
    """Return both sides of a contradiction."""
    sides = [(one["value"], one["source"]) for one in (alarm["certificate"], alarm["other"])]
    return ": " + " against ".join(f"{'infeasible' if value is None else value} ({source})" for value, source in sides)


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Wrap long lines, with continuation lines indented by two."""
    found: list[str] = []
    for line in lines:
        found += textwrap.wrap(printable(line), width, subsequent_indent="  ", break_on_hyphens=False) or [""]
    return found


def event_line(event: Mapping[str, Any]) -> str:
    """Return an event as one line."""
    return f"{event['at'][11:19]} {event['kind']} {event['run'] or ''}: {event['text']}".replace(" :", ":")


def duration(seconds: float) -> str:
    """Format a time in a convenient unit.

    >>> duration(42), duration(95), duration(8000)
    ('42 s', '2 min', '2.2 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def clipped(text: str, width: int) -> str:
    """Cut a text to a width, marking the cut.

    >>> clipped("abcdef", 4)
    'abc…'
    """
    shown = printable(text)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def _end(curves: State | None, state: State) -> float:
    if curves is not None and curves.get("relative"):
        return 1.0
    scored: Sequence[float] = (state.get("horizons") or {}).get("scored") or [1.0]
    return float(scored[-1])


LOOK_EVERY = 1.0
# For a pipe: most lines at a time, and seconds between two looks, so that a person can read along.
MOST_LINES = 5
LINES_EVERY = 2.0
LOUD = ("ALARM", "REJECTED")


class StudyCurves:
    """The curves of a study, recomputed when runs have joined, in a small share of the time."""

    def __init__(self) -> None:
        self._time = TimeShare(SHARE)
        self._runs = -1
        self._found: dict[str, Any] = {}

    def now(self, live: LiveStudy | None) -> dict[str, Any]:
        """Return the newest curves, which may be older than the runs if there was no time."""
        if live is None:
            return {}
        runs = 0 if live.table.scores is None else live.table.scores.frame.height
        if runs != self._runs and not self._time.wait():
            with self._time.spent():
                self._found, self._runs = curves_document(live.table), runs
        return self._found


class PlainLines:
    """Output for a pipe: a line of progress when it changes, and the newest events, at a readable pace."""

    def __init__(self, out: Callable[[str], None] = say_words) -> None:
        self._out = out
        self._events = 0
        self._progress: list[str] = []
        self._alarms: set[str] = set()

    def show(self, state: dict[str, Any]) -> None:
        """Print what is new."""
        for alarm in alarm_lines(state):
            # Alarms are printed at once, without a limit.
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
        # The time left changes all the time: alone it is not worth a line.
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
    once: bool = False,
    is_terminal: bool | None = None,
    wait: Callable[[float], object] = time.sleep,
) -> int:
    """Watch a study until it is finished; return 1 if there is an alarm.

    A study that does not exist yet is waited for, except with `once`.
    """
    path = Path(source)
    watched = Watched(path.absolute().name, path)
    shown = sys.stdout.isatty() if is_terminal is None else is_terminal
    try:
        if once:
            # With `once`, a missing study must also show in the exit code.
            watched.open()
        show = _on_screen if shown and not once else _in_lines
        state = show(watched, once, wait)
    finally:
        watched.close()
    return 1 if state["alarms"] or state["running_alarms"] else 0


def _in_lines(watched: Watched, once: bool, wait: Callable[[float], object]) -> dict[str, Any]:
    lines, curves, distance, state = PlainLines(), StudyCurves(), Distance(), watched.look()
    lines.show(state)
    while not once and state["phase"] != "finished":
        distance.keep(watched.pinned)
        wait(LINES_EVERY)
        state = watched.look()
        lines.show(state)
    lines.end(state, curves.now(watched.live))
    return state


def _on_screen(watched: Watched, _once: bool, wait: Callable[[float], object]) -> dict[str, Any]:
    from rich.live import Live
    from rich.text import Text

    out, curves, distance, state = console(), StudyCurves(), Distance(), watched.look()

    def drawn() -> Text:
        now = curves.now(watched.live)
        lines = screen_lines(state, now, width=min(out.width, 120), height=max(10, out.height - 1))
        text, style = Text(), ""
        for line in lines:
            # Continuation lines are indented and keep the style.
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
