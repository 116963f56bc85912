"""Logs of MIP solvers: miplog reads how a solve ended and its bounds, this module reads the progress lines."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gapline.contract.number_limits import INFINITE
from gapline.contract.tables import RunStatus, VerdictCode
from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import Lines, shown
from gapline.logs.reader import Found, FoundRun, LogFile, Reader
from gapline.logs.readers.mip_closing import Closing, ask_miplog, exact_number, read_closing, read_version
from gapline.logs.readers.mip_rows import Number, Row, Stamped, progress_rows, read_printed, stamp_rows
from gapline.logs.readers.mip_solves import BANNER, NO_SETTINGS, Solve, split_solves

UNTIMED_NOTE = (
    "incumbents without a stamp stand at the next stamp of their log; `resolution` says how far off they may be"
)
SETTINGS_NOTE = "solves of one model in one file that differ in their parameters are arms of their own, named by them"
OBJECTIVES_NOTE = "the objectives of a multi-objective model are solves of their own, on the clock of the whole call"
# The ends of a last line that cannot have been cut inside a number.
_WHOLE = re.compile(r"(?:[%)]|[0-9]s|[A-Za-z]{2}\.?)$")
# In a number without exponent and unit, the comma may separate thousands.
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]{1,20},[0-9]{1,20}(?:[eE][+-]?[0-9]{1,4}|%|s\b| sec)")
BETTER_THAN_FINAL = "better than the final objective"


def _read(log: LogFile) -> Found:
    found = Found()
    # Not `log.lines()`: the whole log is kept in memory, so the limit of `log.data` has to apply.
    lines = Lines((log.data,))
    text = list(lines)
    if lines.torn_at and not _WHOLE.search(text[-1][1].rstrip()):
        found.refuse_torn(f"{log.path}:{lines.torn_at}", text.pop()[1])
    for number, line in text:
        # Numbers such as `-1,0641e+05`, as printed in some locales, are not supported.
        if "," in line and (written := _DECIMAL_COMMA.search(line)):
            found.refuse(f"{log.path}:{number}", "numbers with a decimal point", written[0])
    solves = split_solves(text)
    if not any(solve.solver for solve in solves):
        first = next((line for solve in solves for _, line in solve.lines if line.strip()), "")
        raise TraceError(
            f"{log.path}: expected the log of a MIP solver, got {shown(first)}",
            hint="read are SCIP, Gurobi, HiGHS, CPLEX, Xpress, COPT, CBC, Mosek; keep the banner at the top of the log",
        )
    end = 0.0
    for solve in solves:
        run, closing = _read_solve(solve, found, log, cut=log.cut and solve is solves[-1], start=end)
        found.runs.append(run)
        # The clock of a multi-objective solve continues from one objective to the next.
        end = closing.end or 0.0 if solve.objective else 0.0
    _name_by_settings(found, solves)
    return found.numbered("solve")


def _read_solve(solve: Solve, found: Found, log: LogFile, *, cut: bool, start: float) -> tuple[FoundRun, Closing]:
    facts = ask_miplog(solve)
    closing = read_closing(solve, facts, cut=cut)
    rows = list(progress_rows(solve.solver or "", solve.lines))
    # miplog may know a table of a version that is unknown here.
    if not any(row.primal or row.dual for row in rows):
        rows += _rows_of_miplog(facts, solve.lines[0][0])
    if solve.solver == "cbc":
        rows = _in_model_sense(solve, rows, closing.value)
        closing = _with_search_end(closing, rows)
        rows = [row for row in rows if not row.is_final]
    final, bound, end, status, claim = closing
    # A solver that stops at its limit prints its summary a little later, but finds nothing in between.
    latest = min(end, solve.horizon) if end and solve.horizon and status is RunStatus.TIME_LIMIT else end
    stamped = stamp_rows(rows, end=latest, start=start if (solve.objective or 0) > 1 else 0.0)
    sense, contradicted, guessed = _sense(solve, rows, final, bound)
    if contradicted:
        found.problems.append(
            f"{log.path}:{solve.lines[0][0]}: expected bounds on one side of the incumbents, got {contradicted} rows "
            f"on the other (read as {sense})"
        )
    events = EventList(found.problems)
    taken = _add_rows(events, stamped, sense, log.path)
    unit = _settle_final(events, taken, final, end=latest, sense=sense, where=f"{log.path}:{solve.lines[-1][0]}")
    coarse = _settle_bound(events, taken, bound, sense)
    if bound is not None and end is not None:
        events.add_bound(_not_before(end, events), bound.value)
    notes = (UNTIMED_NOTE, bool(taken.untimed)), (OBJECTIVES_NOTE, (solve.objective or 0) > 1)
    found.notes += [note for note, is_due in notes if is_due and note not in found.notes]
    version, problem = read_version(solve, facts), facts.get("problem")
    instance = solve.instance or (problem if isinstance(problem, str) and problem else None)
    run = FoundRun(
        **events.columns(),
        arm=f"{solve.solver}-{version}" if version else solve.solver,
        instance=f"{instance}-objective-{solve.objective}" if instance and solve.objective else instance,
        seed=solve.seed,
        horizon=solve.horizon,
        status=status,
        clock="cpu" if solve.is_cpu else "wall",
        resolution=taken.slack or max((row.time.unit for row in rows if row.time), default=None),
        sense=sense,
        guessed=guessed,
        carried={
            "solver": solve.solver,
            "solver_version": version,
            "untimed": len(taken.untimed),
            "untimed_until": max(taken.untimed, default=None),
            "value_resolution": unit,
            "bound_resolution": coarse,
            "claim": None if claim is None else claim.value,
        },
    )
    return run, closing


def _in_model_sense(solve: Solve, rows: list[Row], final: Number | None) -> list[Row]:
    """Give the rows of CBC the sign of the model: some versions maximise by minimising the negative, and print that.

    The final objective and the root relaxation are printed in the sense of the model.
    """
    shown = [row.primal for row in rows if row.primal]
    relaxation = read_printed(solve.relaxation or "", 6)
    if not shown:
        return rows
    if final is not None and shown[-1].may_be(-final.value) != shown[-1].may_be(final.value):
        is_negated = shown[-1].may_be(-final.value)
    elif solve.sense == "max" or (relaxation is not None and any(_is_below(one, relaxation) for one in shown)):
        # When minimising, no incumbent is below the relaxation.
        solve.sense = "max"
        is_negated = _minimises(rows, relaxation)
    else:
        is_negated = False
    if not is_negated:
        return rows
    solve.sense = "max"
    return [row._replace(primal=_negated(row.primal), dual=_negated(row.dual)) for row in rows]


def _with_search_end(closing: Closing, rows: list[Row]) -> Closing:
    """Add the facts from the line that ends CBC's search; as a library, CBC prints its result nowhere else."""
    last = next((row for row in reversed(rows) if row.is_final), None)
    if last is None:
        return closing
    return closing._replace(
        value=closing.value or last.primal,
        bound=closing.bound or last.dual,
        end=closing.end if closing.end is not None or last.time is None else last.time.value,
    )


