"""The search progress of HGS-CVRP (`.PG.csv`): `instance;seed;cost;time` per line, on the CPU clock."""

import re

from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import file_name, log_lines, parse_number, shown
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

_ROW = re.compile(rb"[^;\r\n]+;[+-]?[0-9]+;[^;\r\n]+;[^;\r\n]+\r?(?:\n|\Z)")


def _read(log: LogFile) -> Found:
    found = Found()
    runs: list[tuple[tuple[str, int], EventList]] = []
    said, key = ["", ""], ("", 0)
    last_time = last_cost = float("nan")
    lines = log.lines()
    for number, text in lines:
        if not text.strip():
            continue
        where = f"{log.path}:{number}"
        cells = text.split(";")
        if len(cells) != 4 or not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", cells[1], re.ASCII):
            found.refuse(where, "instance;seed;cost;time", text)
            continue
        if number == lines.torn_at:
            found.refuse_torn(where, text)
            break
        if cells[:2] != said:
            # HGS writes the path from its command line on every line.
            said, key = cells[:2], (file_name(cells[0]).removesuffix(".vrp") or cells[0].strip(), int(cells[1]))
        stamp, cost = parse_number(cells[3]), parse_number(cells[2])
        # HGS appends to its file, and its best cost only falls: an earlier stamp with a worse cost starts another run.
        again = stamp is not None and cost is not None and stamp < last_time and cost > last_cost
        if not runs or key != runs[-1][0] or again:
            runs.append((key, EventList(found.problems)))
        runs[-1][1].add(cells[3], cells[2], where=where)
        last_time, last_cost = (stamp, cost) if stamp is not None and cost is not None else (last_time, last_cost)
    if not runs:
        first = next(log_lines(log.head), (1, ""))[1]
        raise TraceError(f"{log.path}: expected lines instance;seed;cost;time, got {shown(first)}")
    for (instance, seed), events in runs:
        found.runs.append(FoundRun(**events.columns(), instance=instance, seed=seed, clock="cpu"))
    if lines.torn_at:
        found.runs[-1].status = "killed"
    return found.numbered()


READER = Reader(
    "hgs", "search progress of HGS-CVRP (.PG.csv), CPU clock", lambda _path, head: _ROW.match(head) is not None, _read
)
