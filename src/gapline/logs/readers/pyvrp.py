"""The statistics CSV of PyVRP, both generations: one row per iteration, `runtime` is the iteration's own duration."""

import csv

from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import log_lines, parse_number, shown
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

# From 0.13 on, the best cost is penalised unless `best_feas`; before, it is the best feasible cost, or nan.
_NEW = {"runtime", "best_cost", "best_feas"}
_OLD = {"runtime", "feas_best_cost"}
PENALISED = "penalised cost of an infeasible best"


def _header(head: bytes) -> tuple[list[str], str]:
    first = next(iter(log_lines(head[:4096])), (1, ""))[1]
    delimiter = max(",;\t", key=first.count)
    return [name.strip().strip('"') for name in first.split(delimiter)], delimiter


def _looks_like(_path: str, head: bytes) -> bool:
    names = set(_header(head)[0])
    return names >= _NEW or names >= _OLD


def _read(log: LogFile) -> Found:
    names, delimiter = _header(log.head)
    if not (set(names) >= _NEW or set(names) >= _OLD):
        raise TraceError(
            f"{log.path}:1: expected columns runtime and best_cost or feas_best_cost, got {shown(','.join(names))}"
        )
    found = Found()
    events = EventList(found.problems)
    new = set(names) >= _NEW
    cost_at = names.index("best_cost" if new else "feas_best_cost")
    feasible_at = names.index("best_feas") if new else -1
    runtime_at = names.index("runtime")
    clock, lost, previous = 0.0, False, ("", "")
    for number, text in (lines := log.lines()):
        if number == 1 or not text.strip():
            continue
        where = f"{log.path}:{number}"
        cells = next(csv.reader([text], delimiter=delimiter)) if '"' in text else text.split(delimiter)
        if number == lines.torn_at:
            found.refuse_torn(where, text)
            break
        duration = parse_number(cells[runtime_at]) if len(cells) == len(names) else None
        if duration is None or duration < 0:
            # Without this iteration's duration, every later stamp would be too early: the rest has no known time.
            found.refuse(where, f"{len(names)} columns with a runtime", text)
            rest = sum(1 for _ in lines)
            if lines.ending == b"\n" and (rest := rest - bool(lines.torn_at)) > 0:
                found.problems.append(f"{where}: {rest:,} later lines have no stamp and were left out")
            lost = True
            break
        clock += duration
        cost, feasible = cells[cost_at].strip(), cells[feasible_at].strip() if new else "1"
        # The best is repeated in a row per iteration; only a change is a candidate.
        if (cost, feasible) == previous:
            continue
        previous = (cost, feasible)
        # The old generation prints nan until something feasible is found: that is not a candidate.
        if not new and cost.lower() in ("nan", "inf", ""):
            continue
        is_valid = feasible.lower() in ("1", "true")
        events.add(clock, cost, where=where, valid=is_valid, reason="" if is_valid else PENALISED)
    status = "killed" if lines.torn_at or lost else "unknown"
    found.runs.append(FoundRun(**events.columns(), status=status, clock="wall"))
    return found


READER = Reader("pyvrp", "statistics CSV of PyVRP, both generations", _looks_like, _read)