def _minimises(rows: list[Row], relaxation: Number | None) -> bool:
    """Whether the rows of a maximised model show its negative being minimised, judged by bounds, values or sign."""
    pairs = [(row.primal, row.dual) for row in rows if row.primal and row.dual]
    below = sum(_is_below(dual, primal) for primal, dual in pairs)
    above = sum(_is_below(primal, dual) for primal, dual in pairs)
    if below != above:
        return below > above
    shown = [row.primal for row in rows if row.primal]
    if not shown[0].may_be(shown[-1].value):
        return shown[-1].value < shown[0].value
    return relaxation is None or shown[-1].value * relaxation.value <= 0


def _is_below(one: Number, other: Number) -> bool:
    """Whether a number is below another by more than rounding and tolerance explain."""
    return one.value < other.value - (one.unit + other.unit + 1e-6 * max(abs(one.value), abs(other.value)))


def _negated(number: Number | None) -> Number | None:
    return None if number is None else number._replace(value=-number.value)


def _name_by_settings(found: Found, solves: list[Solve]) -> None:
    """Name the arms of solves that would otherwise be the same run by their differing parameters."""
    by_identity: dict[tuple[str | None, ...], list[int]] = {}
    for place, run in enumerate(found.runs):
        by_identity.setdefault((run.arm, run.instance, str(run.seed)), []).append(place)
    differing: dict[str | None, set[str]] = {}
    for (arm, *_), places in by_identity.items():
        settings = [solves[place].parameters for place in places]
        names = {name for one in settings for name in one} - NO_SETTINGS
        differing.setdefault(arm, set()).update(n for n in names if len({one.get(n) for one in settings}) > 1)
    for run, solve in zip(found.runs, solves, strict=True):
        own = [f"{name}={solve.parameters[name]}" for name in sorted(differing[run.arm] & solve.parameters.keys())]
        # A slash would separate arm and instance in the name of a run.
        run.arm = "+".join([run.arm or "", *own]).replace("/", ".") if own else run.arm
    if any(differing.values()):
        found.notes.append(SETTINGS_NOTE)


