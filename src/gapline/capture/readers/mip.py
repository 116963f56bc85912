"""Logs of MIP solvers: miplog says how a solve ended and with which bounds, the progress lines are read here."""

import math
import re
from collections.abc import Mapping
from typing import Any

from gapline.capture.loglines import Event, EventList, log_lines, shown
from gapline.capture.reader import Found, FoundRun, LogFile, Reader
from gapline.capture.readers.mip_rows import Number, Row, progress_rows, read_printed, read_stamp, stamp_rows
from gapline.capture.readers.mip_solves import BANNER, Solve, split_solves
from gapline.errors import TraceError, import_extra
from gapline.model.tables import RunStatus, VerdictCode

UNTIMED_NOTE = "incumbents without a stamp of their own stand at the latest moment that their log allows"
BETTER_THAN_FINAL = "better than the final objective"
_FINISHED = ("optimal", "infeasible", "unbounded", "infeasible_or_unbounded", "other_limit")
_STATUS = dict.fromkeys(_FINISHED, RunStatus.FINISHED) | {
    "time_limit": RunStatus.TIME_LIMIT,
    "memory_limit": RunStatus.MEMORY_LIMIT,
    "user_interrupt": RunStatus.KILLED,
}
# Endings that miplog 0.2 counts among other limits or leaves unread.
_STOPPED = re.compile(r"interrupt|termination signal", re.IGNORECASE)
_STARVED = re.compile(r"memory limit|out of memory", re.IGNORECASE)
_CLOSING_LINES = 40
# Closing lines that miplog 0.2 leaves unread.
_CLOSING_TIME = re.compile(
    r"(?: \*\*\* Search \w{1,20} \*\*\*\s{1,20}Time:\s{1,20}|Optimizer terminated\. Time: )([0-9.]{1,20})"
)
_CLOSING_VALUE = re.compile(
    r"(?:Best integer solution found is|Objective of best integer solution :)\s{1,20}(\S{1,60})"
)
_CLOSING_BOUND = re.compile(r"(?:Best bound is|Best objective bound\s{1,40}:)\s{1,20}(\S{1,60})")


def _looks_like(_path: str, head: bytes) -> bool:
    return BANNER.search(head) is not None


def _read(log: LogFile) -> Found:
    found = Found()
    solves = split_solves(list(log_lines(log.data)))
    if not any(solve.solver for solve in solves):
        first = next((line for solve in solves for _, line in solve.lines if line.strip()), "")
        raise TraceError(
            f"{log.path}: expected the log of a MIP solver, got {shown(first)}",
            hint="read are SCIP, Gurobi, HiGHS, CPLEX, Xpress, COPT, CBC, Mosek; keep the banner at the top of the log",
        )
    found.runs = [_read_solve(solve, found, log, is_last=solve is solves[-1]) for solve in solves]
    return found.numbered("solve")


def _read_solve(solve: Solve, found: Found, log: LogFile, *, is_last: bool) -> FoundRun:
    told = _ask_miplog(solve)
    final, bound, end, ended = _closing(solve, told)
    rows = list(progress_rows(solve.solver or "", solve.lines))
    # A table of a version that is not known here may be known to miplog.
    if not any(row.primal or row.dual for row in rows):
        rows += _rows_of_miplog(told, solve.lines[0][0])
    stamped, resolution = stamp_rows(rows, end=end)
    sense, contradicted = _sense(solve, rows, final, bound)
    if contradicted:
        found.problems.append(
            f"{log.path}:{solve.lines[0][0]}: expected bounds on one side of the incumbents, got {contradicted} rows "
            f"on the other (read as {sense})"
        )
    events = EventList(found.problems)
    best, untimed = _add_rows(events, stamped, sense, log.path)
    if final is not None:
        _settle_final(events, best, final, end=end, sense=sense, where=f"{log.path}:{solve.lines[-1][0]}")
    if bound is not None and end is not None:
        events.add_bound(_not_before(end, events), bound)
    if untimed:
        # So that no estimate passes for a stamp that goes backwards; NaN, which has no place in an order, stays last.
        events.events.sort(key=lambda event: (math.isnan(event[0]), event[0]))
        if UNTIMED_NOTE not in found.notes:
            found.notes.append(UNTIMED_NOTE)
    version, problem = told.get("version"), told.get("problem")
    known = isinstance(version, str) and version != _NO_VERSION
    return FoundRun(
        **events.columns(),
        arm=f"{solve.solver}-{version}" if known else solve.solver,
        instance=solve.instance or (problem if isinstance(problem, str) and problem else None),
        seed=solve.seed,
        horizon=solve.horizon,
        status=_status(solve, told, ended=ended or solve.has_ended, cut=log.cut and is_last),
        clock="cpu" if solve.is_cpu else "wall",
        resolution=resolution,
        sense=sense,
        carried={"untimed": len(untimed), "untimed_until": max(untimed, default=None)},
    )


