"""The search log of OR-Tools' CP-SAT (`log_search_progress: true`), one solve or several."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from gapline.contract.tables import Proof, RunStatus
from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import parse_number
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

_START = "Starting CP-SAT solver"
_SUMMARY = "CpSolverResponse summary:"
_VERSION = re.compile(r"Starting CP-SAT solver v(\S{1,40})")
_MODEL = re.compile(r"Initial (optimization|satisfaction) model '([^']{0,200})'")
_LIMIT = re.compile(r"\bmax_time_in_seconds: (\S{1,40})")
_SEED = re.compile(r"\brandom_seed: ([0-9]{1,18})\b")
_EVENT = re.compile(r"#([0-9]{1,18}|Bound|Done)\s+([0-9]{1,15}(?:\.[0-9]{1,9})?)(ms|s|m)\s+(.*)")
_BEST = re.compile(r"best:(\S{1,60})")
_NEXT = re.compile(r"next:\[([^,\]]{0,60})(?:,([^\]]{0,60}))?\]")
_SKIPPED = re.compile(r"\[skipped_logs=([0-9]{1,12})\]")
_UNITS = {"s": 1.0, "m": 60.0, "ms": 0.001}
_STATUS = dict.fromkeys(("OPTIMAL", "INFEASIBLE"), RunStatus.FINISHED) | {"MODEL_INVALID": RunStatus.CRASHED}


class _Progress(NamedTuple):
    """A line `#n` or `#Bound`; its range can be interpreted only once the sense is known."""

    where: str
    is_bound: bool
    time: float
    best: str | None
    low: float | None
    high: float | None


@dataclass(slots=True)
class _CpSatSolve:
    version: str | None = None
    instance: str | None = None
    has_objective: bool = True
    horizon: float | None = None
    seed: int | None = None
    resolution: float = 0.0
    latest: float = 0.0
    up: int = 0
    down: int = 0
    progress: list[_Progress] = field(default_factory=list)
    bests: list[float] = field(default_factory=list)
    in_summary: bool = False
    stated: dict[str, str] = field(default_factory=dict)
    skipped: int = 0


def _looks_like(_path: str, head: bytes) -> bool:
    if b"Starting CP-SAT solver v" in head:
        return True
    return b" best:" in head and b" next:[" in head and re.search(rb"^#(?:Bound|[0-9]{1,9}) ", head, re.M) is not None


def _read(log: LogFile) -> Found:
    """Read every solve of a CP-SAT log.

    A line `#n TIME best:Z next:[LO,HI]` is a candidate with its bound, the far end of the range; `#Bound` is a bound
    alone. The summary's objective is one more candidate, at the stated wall time, if it is better than the last.
    """
    found = Found()
    solves: list[_CpSatSolve] = []
    lines = log.lines()
    for number, line in lines:
        if line.startswith(_START):
            solves.append(_CpSatSolve())
        if not solves:
            if not _EVENT.match(line):
                continue
            solves.append(_CpSatSolve())
        if number == lines.torn_at and _is_cut(solves[-1], line):
            # `best:21` cut to `best:2` is another value, and a value without its range looks like a proven one.
            found.refuse_torn(f"{log.path}:{number}", line)
            break
        _read_line(solves[-1], line, f"{log.path}:{number}")
    if not solves:
        raise TraceError(
            f"{log.path}: expected a CP-SAT search log, got no 'Starting CP-SAT solver' and no '#1 … best:' line",
            hint="set log_search_progress to true and keep the whole output",
        )
    found.runs = [_finish(solve, found, log, is_last=solve is solves[-1]) for solve in solves]
    if skipped := sum(solve.skipped for solve in solves):
        found.notes.append(f"CP-SAT left {skipped:,} lines out of its own log (skipped_logs)")
    return found.numbered("solve")


def _is_cut(solve: _CpSatSolve, line: str) -> bool:
    """Whether a last line without a line end may lack a part of a number."""
    return (line.startswith("#") and not line.startswith("#Done")) or (solve.in_summary and not line[-1:].isalpha())


def _read_line(solve: _CpSatSolve, line: str, where: str) -> None:
    if line.startswith("#"):
        if event := _EVENT.match(line):
            _read_event(solve, *event.groups(), where=where)
        if skipped := _SKIPPED.search(line):
            solve.skipped += int(skipped[1])
    elif line.startswith(_START):
        version = _VERSION.match(line)
        solve.version = version[1] if version else None
    elif line.startswith("Parameters:"):
        limit = _LIMIT.search(line)
        seconds = parse_number(limit[1]) if limit else None
        solve.horizon = seconds if seconds is not None and seconds > 0 else None
        seed = _SEED.search(line)
        solve.seed = int(seed[1]) if seed else None
    elif model := _MODEL.match(line):
        solve.instance = model[2] or None
        solve.has_objective = model[1] == "optimization"
    elif line.startswith(_SUMMARY):
        solve.in_summary = True
    elif solve.in_summary and ": " in line:
        name, _, value = line.partition(": ")
        # The first occurrence counts: output of the program after the summary may look like more of it.
        solve.stated.setdefault(name[:40], value.strip()[:60])


def _read_event(solve: _CpSatSolve, kind: str, digits: str, unit: str, rest: str, *, where: str) -> None:
    time = float(digits) * _UNITS[unit]
    solve.resolution = max(solve.resolution, _UNITS[unit] * 10.0 ** -len(digits.partition(".")[2]))
    solve.latest = max(solve.latest, time)
    if kind == "Done":
        return
    best = _BEST.search(rest)
    reach = _NEXT.search(rest)
    low, high = (parse_number(reach[1] or ""), parse_number(reach[2] or "")) if reach else (None, None)
    value = parse_number(best[1]) if best else None
    if value is not None:
        solve.bests.append(value)
        # The next solution can only be better: above the best when maximising, below it when minimising.
        solve.up += low is not None and low > value
        solve.down += high is not None and high < value
    elif best and best[1] in ("inf", "-inf"):
        # Before the first solution, the best is the worst possible value.
        solve.up += best[1] == "-inf"
        solve.down += best[1] == "inf"
    solve.progress.append(_Progress(where, kind == "Bound", time, best[1] if best else None, low, high))


def _finish(solve: _CpSatSolve, found: Found, log: LogFile, *, is_last: bool) -> FoundRun:
    sense = _sense(solve)
    events = EventList(found.problems)
    for line in solve.progress:
        bound = line.high if sense == "max" else line.low
        if not line.is_bound:
            if bound is None and line.low is None and line.high is None and line.best is not None:
                # An empty range: nothing better exists, so the incumbent is its own bound.
                bound = parse_number(line.best)
            events.add(line.time, line.best, where=line.where, bound=bound)
        elif bound is not None:
            events.add_bound(line.time, bound)
    if not solve.has_objective and len(events):
        found.notes.append(f"{log.path}: a satisfaction model has no objective; its solutions are counted as rejected")
    last, end, bound = (parse_number(solve.stated.get(name, "")) for name in ("objective", "walltime", "best_bound"))
    if end is not None:
        # Found between the last progress line and the end: use the end, its latest possible time.
        moment = max(end, solve.latest)
        best = (max if sense == "max" else min)(solve.bests, default=None)
        if last is not None and (best is None or (last > best if sense == "max" else last < best)):
            events.add(moment, solve.stated["objective"], where=f"{log.path}: summary")
        if bound is not None:
            events.add_bound(moment, bound)
    status = _status(solve, end, cut=log.cut and is_last)
    said = solve.stated.get("status", "").lower()
    # A satisfaction model has no optimum to prove.
    proven = said in list(Proof) and status is RunStatus.FINISHED and (solve.has_objective or said != Proof.OPTIMAL)
    return FoundRun(
        **events.columns(),
        clock="wall",
        arm=None if solve.version is None else f"cpsat-{solve.version}",
        instance=solve.instance,
        seed=solve.seed,
        horizon=solve.horizon,
        status=status,
        resolution=solve.resolution or 0.01,
        sense=sense,
        carried={"solver": "cpsat", "solver_version": solve.version} | ({"claim": said} if proven else {}),
    )


def _sense(solve: _CpSatSolve) -> str | None:
    if solve.up != solve.down:
        return "max" if solve.up > solve.down else "min"
    if len(solve.bests) > 1 and solve.bests[0] != solve.bests[-1]:
        return "max" if solve.bests[-1] > solve.bests[0] else "min"
    objective, bound = (parse_number(solve.stated.get(name, "")) for name in ("objective", "best_bound"))
    if objective is None or bound is None or objective == bound:
        return None
    return "max" if bound > objective else "min"


def _status(solve: _CpSatSolve, end: float | None, *, cut: bool) -> str:
    stated = solve.stated.get("status")
    if stated is None or cut:
        return RunStatus.KILLED
    if stated in _STATUS:
        return _STATUS[stated]
    # CP-SAT says FEASIBLE or UNKNOWN for every other end, and stops slightly before its limit.
    stopped = solve.horizon is not None and end is not None and end >= 0.99 * solve.horizon
    return RunStatus.TIME_LIMIT if stopped else RunStatus.UNKNOWN


READER = Reader("cpsat", "OR-Tools CP-SAT search log", _looks_like, _read)
