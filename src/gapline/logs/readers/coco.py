"""COCO's bbob logger: an `.info` index and its `.dat` and `.tdat` tables, in evaluations.

The tables contain the value minus the optimum, so the reference of every run is 0, and relative gaps are meaningful
only after a shift is declared. The reader states that reference and changes nothing.
"""

import re
from itertools import chain
from pathlib import PurePosixPath

from gapline.contract.tables import RunStatus
from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import shown
from gapline.logs.reader import Found, FoundRun, LogFile, Reader, SourceReference
from gapline.logs.readers.info_index import IndexBlock, index_writer, read_blocks

SHIFT_NOTE = "COCO logs the value minus the optimum: the reference is 0, and a shift must be declared to score it"
LEFT_OUT_NOTE = "COCO's tables of restarts (.rdat) and of recommendations (.mdat) are no part of a trace: left out"
_TABLE = re.compile(rb"% (?:f evaluations|function evaluation) \|")
_TABLE_NAME = re.compile(r"_f([0-9]{1,6})(?:_i[0-9]{1,6})?_DIM([0-9]{1,6})", re.IGNORECASE)
# The .dat has a row per target that was reached, the .tdat one per number of evaluations: both belong to the trace.
_OF_THE_TRACE = (".dat", ".tdat")
_BESIDE_IT = (".rdat", ".mdat")


def looks_like(_path: str, head: bytes) -> bool:
    """Whether a head is an index of the bbob logger, or one of its tables alone."""
    return index_writer(head) == "coco" or _TABLE.match(head) is not None


def is_companion(path: str, head: bytes) -> bool:
    """Whether a file is a table that an index names."""
    return path.lower().endswith((*_OF_THE_TRACE, *_BESIDE_IT)) and _TABLE.match(head) is not None


def read(log: LogFile) -> Found:
    """Read every run that an index names; a table given alone is read without its index."""
    found = Found()
    if _TABLE.match(log.head):
        _read_lone_table(log, found)
    elif index_writer(log.head) == "iohprofiler":
        raise TraceError(
            f"{log.path}: expected an index of COCO, got one of IOHprofiler, which logs the value itself",
            hint="--format iohprofiler",
        )
    else:
        seen: dict[str, int] = {}
        for block in read_blocks(log, found):
            _read_runs(log, found, block, seen)
    if not found.runs:
        raise TraceError(
            f"{log.path}: expected an index with funcId, DIM and runs such as '1:500|2.3e-09', got {shown(log.head)}",
            hint="import the .info file; its tables are found beside it",
        )
    found.notes.append(SHIFT_NOTE)
    return found


def _read_runs(log: LogFile, found: Found, block: IndexBlock, seen: dict[str, int]) -> None:
    facts, table, runs, where = block
    function, dimension = facts.get("funcId", "?"), facts.get("DIM", "?")
    stem = str(PurePosixPath(table).with_suffix("")) if table else ""
    tables = []
    # If the optimum is unknown, COCO subtracts a value that it calls Fref, which is not proven.
    certified = True
    for name in [stem + suffix for suffix in _OF_THE_TRACE if stem]:
        with log.companion(name) as opened:
            if opened is not None:
                certified &= b" - Fref " not in opened.head[:1000]
                tables.append(_read_table(opened, found, table, log.path))
                if opened.cut:
                    found.refuse_cut(f"{log.path} ({name})")
    # A list, not a generator: every table has to be opened, otherwise a folder import would refuse it as unnamed.
    if any([_has_rows(log, stem + suffix) for suffix in _BESIDE_IT if stem]):  # noqa: C419
        found.notes.append(LEFT_OUT_NOTE)
    if not tables:
        found.problems.append(f"{where}: expected the table {table!r} beside the index, got no such file")
    for events in tables:
        if len(events) != len(runs):
            found.problems.append(f"{where}: expected {len(runs)} runs in {table!r}, got {len(events)}")
    for index, (instance, evaluations) in enumerate(runs):
        parts = [events[index] for events in tables if index < len(events)]
        merged = EventList(found.problems)
        for event in chain.from_iterable(parts):
            merged.append(event)
        name = f"f{function}-d{dimension}-i{instance}"
        ended = RunStatus.FINISHED if evaluations is not None else RunStatus.KILLED
        found.runs.append(
            FoundRun(
                **merged.columns(),
                arm=facts.get("algId") or None,
                instance=name,
                seed=seen.setdefault(name, 0),
                panel=f"{facts['suite']}-d{dimension}" if facts.get("suite") else f"d{dimension}",
                status=ended if parts else RunStatus.LOST,
                clock="evaluations",
                carried={"evaluations": evaluations},
                where=name,
            )
        )
        # COCO states no seed: runs of one instance are numbered in their order.
        seen[name] += 1
        if seen[name] == 1:
            source = f"COCO: value minus {'optimum' if certified else 'a reference value'}"
            found.references.append(SourceReference(name, 0.0, certified=certified, source=source))


def _has_rows(log: LogFile, name: str) -> bool:
    with log.companion(name) as opened:
        return opened is not None and any(line.strip() and not line.startswith("%") for _, line in opened.lines())


def _read_table(table: LogFile, found: Found, name: str, index: str) -> list[EventList]:
    """Return the events of every run of a table; a new run begins at a header, or where evaluations restart."""
    runs: list[EventList] = []
    for number, line in table.lines():
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
        # The first evaluation may appear twice, as a record and as a row of its own: only a later 1 is a restart.
        if not runs or (cells[0] == "1" and runs[-1] and runs[-1][len(runs[-1]) - 1].time > 1):
            runs.append(EventList(found.problems))
        runs[-1].add(cells[0], cells[2], where=where)
    return runs


def _read_lone_table(log: LogFile, found: Found) -> None:
    named = _TABLE_NAME.search(PurePosixPath(log.path.replace("\\", "/")).name)
    instance = f"f{int(named[1])}-d{int(named[2])}" if named else None
    status = RunStatus.KILLED if log.cut else RunStatus.UNKNOWN
    for seed, events in enumerate(_read_table(log, found, "table", log.path)):
        run = FoundRun(**events.columns(), instance=instance, seed=seed, status=status, clock="evaluations")
        found.runs.append(run)
    found.numbered()


READER = Reader("coco", "COCO bbob logger (result folder, or .info with its tables)", looks_like, read, is_companion)
