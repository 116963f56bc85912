"""IOHprofiler: a JSON index and the `.dat` tables that it names, in evaluations or on a clock that has a column."""

import re
from typing import Any, NamedTuple

from gapline.capture.loglines import EventList, log_lines, shown
from gapline.capture.loosejson import as_float, as_name, decode_json
from gapline.capture.reader import Found, FoundRun, LogFile, Reader
from gapline.errors import TraceError
from gapline.model.tables import RunStatus, VerdictCode

_INDEX = re.compile(rb'\s*\{.{0,65536}?"(?:scenarios|function_id)"\s*:', re.DOTALL)
_HEADER = re.compile(rb'(?:"function evaluation"|evaluations)[ \t]')
_COLUMN = re.compile(r'"([^"]{0,100})"|(\S{1,100})')
_VALUES = ("raw_y", "raw_y_best", "best-so-far f(x)", "current f(x)")
_SECONDS = re.compile(r"(?:(cpu|wall|elapsed|process)[_ -]?)?(?:time|seconds|runtime)", re.IGNORECASE)


class _Columns(NamedTuple):
    """Which columns of a table hold evaluations, objective and, where it has one, seconds."""

    evaluations: int = 0
    objective: int = 1
    seconds: int | None = None
    clock: str = "evaluations"


def _looks_like(_path: str, head: bytes) -> bool:
    if _HEADER.match(head):
        return True
    return b'"algorithm"' in head and b'"maximization"' in head and _INDEX.match(head) is not None


def _is_companion(path: str, head: bytes) -> bool:
    return path.lower().endswith(".dat") and _HEADER.match(head) is not None


def _read(log: LogFile) -> Found:
    found = Found()
    if _HEADER.match(log.data):
        segments, columns = _read_table(log.data, found, log.path)
        status = RunStatus.KILLED if log.cut else RunStatus.UNKNOWN
        for seed, events in enumerate(segments):
            found.runs.append(FoundRun(**events.columns(), seed=seed, status=status, clock=columns.clock, sense=None))
        return found.numbered()
    try:
        index = decode_json(log.data)
    except ValueError as error:
        raise TraceError(
            f"{log.path}: expected an IOHprofiler index (JSON), got {shown(log.data)} ({error})",
            hint="a run that was killed leaves no index; import its .dat tables instead",
        ) from None
    scenarios = index.get("scenarios") if isinstance(index, dict) else None
    if not isinstance(scenarios, list):
        raise TraceError(f"{log.path}: expected a list of scenarios, got {type(scenarios).__name__}")
    for number, scenario in enumerate(scenarios, start=1):
        if isinstance(scenario, dict):
            _read_scenario(log, found, index, scenario)
        else:
            found.refuse(f"{log.path}: scenario {number}", "an object", str(scenario)[:80])
    return found


def _read_scenario(log: LogFile, found: Found, index: dict[str, Any], scenario: dict[str, Any]) -> None:
    dimension = as_name(scenario.get("dimension")) or "?"
    listed = scenario.get("runs")
    runs = [run if isinstance(run, dict) else {} for run in listed] if isinstance(listed, list) else []
    table = str(scenario.get("path") or "").replace("\\", "/")[:1000]
    data = log.beside(table) if table else None
    segments: list[EventList] = []
    columns = _Columns()
    if data is None:
        found.problems.append(f"{log.path}: expected the table {shown(table)} beside the index, got no such file")
    else:
        segments, columns = _read_table(data, found, f"{log.path} ({table})")
        if len(segments) != len(runs):
            found.problems.append(f"{log.path} ({table}): expected {len(runs)} runs, got {len(segments)}")
        if columns.seconds is not None:
            found.notes.append(f"IOHprofiler tables with a column of seconds are read on that clock ({columns.clock})")
    algorithm = index.get("algorithm")
    maximised = index.get("maximization") in (True, "T", "true")
    function = f"f{as_name(index.get('function_id')) or '?'}"
    family = as_name(index.get("function_name")) or function
    seen: dict[str, int] = {}
    # A killed run stands in the table and not in the index; of a lost table only the index speaks.
    for number in range(max(len(runs), len(segments))):
        run = runs[number] if number < len(runs) else {}
        events = segments[number] if number < len(segments) else EventList(found.problems)
        name = f"{function}-d{dimension}-i{as_name(run.get('instance')) or '?'}"
        # The index counts evaluations, which have no place on a clock of seconds.
        if columns.seconds is None:
            _add_best(events, run, f"{log.path}: {name}", maximised=maximised)
        # Not listed: the index was written before this run ended. Not in the table: nobody knows what it found.
        status = RunStatus.FINISHED if number < len(runs) else RunStatus.KILLED
        status = status if number < len(segments) else RunStatus.LOST
        found.runs.append(
            FoundRun(
                **events.columns(),
                arm=as_name(algorithm.get("name")) if isinstance(algorithm, dict) else as_name(algorithm),
                instance=name,
                seed=seen.setdefault(name, 0),
                panel=f"{family}-d{dimension}",
                status=status,
                clock=columns.clock,
                sense="max" if maximised else "min",
                carried={"evaluations": as_float(run.get("evals"))},
                where=f"{name} run {number + 1}",
            )
        )
        seen[name] += 1


def _add_best(events: EventList, run: dict[str, Any], where: str, *, maximised: bool) -> None:
    """Add the best value of the index where the table, which may log every k-th evaluation, does not show it."""
    best = run.get("best")
    value, evaluations = (as_float(best.get(name)) if isinstance(best, dict) else None for name in ("y", "evals"))
    if value is None or evaluations is None or evaluations < 0:
        return
    sign = -1.0 if maximised else 1.0
    valid = [sign * objective for _, objective, verdict, *_ in events.events if verdict == VerdictCode.VALID]
    if not valid or sign * value < min(valid):
        events.add(evaluations, value, where=where)


def _read_table(data: bytes, found: Found, where: str) -> tuple[list[EventList], _Columns]:
    """Return the events of every run: a header opens the next one, and so do evaluations that restart at 1."""
    runs: list[EventList] = []
    columns = _Columns()
    for number, line in log_lines(data):
        if not line.strip():
            continue
        if _HEADER.match(line.encode("utf-8", "replace")):
            columns = _name_columns(line)
            runs.append(EventList(found.problems))
            continue
        cells = line.split()
        needed = max(columns.evaluations, columns.objective, columns.seconds or 0)
        if len(cells) <= needed:
            found.refuse(f"{where}:{number}", f"{needed + 1} columns", line)
            continue
        if not runs or (runs[-1].events and cells[columns.evaluations] in ("1", "1.0")):
            runs.append(EventList(found.problems))
        stamp = cells[columns.evaluations if columns.seconds is None else columns.seconds]
        runs[-1].add(stamp, cells[columns.objective], where=f"{where}:{number}")
    return runs, columns


def _name_columns(line: str) -> _Columns:
    names = [quoted or bare for quoted, bare in _COLUMN.findall(line)]
    objective = next((names.index(name) for name in _VALUES if name in names), 1)
    for position, name in enumerate(names):
        if position and position != objective and (seconds := _SECONDS.fullmatch(name)):
            is_cpu = (seconds[1] or "").lower() in ("cpu", "process")
            return _Columns(0, objective, position, "cpu" if is_cpu else "wall")
    return _Columns(0, objective)


READER = Reader("iohprofiler", "IOHprofiler (JSON index with its .dat tables)", _looks_like, _read, _is_companion)
