"""COCO's bbob logger: an `.info` index and its `.dat` and `.tdat` tables, in evaluations; values minus the optimum."""

import re
from pathlib import PurePosixPath

from gapline.capture.loglines import EventList, log_lines, shown
from gapline.capture.reader import Found, FoundRun, LogFile, Reader, SourceReference
from gapline.errors import TraceError
from gapline.model.tables import RunStatus

SHIFT_NOTE = "COCO logs the value minus the optimum: the reference is 0, and a shift must be declared to score it"
_INDEX = re.compile(rb"(?:^|\n)(?:suite = '[^'\n]{0,80}', )?funcId = [0-9]{1,6}, DIM = [0-9]{1,6},")
_FACT = re.compile(r"(\w{1,40}) = (?:'([^']{0,300})'|([^,]{1,60}))")
_ENTRY = re.compile(r"\s{0,4}([0-9]{1,9}):([0-9]{1,18})\|(\S{1,40})")
_TABLE = re.compile(rb"% (?:f evaluations|function evaluation) \|")
_TABLE_NAME = re.compile(r"_f([0-9]{1,6})(?:_i[0-9]{1,6})?_DIM([0-9]{1,6})", re.IGNORECASE)


def _looks_like(_path: str, head: bytes) -> bool:
    return _INDEX.search(head[:4096]) is not None or _TABLE.match(head) is not None


def _is_companion(path: str, head: bytes) -> bool:
    return path.lower().endswith((".dat", ".tdat", ".mdat", ".rdat")) and _TABLE.match(head) is not None


def _read(log: LogFile) -> Found:
    found = Found()
    if _TABLE.match(log.data):
        _read_lone_table(log, found)
    else:
        _read_index(log, found)
    if not found.runs:
        raise TraceError(
            f"{log.path}: expected an index with funcId, DIM and runs such as '1:500|2.3e-09', got {shown(log.data)}",
            hint="import the .info file; its tables are found beside it",
        )
    found.notes.append(SHIFT_NOTE)
    return found


def _read_index(log: LogFile, found: Found) -> None:
    facts: dict[str, str] = {}
    seen: dict[str, int] = {}
    for number, line in log_lines(log.data):
        if line.startswith("%") or not line.strip():
            continue
        if "funcId = " in line:
            facts = {name: text or bare.strip() for name, text, bare in _FACT.findall(line)}
            continue
        if not facts:
            found.refuse(f"{log.path}:{number}", "'funcId = …' before the runs", line)
            continue
        _read_runs(log, found, facts, line, seen=seen, where=f"{log.path}:{number}")


def _read_runs(
    log: LogFile, found: Found, facts: dict[str, str], line: str, *, seen: dict[str, int], where: str
) -> None:
    table, _, runs = line.partition(",")
    table = table.strip().replace("\\", "/")
    function, dimension = facts.get("funcId", "?"), facts.get("DIM", "?")
    entries = []
    for text in runs.split(","):
        if entry := _ENTRY.fullmatch(text.rstrip()):
            entries.append((int(entry[1]), int(entry[2])))
        elif text.strip():
            found.refuse(where, "a run such as 1:500|2.3e-09", text)
    # The .dat has a row per target that was reached, the .tdat one per so many evaluations: both are the trace.
    tables = [
        _read_table(data, found, name, log.path)
        for name in (table, str(PurePosixPath(table).with_suffix(".tdat")) if table else "")
        if name and (data := log.beside(name)) is not None
    ]
    if not tables:
        found.problems.append(f"{where}: expected the table {table!r} beside the index, got no such file")
    for events in tables:
        if len(events) != len(entries):
            found.problems.append(f"{where}: expected {len(entries)} runs in {table!r}, got {len(events)}")
    for index, (instance, evaluations) in enumerate(entries):
        parts = [events[index] for events in tables if index < len(events)]
        merged = EventList(found.problems, [event for part in parts for event in part.events])
        name = f"f{function}-d{dimension}-i{instance}"
        found.runs.append(
            FoundRun(
                **merged.columns(),
                arm=facts.get("algId") or None,
                instance=name,
                seed=seen.setdefault(name, 0),
                panel=f"{facts['suite']}-d{dimension}" if facts.get("suite") else f"d{dimension}",
                status=RunStatus.FINISHED if parts else RunStatus.LOST,
                clock="evaluations",
                carried={"evaluations": evaluations},
                where=name,
            )
        )
        # COCO names no seed: runs of one instance are numbered as they stand.
        seen[name] += 1
        if seen[name] == 1:
            found.references.append(SourceReference(name, 0.0, certified=True, source="COCO: value minus optimum"))


def _read_table(data: bytes, found: Found, name: str, index: str) -> list[EventList]:
    """Return the events of every run of a table; a header opens the next run, and so do evaluations that restart."""
    runs: list[EventList] = []
    for number, line in log_lines(data):
        if line.startswith("%"):
            if _TABLE.match(line.encode()):
                runs.append(EventList(found.problems))
            continue
        cells = line.split()
        if not cells:
            continue
        where = f"{index} ({name}:{number})"
        if len(cells) < 3:
            found.refuse(where, "evaluations and the best value in column 3", line)
            continue
        # The first evaluation may stand twice, as a record and as a row of its own: only a fall back to 1 is a restart.
        if not runs or (cells[0] == "1" and runs[-1].events and runs[-1].events[-1][0] > 1):
            runs.append(EventList(found.problems))
        runs[-1].add(cells[0], cells[2], where=where)
    return runs


def _read_lone_table(log: LogFile, found: Found) -> None:
    named = _TABLE_NAME.search(PurePosixPath(log.path.replace("\\", "/")).name)
    instance = f"f{int(named[1])}-d{int(named[2])}" if named else None
    status = RunStatus.KILLED if log.cut else RunStatus.UNKNOWN
    for seed, events in enumerate(_read_table(log.data, found, "table", log.path)):
        run = FoundRun(**events.columns(), instance=instance, seed=seed, status=status, clock="evaluations")
        found.runs.append(run)
    found.numbered()


READER = Reader("coco", "COCO bbob logger (.info with its .dat and .tdat)", _looks_like, _read, _is_companion)