def _rows_of_miplog(facts: Mapping[str, Any], line: int) -> list[Row]:
    """Return miplog's own rows, for a table that is not supported here."""
    progress = facts.get("progress") or {}
    columns = [progress.get(name) or [] for name in ("time_seconds", "primal", "dual", "event")]
    rows = []
    for *numbers, event in zip(*columns, strict=False):
        stamp, primal, dual = map(exact_number, numbers)
        if stamp is not None:
            rows.append(Row(line, stamp, primal, dual, found=event is not None))
    return rows


def _sense(solve: Solve, rows: list[Row], final: Number | None, bound: Number | None) -> tuple[str | None, int, bool]:
    """Return the sense, the number of rows with bounds on the wrong side, and whether only values show the sense."""
    up = down = 0
    pairs = [(row.primal, row.dual) for row in rows if row.primal and row.dual]
    if final is not None and bound is not None:
        pairs.append((final, bound))
    for primal, dual in pairs:
        up += _is_below(primal, dual)
        down += _is_below(dual, primal)
    if solve.sense is not None:
        return solve.sense, down if solve.sense == "max" else up, False
    if up != down:
        return ("max", down, False) if up > down else ("min", up, False)
    values = [row.primal for row in rows if row.primal and row.found]
    if final is not None:
        values.append(final)
    if len(values) < 2 or values[0].may_be(values[-1].value):
        return None, min(up, down), True
    return "max" if values[-1].value > values[0].value else "min", min(up, down), True


@dataclass(slots=True)
class _Taken:
    """The result of adding rows: the prints of candidates and bounds, the best, the estimated moments, the slack."""

    prints: dict[int, Number] = field(default_factory=dict)
    bounds: dict[int, Number] = field(default_factory=dict)
    best: int | None = None
    untimed: list[float] = field(default_factory=list)
    slack: float = 0.0


