"""Solvers that print `o VALUE` (MaxSAT, pseudo-Boolean, XCSP); stamps from runsolver or from the comment before."""

import re
from itertools import pairwise

from gapline.capture.loglines import EventList, is_torn, log_lines, shown
from gapline.capture.reader import Found, FoundRun, LogFile, Reader
from gapline.errors import TraceError

# runsolver --timestamp puts `CPU/wall<TAB>` before each line.
_STAMPED = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)/([0-9]+(?:\.[0-9]*)?)\s(.*)", re.ASCII)
_VALUE = re.compile(r"o\s+(\S+)\s*$")
_VALUE_BYTES = re.compile(rb"^(?:[ \t]*[0-9.]+/[0-9.]+[ \t])?o[ \t]+[+-]?[0-9][0-9.eE+-]*[ \t\r]*$", re.M)
_STATUS_BYTES = re.compile(
    rb"^(?:[ \t]*[0-9.]+/[0-9.]+[ \t])?s (?:OPTIMUM FOUND|SATISFIABLE|UNSATISFIABLE|UNKNOWN|UNSUPPORTED)", re.M
)
_TIME_WORD = re.compile(r"\b(?:time|elapsed|after|seconds?)\b", re.IGNORECASE)
_LAST_NUMBER = re.compile(
    r"(?<![0-9.,_])([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(?:s|sec|secs|seconds)?[.\])]*\s*$",
    re.IGNORECASE | re.ASCII,
)
_COMMENT_CPU = re.compile(r"\bcpu\b", re.IGNORECASE)
RISING = "`o` lines state no sense: read as max, because the values rise; --sense says otherwise"


def _looks_like(_path: str, head: bytes) -> bool:
    # Substrings first: a folder of other logs is looked at by every reader, and a regex with `^` visits every line.
    if not (head.startswith((b"o ", b"s ")) or any(mark in head for mark in (b"\no ", b"\ns ", b"\to ", b"\ts "))):
        return False
    return _STATUS_BYTES.search(head) is not None or _VALUE_BYTES.search(head) is not None


class _Solve:
    """The solve that is being read."""

    def __init__(self, problems: list[str]) -> None:
        self.events = EventList(problems)
        self.status = "killed"
        self.clocks: set[str] = set()
        self.decimals = 0


def _read(log: LogFile) -> Found:
    found = Found()
    solve, stamp, comment_clock, seen = _Solve(found.problems), None, "wall", False
    torn_at = log.data.count(b"\n") + 1 if is_torn(log.data) else 0
    for number, text in log_lines(log.data):
        where = f"{log.path}:{number}"
        outer = _STAMPED.match(text)
        body = outer[3] if outer else text
        if match := _VALUE.match(body):
            seen = True
            if number == torn_at:
                found.problems.append(f"{where}: expected a whole line, got {shown(text)} where the file ends")
                continue
            if solve.status != "killed":
                _close(found, solve)
                solve = _Solve(found.problems)
            if outer:
                solve.clocks.add("wall")
                stamp = outer[2]
            elif stamp is not None:
                solve.clocks.add(comment_clock)
            if stamp is not None:
                solve.decimals = max(solve.decimals, len(stamp.partition(".")[2]))
            solve.events.add(stamp, match[1], where=where)
            stamp = None
        elif body.startswith("c") and (told := _comment_time(body)):
            stamp, comment_clock = told, "cpu" if _COMMENT_CPU.search(body) else "wall"
        elif body.startswith("s ") and number != torn_at:
            seen = True
            if solve.status != "killed":
                _close(found, solve)
                solve = _Solve(found.problems)
            solve.status = "unknown" if body[2:].strip() in ("UNKNOWN", "UNSUPPORTED") else "finished"
    if not seen:
        raise TraceError(f"{log.path}: expected lines such as `o 6288` or `s UNKNOWN`, got {shown(log.data[:60])}")
    _close(found, solve)
    if len(found.runs) == 1:
        found.runs[0].where = ""
    return found


def _comment_time(text: str) -> str | None:
    """Return the number at the end of a comment that speaks of time."""
    match = _LAST_NUMBER.search(text[-60:])
    return match[1] if match and _TIME_WORD.search(text) else None


def _sense(found: Found, values: list[float]) -> str | None:
    """Return the direction that the values show: each `o` line is better than the one before."""
    steps = [after - before for before, after in pairwise(values) if after != before]
    if not steps or min(steps) < 0 < max(steps):
        return None
    if steps[0] > 0 and RISING not in found.notes:
        found.notes.append(RISING)
    return "max" if steps[0] > 0 else "min"


def _close(found: Found, solve: _Solve) -> None:
    clock = "wall" if not solve.clocks else " and ".join(sorted(solve.clocks))
    found.runs.append(
        FoundRun(
            **solve.events.columns(),
            status=solve.status,
            clock=clock,
            resolution=10.0**-solve.decimals if solve.clocks and solve.decimals <= 3 else None,
            sense=_sense(found, solve.events.objective),
            where=f"run {len(found.runs) + 1}",
        )
    )


READER = Reader(
    name="olines",
    describes="`o VALUE` lines of MaxSAT, pseudo-Boolean and XCSP solvers",
    looks_like=_looks_like,
    read=_read,
)
