"""The state of a study as lines of text that fit a terminal: progress, arms, newest events, alarms."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gapline.model.text import counted, printable
from gapline.report.writers.short_names import legend_lines, short_names
from gapline.serve.sparkline import sparkline, values_drawn
from gapline.terminal import cells

WIDTH = 80
CURVE = 14
# A narrower terminal has names in the place of curves.
_SPARKS = 72
State = Mapping[str, Any]


def screen_lines(state: State, curves: State | None = None, *, width: int = WIDTH, height: int = 24) -> list[str]:
    """Return what a screen shows, each line at most `width` letters long, at most `height` of them."""
    head = wrapped([*progress_lines(state), *alarm_lines(state)], width)
    arms = wrapped(refusal_lines(state), width) + arm_lines(state, curves, width)
    failures = [f"failed {one['arm']}/{one['instance']}/{one['seed']}: {one['status']} ({one['cause']})"
                for one in state.get("failures", [])[:3]]  # fmt: skip
    rest = max(3, height - len(head) - len(arms) - len(failures) - 2)
    # Alarms stand above, whole.
    events = [event_line(one) for one in state.get("events", []) if one["kind"] != "alarm"][:rest]
    blocks = [block for block in (head, arms + failures, events) if block]
    lines = [line for block in blocks for line in ("", *block)][1:]
    return [clipped(line, width) for line in lines[:height]]


def progress_lines(state: State) -> list[str]:
    """Say how far it is, and who runs it where nobody does."""
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
    """Say how many cells are done, running and left: these add up, and what is said of some of them is beside them."""
    among = {"done": ("failed",), "left": ("interrupted", "quarantined")}
    parts = []
    for name in ("done", "running", "unchecked", "left"):
        if progress[name] or name in among:
            some = ", ".join(f"{progress[one]} {one}" for one in among.get(name, ()) if progress[one])
            parts.append(f"{progress[name]} {name}{f' ({some})' if some else ''}")
    return ", ".join(parts)


def refusal_lines(state: State) -> list[str]:
    """Say why there is no table, where that is not simply that it is too early."""
    refused, progress = state.get("refused"), state.get("progress")
    if not refused or progress is None:
        return []
    if state.get("source") != "traces" and not progress["done"]:
        return [] if state["phase"] == "not begun" else ["no run is whole yet"]
    hint = [f"Hint: {refused['hint']}"] if refused.get("hint") else []
    return [f"no table: {refused['message']}", *hint]


def arm_lines(state: State, curves: State | None, width: int = WIDTH, *, legend: bool = False) -> list[str]:
    """Return the table of arms, best first: mean of the whole runs, where it may still end, its curve in a line.

    A long name is shortened in its middle, and written out below where a `legend` is asked for.
    """
    kernels = state.get("kernels") or list(state.get("bounds", {}))
    if not kernels or state["phase"] == "not begun":
        return []
    lead = kernels[0]
    bounds = {one["arm"]: one for one in state["bounds"].get(lead, {}).get("arms", [])}
    rows = {row["arm"]: row for row in state["arms"]}
    names = sorted({*rows, *bounds}, key=lambda name: (*_score_key(rows.get(name), lead), name))
    if not names:
        return []
    is_open = any(one["open"] for one in bounds.values())
    drawn, top = _curves(curves, state) if width >= _SPARKS else ({}, 1.0)
    # Numbers take 18 columns, bounds 19 more, and a curve 16.
    taken = 18 + (19 if is_open else 0) + (16 if drawn else 0)
    room = max(6, min(max(cells(printable(name)) for name in names), width - taken))
    short = short_names(map(printable, names), room)
    between = f"  {'still between':>17}" if is_open else ""
    lines = [f"{'arm':<{room}} {'runs':>5} {lead[:10]:>10}{between}{'  curve' if drawn else ''}"]
    for name in names:
        row, ends, curve = rows.get(name), bounds.get(name), drawn.get(name)
        score = None if row is None else row["scores"].get(lead)
        known = "" if ends is None or ends["low"] is None else f"{_rounded(ends['low'])} {_rounded(ends['high'])}"
        spark = "" if curve is None else "  " + sparkline(**curve, width=CURVE, top=top)
        shown = "-" if score is None else score if isinstance(score, str) else f"{score:.5f}"
        runs = 0 if row is None else row["runs"]
        arm = short[printable(name)]
        line = f"{arm}{' ' * (room - cells(arm))} {runs:>5} {shown:>10}"
        lines.append((line + (f"  {known:>17}" if is_open else "") + spark).rstrip())
    decided = [pair for pair in state["bounds"].get(lead, {}).get("pairs", []) if pair["decided"]]
    if decided and is_open:
        words = [f"{p['better']} before {p['b'] if p['better'] == p['a'] else p['a']}" for p in decided[:3]]
        more = f" and {len(decided) - 3} more" if len(decided) > 3 else ""
        lines.append(f"decided: {', '.join(words)}{more}")
    whole = {name: form for name, form in short.items() if form != name}
    return [*lines, *(legend_lines(whole, width) if legend else ())]


def _score_key(row: State | None, kernel: str) -> tuple[bool, float]:
    score = None if row is None else row["scores"].get(kernel)
    return (False, score) if isinstance(score, int | float) else (True, 0.0)


def _rounded(value: float) -> str:
    # Bounds are rounded outwards by a little: less than nothing is not meant.
    return f"{round(value, 4) + 0.0:.4f}"


def _curves(curves: State | None, state: State) -> tuple[dict[str, dict[str, Any]], float]:
    """Return the curves to be drawn, by arm, and the top of them all."""
    end = _end(curves, state)
    found = {
        line["arm"]: {"time": line["time"], "value": line["value"], "end": end}
        for line in (curves or {}).get("mean", [])
        if line["time"]
    }
    return found, max((max(values_drawn(**one, width=CURVE)) for one in found.values()), default=1.0)


def alarm_lines(state: State) -> list[str]:
    """Return what must not be missed, loudly: contradictions, and arms whose candidates are all rejected."""
    found = [*state.get("alarms", []), *state.get("running_alarms", [])]
    lines = [f"ALARM {one['instance']}: {one['kind']}{_sides(one)}" for one in found[:5]]
    if len(found) > 5:
        lines.append(f"ALARM and {len(found) - 5} more")
    for one in state.get("rejected_arms", []):
        why = f": {', '.join(one['reasons'])}" if one["reasons"] else ""
        lines.append(f"REJECTED {one['arm']}: {counted(one['candidates'], 'candidate')}, none valid{why}")
    return lines


def _sides(alarm: State) -> str:
    """Return both sides of a contradiction."""
    sides = [(one["value"], one["source"]) for one in (alarm["certificate"], alarm["other"])]
    return ": " + " against ".join(f"{'infeasible' if value is None else value} ({source})" for value, source in sides)


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Break lines that are too long, what follows set in by two."""
    found: list[str] = []
    for line in lines:
        found += textwrap.wrap(printable(line), width, subsequent_indent="  ", break_on_hyphens=False) or [""]
    return found


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