def _add_rows(events: EventList, stamped: list[Stamped], sense: str | None, path: str) -> _Taken:
    """Add incumbents and bounds.

    A row that repeats the incumbent with fewer digits is not a candidate: 2.1000e+09 after 2.100015e+09 would be a
    solution that was never found.
    """
    taken = _Taken()
    sign = -1.0 if sense == "max" else 1.0
    for time, slack, row in stamped:
        primal, dual = row.primal, row.dual
        best = None if taken.best is None else taken.prints[taken.best]
        repeats = primal is not None and best is not None and primal.may_be(best.value)
        improves = primal is not None and (best is None or sign * primal.value < sign * best.value) and not repeats
        # CPLEX announces some incumbents with a stamp and then repeats them in a row without one.
        if improves or (row.found and not (repeats and row.time is None)):
            moment = None if math.isnan(time) else time
            events.add(
                moment,
                None if primal is None else primal.value,
                where=f"{path}:{row.line}",
                bound=None if dual is None else dual.value,
            )
            if dual is not None:
                taken.bounds[len(events) - 1] = dual
            if moment is None or primal is None:
                continue
            taken.prints[len(events) - 1] = primal
            taken.slack = max(taken.slack, slack)
            if row.time is None:
                taken.untimed.append(moment)
            if improves:
                taken.best = len(events) - 1
        elif dual is not None and math.isfinite(time):
            events.add_bound(time, dual.value)
            taken.bounds[len(events) - 1] = dual
    return taken


def _settle_bound(events: EventList, taken: _Taken, final: Number | None, sense: str | None) -> float | None:
    """Reconcile the bounds of the rows with the final one; return the unit of the best bound's last digit.

    Bounds only improve, so a row with a better bound than the final line was rounded up: it gets the digits of that
    line. A bound that is better by more than rounding stays as printed.
    """
    sign = -1.0 if sense == "max" else 1.0
    known = [] if final is None else [final]
    for index, row in taken.bounds.items():
        if final is None or sign * row.value > sign * final.value:
            if final is not None and row.may_be(final.value):
                events[index] = events[index]._replace(bound=final.value)
            elif abs(row.value) < INFINITE:
                known.append(row)
    # The coarsest of all prints that may be the best.
    surest = max((sign * bound.value - 0.5 * bound.unit for bound in known), default=0.0)
    return max((bound.unit for bound in known if sign * bound.value + 0.5 * bound.unit >= surest), default=None)


def _settle_final(
    events: EventList, taken: _Taken, final: Number | None, *, end: float | None, sense: str | None, where: str
) -> float | None:
    """Reconcile the trace with the stated final objective; return the unit of the best objective's last digit.

    The final line has all digits, rows have five to ten: the best incumbent gets the digits of the final line if its
    print may stand for it, and no print may be better than it. A final objective that no row shows is a candidate at
    the end. A row that is better by more than rounding was misread or misprinted, and is rejected.
    """
    best = None if taken.best is None else taken.prints[taken.best]
    if final is None:
        return None if best is None else best.unit
    sign = -1.0 if sense == "max" else 1.0
    for index, event in enumerate(events):
        if event.verdict != VerdictCode.VALID or sign * event.objective >= sign * final.value:
            continue
        # Rows have five to ten digits: a value that is better by less than the fourth is the same solution.
        if abs(event.objective - final.value) > max(1e-4 * abs(event.objective), 1e-9):
            events[index] = event._replace(verdict=VerdictCode.INVALID, reason=BETTER_THAN_FINAL)
            events.problems.append(
                f"{where}: expected no incumbent better than the final {final.value:.15g}, got {event.objective:.15g}"
            )
        elif final.unit < taken.prints[index].unit or not final.may_be(event.objective):
            events[index] = event._replace(objective=final.value)
    if best is not None and (best.may_be(final.value) or final.may_be(best.value)):
        if final.unit < best.unit and taken.best is not None:
            events[taken.best] = events[taken.best]._replace(objective=final.value)
        return min(final.unit, best.unit)
    if (best is None or sign * final.value < sign * best.value) and end is not None:
        events.add(_not_before(end, events), final.value, where=where)
        return final.unit
    return None if best is None else final.unit


def _not_before(end: float, events: EventList) -> float:
    """Return the stated end, or the last stamp if rounding made that one later."""
    return max([end, *filter(math.isfinite, events.values("time"))])


READER = Reader(
    "mip",
    "logs of SCIP, Gurobi, HiGHS, CPLEX, Xpress, COPT, CBC, Mosek (needs gapline[mip])",
    lambda _path, head: BANNER.search(head) is not None,
    _read,
)
