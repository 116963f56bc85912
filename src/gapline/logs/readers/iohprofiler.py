"""IOHprofiler: a JSON index of scenarios and runs, or an older `.info`, and the `.dat` tables that it names.

Time is counted in evaluations, unless the table has a column of seconds. Content of the files is never evaluated.
"""

import math
import re
from itertools import chain
from typing import Any, NamedTuple

from gapline.contract.tables import RunStatus, VerdictCode
from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import shown
from gapline.logs.loose_json import as_float, as_name, decode_json
from gapline.logs.reader import Found, FoundRun, LogFile, Reader
from gapline.logs.readers.info_index import IndexBlock, index_writer, read_blocks

_INDEX = re.compile(rb'\s*\{.{0,65536}?"(?:scenarios|function_id)"\s*:', re.DOTALL)
_HEADER = re.compile(rb'(?:"function evaluation"|evaluations)[ \t]')
_COLUMN = re.compile(r'"([^"]{0,100})"|(\S{1,100})')
_VALUES = ("raw_y", "raw_y_best", "best-so-far f(x)", "current f(x)")
# Other tables of the older loggers, next to the .dat: the same runs at every evaluation, at intervals or at moments.
_OTHER_TABLES = (".cdat", ".idat", ".tdat", ".rdat")
SENSE_NOTE = "an older IOHprofiler index states no direction: it is the one in which best-so-far moves"
SECOND_NOTE = "IOHprofiler tables with a column F2 have several objectives: raw_y, the first of them, is read alone"
OTHERS_NOTE = "IOHprofiler's tables beside the .dat show its runs at other moments: left out"
_SECONDS = re.compile(r"(?:(cpu|wall|elapsed|process)[_ -]?)?(?:time|seconds|runtime)", re.IGNORECASE)


class _Columns(NamedTuple):
    """The columns of a table that contain evaluations, objective and, if there is one, seconds."""

    evaluations: int = 0
    objective: int = 1
    seconds: int | None = None
    clock: str = "evaluations"


def looks_like(_path: str, head: bytes) -> bool:
    """Whether a head is an IOHprofiler index, or one of its tables alone."""
    if _HEADER.match(head) or index_writer(head) == "iohprofiler":
        return True
    return b'"algorithm"' in head and b'"maximization"' in head and _INDEX.match(head) is not None


def is_companion(path: str, head: bytes) -> bool:
    """Whether a file is a table that an index names."""
    return path.lower().endswith((".dat", *_OTHER_TABLES)) and _HEADER.match(head) is not None


def read(log: LogFile) -> Found:
    """Read every run that an index names; a table given alone is read without its index."""
    found = Found()
    if _HEADER.match(log.head):
        segments, columns = _read_table(log, found, log.path)
        status = RunStatus.KILLED if log.cut else RunStatus.UNKNOWN
        for seed, events in enumerate(segments):
            found.runs.append(FoundRun(**events.columns(), seed=seed, status=status, clock=columns.clock, sense=None))
        return found.numbered()
    seen: dict[str, int] = {}
    if index_writer(log.head):
        _read_older(log, found, seen)
        return found
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
            _read_scenario(log, found, index, scenario, seen)
        else:
            found.refuse(f"{log.path}: scenario {number}", "an object", str(scenario)[:80])
    return found


def _read_older(log: LogFile, found: Found, seen: dict[str, int]) -> None:
    """Read an `.info`: each of its blocks corresponds to a scenario of a JSON index."""
    blocks = list(read_blocks(log, found))
    if not blocks or index_writer(log.head) != "iohprofiler":
        got = "one of COCO, which logs the value minus the optimum" if blocks else shown(log.head)
        hint = "--format coco" if blocks else None
        raise TraceError(f"{log.path}: expected an index of IOHprofiler, got {got}", hint=hint)
    # An algorithm that was restarted appends: two blocks share one table, with their runs in sequence.
    tables: dict[str, list[IndexBlock]] = {}
    for block in blocks:
        tables.setdefault(block.table, []).append(block)
    for table, sharing in tables.items():
        where, stem = f"{log.path} ({table})", table.removesuffix(".dat")
        read = own = _read_beside(log, table, found, where) if table else None
        for other in [stem + suffix for suffix in _OTHER_TABLES if stem]:
            with log.companion(other) as opened:
                if opened is not None and own is not None:
                    found.notes.append(OTHERS_NOTE)
                elif opened is not None and read is None:
                    read = _read_table(opened, found, where)
        segments, columns = read or ([], _Columns())
        for place, (facts, _, runs, _) in enumerate(sharing):
            mine = segments if place == len(sharing) - 1 else segments[: len(runs)]
            segments = segments[len(mine) :]
            head = {
                "algorithm": facts.get("algId"),
                "maximization": facts.get("maximization") or _direction(mine, found),
                "guessed": "maximization" not in facts,
                "function_id": facts.get("funcId"),
                "function_name": facts.get("funcName"),
            }
            listed = [{"instance": run.instance, "evals": run.evaluations} for run in runs]
            scenario = {"dimension": facts.get("DIM"), "path": table, "runs": listed}
            _read_scenario(log, found, head, scenario, seen, table=None if read is None else (mine, columns))


def _direction(segments: list[EventList], found: Found) -> bool | None:
    """Whether best-so-far rises (None if unknown): an index of the first years does not state the direction."""
    values = [events.rows()["objective"] for events in segments if events]
    moves = [float(column[-1] - column[0]) for column in values]
    found.notes.append(SENSE_NOTE)
    return None if not any(moves) else max(moves, key=abs) > 0