_NO_VERSION = "0.0.0"


def _ask_miplog(solve: Solve) -> Mapping[str, Any]:
    """Return what miplog says of a solve; nothing where the text is too short for it."""
    miplog = import_extra("miplog", "mip")
    text = "\n".join(line for _, line in solve.lines) + "\n"
    if solve.banner is not None and solve.banner not in text:
        text = f"{solve.banner}\n{text}"
    elif solve.banner is None and solve.solver == "scip":
        # miplog knows a SCIP log that was cut off by its banner alone, which a library call never prints.
        text = f"SCIP version {_NO_VERSION} [precision: 8 byte]\n{text}"
    try:
        # miplog 0.2 cuts lines by bytes and panics inside a character that has several.
        told = miplog.parse_text(text.encode("ascii", "replace").decode("ascii"))
    except ValueError:
        return {}
    except BaseException as error:
        # A panic inside the extension is a BaseException of its own; it says that miplog cannot read this text.
        if type(error).__name__ != "PanicException":
            raise
        return {}
    return told if isinstance(told, dict) and told.get("solver") == solve.solver else {}


def _closing(solve: Solve, told: Mapping[str, Any]) -> tuple[Number | None, float | None, float | None, bool]:
    """Return the final objective, the final bound, the moment of the end, and whether the log says that it ended."""
    bounds, timing, termination = (told.get(name) or {} for name in ("bounds", "timing", "termination"))
    final, bound = _finite(bounds.get("primal")), _finite(bounds.get("dual"))
    end = _finite(timing.get("cpu_seconds" if solve.is_cpu else "wall_seconds"))
    ended = termination.get("status", "unknown") != "unknown" or termination.get("raw_reason") is not None
    printed: Number | None = None if final is None else Number(final, 0.0)
    for _, line in solve.lines if solve.solver in ("xpress", "mosek") else ():
        if len(line) > 200:
            continue
        if closing := _CLOSING_TIME.match(line):
            ended = True
            stamp = read_stamp(closing[1])
            end = stamp.value if stamp and end is None else end
        elif (value := _CLOSING_VALUE.match(line)) and printed is None:
            printed = read_printed(value[1])
        elif (value := _CLOSING_BOUND.match(line)) and bound is None:
            limit = read_printed(value[1])
            bound = None if limit is None else limit.value
    if printed is not None and abs(printed.value) >= 1e20:
        # How solvers write "no incumbent".
        printed = None
    return printed, bound if bound is not None and abs(bound) < 1e20 else None, end, ended


