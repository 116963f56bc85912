"""Solvers that print `o VALUE` (MaxSAT, pseudo-Boolean, XCSP); stamps from runsolver, the line or the last comment."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import LineFilter, parse_number, shown
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

# runsolver --timestamp puts `CPU/wall<TAB>` before each line.
_STAMPED = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)/([0-9]+(?:\.[0-9]*)?)\s(.*)", re.ASCII)
# Choco and ACE print seconds after the value.
_VALUE = re.compile(r"o\s+(\S+)(?:\s+(\S+).*)?\s*$")
_VALUE_BYTES = re.compile(
    rb"^(?:[ \t]*[0-9.]+/[0-9.]+[ \t])?o[ \t]+[+-]?[0-9][0-9.eE+-]*(?:[ \t]+[0-9.]+)?[ \t\r]*$", re.M
)
_STATUS_BYTES = re.compile(
    rb"^(?:[ \t]*[0-9.]+/[0-9.]+[ \t])?s (?:OPTIMUM FOUND|SATISFIABLE|UNSATISFIABLE|UNKNOWN|UNSUPPORTED)", re.M
)
_TIME_WORD = re.compile(r"\b(?:time|elapsed|after|seconds?)\b", re.IGNORECASE | re.ASCII)
# Comments without one of these words are skipped unread: a verbose solver prints a hundred of them per value.
_FILTER = LineFilter(mark=b"c", words=(b"time", b"elapsed", b"after", b"second"))
_LAST_NUMBER = re.compile(
    r"(?<![0-9.,_])([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(?:s|sec|secs|seconds)?[.\])]*\s*$",
    re.IGNORECASE | re.ASCII,
)
_COMMENT_CLOCK = re.compile(r"\b(?:(cpu)|wall|real|elapsed)\b", re.IGNORECASE)
RISING = "`o` lines state no sense: read as max, because the values rise; --sense says otherwise"


def _looks_like(_path: str, head: bytes) -> bool:
    # Substrings first: every reader tests every file of a folder, and a regex with `^` visits every line.
    if not (head.startswith((b"o ", b"s ")) or any(mark in head for mark in (b"\no ", b"\ns ", b"\to ", b"\ts "))):
        return False
    return _STATUS_BYTES.search(head) is not None or _VALUE_BYTES.search(head) is not None


@dataclass(slots=True)
class _Solve:
    """The current solve; it counts as killed until a line `s …` states how it ended."""

    events: EventList
    status: str = "killed"
    word: str = ""
    closed: bool = False
    clocks: set[str] = field(default_factory=set)
    decimals: int = 0
    latest: float = 0.0

    def begins_another(self, word: str, stamp: str | None) -> bool:
        """Whether a value, or the status `word`, belongs to the next solve; `stamp` is that of its own line."""
        time = parse_number(stamp or "")
        if self.closed or not word:
            # A solve that was killed has no status, but the clock of the next one restarts at 0.
            return self.closed or (time is not None and time < self.latest)
        # Sugar prints `s SATISFIABLE`, its values, and `s OPTIMUM FOUND` at the end.
        goes_on = self.word == "SATISFIABLE" and word == "OPTIMUM FOUND" and len(self.events) > 0
        return bool(self.word) and not goes_on

    def end(self, word: str) -> None:
        """Record a status; values may follow it (RC2, EvalMaxSAT) unless some came before or there is none."""
        self.word, self.closed = word, len(self.events) > 0 or word in ("UNSATISFIABLE", "UNSUPPORTED")
        self.status = "unknown" if word in ("UNKNOWN", "UNSUPPORTED") else "finished"


def _read(log: LogFile) -> Found:
    found = Found()
    solves = [_Solve(EventList(found.problems))]
    stamp, comment_clock, seen = None, "", False
    lines = log.lines(_FILTER)
    for number, text in lines:
        where = f"{log.path}:{number}"
        outer = _STAMPED.match(text)
        body = outer[3] if outer else text
        value, ends = _VALUE.match(body), body.startswith("s ")
        seen = seen or value is not None or (ends and number != lines.torn_at)
        word = body[2:].strip() if ends else ""
        own = outer[2] if outer else value[2] if value else None
        if (value or ends) and number != lines.torn_at and solves[-1].begins_another(word, own):
            solves.append(_Solve(EventList(found.problems)))
        solve = solves[-1]
        if value and number == lines.torn_at:
            found.refuse_torn(where, text)
        elif value:
            if own is not None:
                solve.clocks.add("wall")
                solve.latest = parse_number(own) or 0.0
                stamp = own
            elif stamp is not None:
                solve.clocks.add(comment_clock)
            if stamp is not None:
                solve.decimals = max(solve.decimals, len(stamp.partition(".")[2]))
            solve.events.add(stamp, value[1], where=where)
            stamp = None
        elif body.startswith("c") and (seconds := _comment_time(body)):
            clocks = {"cpu" if match[1] else "wall" for match in _COMMENT_CLOCK.finditer(body)}
            stamp, comment_clock = seconds, "cpu" if "cpu" in clocks else "".join(clocks)
        elif ends and number != lines.torn_at:
            solve.end(word)
    if not seen:
        raise TraceError(f"{log.path}: expected lines such as `o 6288` or `s UNKNOWN`, got {shown(log.head[:60])}")
    found.runs = [_finish(found, solve) for solve in solves]
    return found.numbered()


def _comment_time(text: str) -> str | None:
    """Return the number at the end of a comment that mentions time."""
    match = _LAST_NUMBER.search(text[-60:])
    return match[1] if match and _TIME_WORD.search(text) else None


def _sense(found: Found, values: Iterable[float]) -> str | None:
    """Return the direction of the values: each `o` line is better than the one before."""
    steps = (after - before for before, after in pairwise(values) if after != before)
    first = next(steps, None)
    if first is None:
        return None
    lowest = highest = first
    for step in steps:
        lowest, highest = min(lowest, step), max(highest, step)
    if lowest < 0 < highest:
        return None
    if first > 0 and RISING not in found.notes:
        found.notes.append(RISING)
    return "max" if first > 0 else "min"


def _finish(found: Found, solve: _Solve) -> FoundRun:
    return FoundRun(
        **solve.events.columns(),
        status=solve.status,
        clock=" and ".join(sorted(solve.clocks - {""})),
        # Stamps with more digits than milliseconds are as exact as any clock.
        resolution=10.0**-solve.decimals if solve.clocks and solve.decimals <= 3 else None,
        sense=_sense(found, solve.events.values("objective")),
        guessed=True,
    )


READER = Reader("olines", "`o VALUE` lines of MaxSAT, pseudo-Boolean and XCSP solvers", _looks_like, _read)