def _read_scenario(
    log: LogFile,
    found: Found,
    index: dict[str, Any],
    scenario: dict[str, Any],
    seen: dict[str, int],
    *,
    table: tuple[list[EventList], _Columns] | None = None,
) -> None:
    dimension = as_name(scenario.get("dimension")) or "?"
    listed = scenario.get("runs")
    runs = [run if isinstance(run, dict) else {} for run in listed] if isinstance(listed, list) else []
    name = str(scenario.get("path") or "").replace("\\", "/")[:1000]
    if table is None and name:
        table = _read_beside(log, name, found, f"{log.path} ({name})")
    segments, columns = table or ([], _Columns())
    if table is None:
        found.problems.append(f"{log.path}: expected the table {shown(name)} beside the index, got no such file")
    elif len(segments) != len(runs):
        found.problems.append(f"{log.path} ({name}): expected {len(runs)} runs, got {len(segments)}")
    if columns.seconds is not None:
        found.notes.append(f"IOHprofiler tables with a column of seconds are read on that clock ({columns.clock})")
    attributes = index.get("attributes")
    if isinstance(attributes, list) and any(re.fullmatch("F[2-9]", str(name)) for name in attributes):
        found.notes.append(SECOND_NOTE)
    algorithm = index.get("algorithm")
    maximised = index.get("maximization") in (True, "T", "true")
    sense = None if index.get("maximization") is None and "maximization" in index else "max" if maximised else "min"
    function = f"f{as_name(index.get('function_id')) or '?'}"
    family = as_name(index.get("function_name")) or function
    # A killed run is in the table but not in the index; the runs of a lost table are only in the index.
    for number in range(max(len(runs), len(segments))):
        run = runs[number] if number < len(runs) else {}
        events = segments[number] if number < len(segments) else EventList(found.problems)
        name = f"{function}-d{dimension}-i{as_name(run.get('instance')) or '?'}"
        # The index counts evaluations, which cannot be placed on a clock of seconds.
        if columns.seconds is None:
            _add_best(events, run, f"{log.path}: {name}", maximised=maximised)
        # Not listed: the index was written before this run ended. Not in the table: its candidates are unknown.
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
                sense=sense,
                guessed=index.get("guessed") is True,
                carried={"evaluations": _evaluations(run, events, columns)},
                where=f"{name} run {number + 1}",
            )
        )
        seen[name] += 1


def _evaluations(run: dict[str, Any], events: EventList, columns: _Columns) -> float | None:
    """Return the number of evaluations: older indexes count only up to the best, the table ends with the last one."""
    stated = as_float(run.get("evals"))
    if columns.seconds is not None or not events:
        return stated
    # The number comes first: a stamp that is NaN is never greater.
    return max(chain([stated or 0.0], events.values("time")))


def _add_best(events: EventList, run: dict[str, Any], where: str, *, maximised: bool) -> None:
    """Add the best value of the index if it is missing in the table, which may log only every k-th evaluation."""
    best = run.get("best")
    value, evaluations = (as_float(best.get(name)) if isinstance(best, dict) else None for name in ("y", "evals"))
    if value is None or evaluations is None or evaluations < 0:
        return
    for place, event in enumerate(events):
        # The table prints ten decimals, the index all of them: one candidate, not a second, slightly better one.
        is_valid = event.time == evaluations and event.verdict == VerdictCode.VALID
        if is_valid and math.isclose(event.objective, value, abs_tol=1e-9):
            events[place] = event._replace(objective=value)
            return
    sign = -1.0 if maximised else 1.0
    valid = (sign * event.objective for event in events if event.verdict == VerdictCode.VALID)
    if sign * value < min(valid, default=math.inf):
        events.add(evaluations, value, where=where)


def _read_beside(log: LogFile, name: str, found: Found, where: str) -> tuple[list[EventList], _Columns] | None:
    with log.companion(name) as opened:
        return None if opened is None else _read_table(opened, found, where)


def _read_table(table: LogFile, found: Found, where: str) -> tuple[list[EventList], _Columns]:
    """Return the events of every run: a new run begins at a header, or where evaluations restart at 1."""
    runs: list[EventList] = []
    columns = _Columns()
    for number, line in table.lines():
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
        if not runs or (runs[-1] and cells[columns.evaluations] in ("1", "1.0")):
            runs.append(EventList(found.problems))
        stamp = cells[columns.evaluations if columns.seconds is None else columns.seconds]
        runs[-1].add(stamp, cells[columns.objective], where=f"{where}:{number}")
    # For a table given alone, the import reports it.
    if table.cut and where != table.path:
        found.refuse_cut(where)
    return runs, columns


def _name_columns(line: str) -> _Columns:
    names = [quoted or bare for quoted, bare in _COLUMN.findall(line)]
    objective = next((names.index(name) for name in _VALUES if name in names), 1)
    for position, name in enumerate(names):
        if position and position != objective and (seconds := _SECONDS.fullmatch(name)):
            is_cpu = (seconds[1] or "").lower() in ("cpu", "process")
            return _Columns(0, objective, position, "cpu" if is_cpu else "wall")
    return _Columns(0, objective)


READER = Reader("iohprofiler", "IOHprofiler (JSON index or older .info, with tables)", looks_like, read, is_companion)