def _finite(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _rows_of_miplog(told: Mapping[str, Any], line: int) -> list[Row]:
    """Return miplog's own rows, for a table that is not read here."""
    progress = told.get("progress") or {}
    columns = [progress.get(name) or [] for name in ("time_seconds", "primal", "dual", "event")]
    rows = []
    for *numbers, event in zip(*columns, strict=False):
        stamp, primal, dual = (None if (n := _finite(number)) is None else Number(n, 0.0) for number in numbers)
        if stamp is not None:
            rows.append(Row(line, stamp, primal, dual, found=event is not None))
    return rows


def _sense(solve: Solve, rows: list[Row], final: Number | None, bound: float | None) -> tuple[str | None, int]:
    """Return the sense and how many rows contradict it: bounds of a minimisation lie below its incumbents."""
    up = down = 0
    pairs = [(row.primal, row.dual) for row in rows if row.primal and row.dual]
    if final is not None and bound is not None:
        pairs.append((final, Number(bound, 0.0)))
    for primal, dual in pairs:
        # Rounding in print must not pass for a bound on the wrong side.
        margin = primal.unit + dual.unit + 1e-6 * max(abs(primal.value), abs(dual.value))
        up += dual.value > primal.value + margin
        down += dual.value < primal.value - margin
    if solve.sense is not None:
        return solve.sense, down if solve.sense == "max" else up
    if up != down:
        return ("max", down) if up > down else ("min", up)
    values = [row.primal.value for row in rows if row.primal and row.found]
    if len(values) < 2 or values[0] == values[-1]:
        return None, min(up, down)
    return "max" if values[-1] > values[0] else "min", min(up, down)


def _add_rows(
    events: EventList, stamped: list[tuple[float, Row]], sense: str | None, path: str
) -> tuple[tuple[int, Number] | None, list[float]]:
    """Add incumbents and bounds; return index and print of the best incumbent, and the moments that are estimates."""
    best: tuple[int, Number] | None = None
    untimed: list[float] = []
    sign = -1.0 if sense == "max" else 1.0
    for time, row in stamped:
        primal, dual = row.primal, row.dual
        # With fewer digits it is no candidate: 2.1000e+09 after 2.100015e+09 would be a solution that nobody found.
        repeats = primal is not None and best is not None and primal.may_be(best[1].value)
        improves = primal is not None and (best is None or sign * primal.value < sign * best[1].value) and not repeats
        # CPLEX announces some incumbents with a stamp and then shows them again in a row without one.
        if improves or (row.found and not (repeats and row.time is None)):
            moment = None if math.isnan(time) else time
            value, bound = (None if number is None else number.value for number in (primal, dual))
            events.add(moment, value, where=f"{path}:{row.line}", bound=bound)
            if row.time is None and moment is not None:
                untimed.append(moment)
            if primal is not None and moment is not None and (improves or best is None):
                best = (len(events) - 1, primal)
        elif dual is not None and math.isfinite(time):
            events.add_bound(time, dual.value)
    return best, untimed


def _settle_final(
    events: EventList,
    best: tuple[int, Number] | None,
    final: Number,
    *,
    end: float | None,
    sense: str | None,
    where: str,
) -> None:
    """Bring the trace and the stated final objective, which has all digits, together.

    The best incumbent takes its digits where its print may stand for it; one that no row shows is a candidate at the
    end; a row that is better was misread or misprinted, and is rejected.
    """
    sign = -1.0 if sense == "max" else 1.0
    for index, event in enumerate(map(Event._make, events.events)):
        # Rows have five to ten digits: what is better by less than the fourth may be the same solution.
        margin = max(1e-4 * abs(event.objective), 1e-9)
        if event.verdict == VerdictCode.VALID and sign * event.objective < sign * final.value - margin:
            events.events[index] = event._replace(verdict=VerdictCode.INVALID, reason=BETTER_THAN_FINAL)
            events.problems.append(
                f"{where}: expected no incumbent better than the final {final.value:.15g}, got {event.objective:.15g}"
            )
    if best is not None and (best[1].may_be(final.value) or final.may_be(best[1].value)):
        if best[1].value != final.value and final.unit < best[1].unit:
            events.events[best[0]] = Event(*events.events[best[0]])._replace(objective=final.value)
        return
    improves = best is None or sign * final.value < sign * best[1].value
    if improves and end is not None:
        events.add(_not_before(end, events), final.value, where=where)


def _not_before(end: float, events: EventList) -> float:
    """Return the stated end, or the last stamp where rounding made that one later."""
    return max([end, *(time for time, *_ in events.events if math.isfinite(time))])


def _status(solve: Solve, told: Mapping[str, Any], *, ended: bool, cut: bool) -> str:
    if cut or not ended:
        return RunStatus.KILLED
    termination = told.get("termination") or {}
    status = _STATUS.get(str(termination.get("status")), RunStatus.UNKNOWN)
    reasons = [str(termination.get("raw_reason") or "")]
    if status is RunStatus.UNKNOWN:
        reasons += [line for _, line in solve.lines[-_CLOSING_LINES:] if len(line) < 100]
    if any(_STOPPED.search(reason) for reason in reasons):
        return RunStatus.KILLED
    return RunStatus.MEMORY_LIMIT if any(_STARVED.search(reason) for reason in reasons) else status


READER = Reader(
    "mip", "logs of SCIP, Gurobi, HiGHS, CPLEX, Xpress, COPT, CBC, Mosek (needs gapline[mip])", _looks_like, _read
)
