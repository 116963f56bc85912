"""The state of a study as lines of text that fit a terminal: progress, arms, newest events, alarms."""

from collections.abc import Mapping, Sequence
from typing import Any

from gapline.model.text import printable
from gapline.serve.sparkline import sparkline

WIDTH = 80
State = Mapping[str, Any]


def screen_lines(state: State, curves: State | None = None, *, width: int = WIDTH, height: int = 24) -> list[str]:
    """Return what a screen shows, each line at most `width` letters long, at most `height` of them."""
    loud = alarm_lines(state)
    head = [*progress_lines(state), *loud]
    arms = arm_lines(state, curves, width)
    failures = [f"failed {one['arm']}/{one['instance']}/{one['seed']}: {one['status']} ({one['cause']})"
                for one in state.get("failures", [])[:3]]  # fmt: skip
    rest = max(3, height - len(head) - len(arms) - len(failures) - 2)
    events = [event_line(one) for one in state.get("events", [])[:rest]]
    lines = [*head, "", *arms, *failures, *([""] if events else []), *events]
    return [clipped(line, width) for line in lines[:height]]


def progress_lines(state: State) -> list[str]:
    """Say how far it is, in one or two lines."""
    progress = state.get("progress")
    name = state["study"]["name"]
    if progress is None:
        refused = state.get("refused") or {}
        return [f"{name}: {state['phase']}", str(refused.get("message", ""))]
    names = ("done", "running", "interrupted", "quarantined", "unchecked", "failed", "left")
    counts = ", ".join(f"{progress[one]} {one}" for one in names if progress[one] or one in ("done", "left"))
    left = progress.get("time_left")
    about = "" if left is None else f"; about {duration(left)} left"
    lines = [f"{name}: {state['phase']}; {counts} of {progress['planned']}{about}"]
    runner = state.get("runner") or {}
    if runner.get("resume"):
        lines += [runner["words"], f"go on with: {runner['resume']}"]
    return lines


def arm_lines(state: State, curves: State | None, width: int = WIDTH) -> list[str]:
    """Return the table of arms: mean of the whole runs, where it may still end, and a sparkline of its curve."""
    kernels = state.get("kernels") or list(state.get("bounds", {}))
    refused = state.get("refused")
    lines = [] if not refused else [f"no table: {refused['message']}"]
    if not kernels:
        return lines
    lead = kernels[0]
    bounds = {one["arm"]: one for one in state["bounds"].get(lead, {}).get("arms", [])}
    rows = {row["arm"]: row for row in state["arms"]}
    drawn = {line["arm"]: line for line in (curves or {}).get("mean", [])}
    names = list(dict.fromkeys([*rows, *bounds]))
    if not names:
        return lines
    room = max(6, min(max(len(printable(name)) for name in names), width - 56))
    lines.append(f"{'arm':<{room}} {'runs':>5} {lead[:10]:>10}  {'still between':>17}  curve")
    for name in names:
        row, ends, curve = rows.get(name), bounds.get(name), drawn.get(name)
        score = None if row is None else row["scores"].get(lead)
        between = "" if ends is None or ends["low"] is None else f"{ends['low']:.4f} {ends['high']:.4f}"
        spark = "" if curve is None else sparkline(curve["time"], curve["value"], end=_end(curves, state), width=14)
        shown = "-" if score is None else score if isinstance(score, str) else f"{score:.5f}"
        runs = 0 if row is None else row["runs"]
        lines.append(f"{clipped(printable(name), room):<{room}} {runs:>5} {shown:>10}  {between:>17}  {spark}")
    decided = [pair for pair in state["bounds"].get(lead, {}).get("pairs", []) if pair["decided"]]
    if decided:
        words = [f"{p['better']} before {p['b'] if p['better'] == p['a'] else p['a']}" for p in decided[:3]]
        more = f" and {len(decided) - 3} more" if len(decided) > 3 else ""
        lines.append(f"decided: {', '.join(words)}{more}")
    return lines


def alarm_lines(state: State) -> list[str]:
    """Return the alarms, loudly."""
    found = [*state.get("alarms", []), *state.get("running_alarms", [])]
    return [f"ALARM {one['instance']}: {one['kind']}" for one in found[:5]] + (
        [f"ALARM and {len(found) - 5} more"] if len(found) > 5 else []
    )


def event_line(event: Mapping[str, Any]) -> str:
    """Return an event as one line."""
    return f"{event['at'][11:19]} {event['kind']} {event['run'] or ''}: {event['text']}".replace(" :", ":")


def duration(seconds: float) -> str:
    """Say a time in the units that one thinks in.

    >>> duration(42), duration(95), duration(8000)
    ('42 s', '2 min', '2.2 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def clipped(text: str, width: int) -> str:
    """Cut a text to a width, with a sign that it was.

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
