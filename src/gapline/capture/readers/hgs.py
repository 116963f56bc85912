"""The search progress of HGS-CVRP (`.PG.csv`): `instance;seed;cost;time` per line, on the CPU clock."""

import re

from gapline.capture.loglines import EventList, is_torn, log_lines, parse_number, shown
from gapline.capture.reader import Found, FoundRun, LogFile, Reader
from gapline.errors import TraceError

_ROW = re.compile(rb"[^;\r\n]+;[+-]?[0-9]+;[^;\r\n]+;[^;\r\n]+\r?(?:\n|\Z)")


def _looks_like(_path: str, head: bytes) -> bool:
    return _ROW.match(head) is not None


def _read(log: LogFile) -> Found:
    found = Found()
    events = EventList(found.problems)
    current: tuple[str, int] | None = None
    last_time = last_cost = float("nan")
    torn = is_torn(log.data)
    lines = list(log_lines(log.data))
    for number, text in lines:
        if not text.strip():
            continue
        where = f"{log.path}:{number}"
        cells = text.split(";")
        if len(cells) != 4 or not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", cells[1], re.ASCII):
            found.problems.append(f"{where}: expected instance;seed;cost;time, got {shown(text)}")
            continue
        if torn and number == lines[-1][0]:
            found.problems.append(f"{where}: expected a whole line, got {shown(text)} where the file ends")
            break
        key = (_instance_name(cells[0]), int(cells[1]))
        stamp, cost = parse_number(cells[3]), parse_number(cells[2])
        # HGS appends to its file and its best only falls: an earlier stamp with a worse cost is another run.
        again = stamp is not None and cost is not None and stamp < last_time and cost > last_cost
        if key != current or again:
            if current is not None:
                _close(found, current, events)
            current, events = key, EventList(found.problems)
        events.add(cells[3], cells[2], where=where)
        last_time, last_cost = (stamp, cost) if stamp is not None and cost is not None else (last_time, last_cost)
    if current is None:
        first = lines[0][1] if lines else ""
        raise TraceError(f"{log.path}: expected lines instance;seed;cost;time, got {shown(first)}")
    _close(found, current, events)
    if torn:
        found.runs[-1].status = "killed"
    if len(found.runs) == 1:
        found.runs[0].where = ""
    return found


def _close(found: Found, key: tuple[str, int], events: EventList) -> None:
    where = f"run {len(found.runs) + 1}"
    found.runs.append(FoundRun(**events.columns(), instance=key[0], seed=key[1], clock="cpu", where=where))


def _instance_name(cell: str) -> str:
    """Return the name without folder and `.vrp`, which HGS writes as it was given on its command line."""
    name = cell.strip().replace("\\", "/").rsplit("/", 1)[-1]
    return name.removesuffix(".vrp") or cell.strip()


READER = Reader(
    name="hgs", describes="search progress of HGS-CVRP (.PG.csv), CPU clock", looks_like=_looks_like, read=_read
)
