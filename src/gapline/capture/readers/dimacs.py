"""The `.out` files of the DIMACS vehicle-routing controller: header, three columns of rows, its own integral."""

import re
from dataclasses import dataclass, field

import numpy as np

from gapline.capture.blocks import line_blocks
from gapline.capture.decimals import parse_decimal_rows
from gapline.capture.loglines import EventList, log_lines, parse_number, shown, torn_line
from gapline.capture.reader import Found, FoundRun, LogFile, Reader, SourceReference
from gapline.errors import TraceError
from gapline.model.tables import RunStatus

THRESHOLD = 1.1
SCALING = (
    "DIMACS: times are the controller's standardized seconds (local seconds scaled by PassMark); "
    "gapline applies no scaling of its own"
)
_TABLE = b"Solution value"
_AFTER_ROWS = re.compile(rb"\n[ \t]*(?:Solution value|[A-Za-z][^\n:]{0,80}:)")
_HEADER = re.compile(rb"^(?:Standardized Time limit|Local Machine Time Limit|Base solution|BKS)\s*:", re.M | re.I)


def _looks_like(_path: str, head: bytes) -> bool:
    return (_TABLE in head and b"standardized time" in head) or len(_HEADER.findall(head, 0, 4096)) >= 2


@dataclass(slots=True)
class _Section:
    """One run of a file: its header lines, its rows, and the integral line after them."""

    header: dict[str, tuple[int, str]] = field(default_factory=dict)
    rows: bytes = b""
    first_row_line: int = 0
    has_table: bool = False


def _read(log: LogFile) -> Found:
    found = Found()
    for section in _sections(log):
        found.runs.append(_read_section(section, log.path, found))
    if not found.runs:
        raise TraceError(f"{log.path}: expected header lines of the DIMACS controller, got {shown(log.data[:60])}")
    return found.numbered()


def _sections(log: LogFile) -> list[_Section]:
    """Cut a file into runs: a header after rows or after an integral belongs to the next run."""
    data, sections, at, line = log.data, [], 0, 1
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    current = _Section()
    while at < len(data):
        table = data.find(_TABLE, at)
        upto = len(data) if table < 0 else table
        for offset, text in log_lines(data[at:upto]):
            key, colon, value = text.partition(":")
            name = key.strip().lower()
            if not colon:
                continue
            ended = current.has_table or "primal integral" in current.header
            ended |= name == "instance" and name in current.header
            if ended and name != "primal integral":
                sections.append(current)
                current = _Section()
            # A number that the file's end cut short is not the number that was meant.
            if not (upto == len(data) and data[-1:] != b"\n" and offset + line - 1 == line + data.count(b"\n", at)):
                current.header[name] = (line + offset - 1, value.strip())
        if table < 0:
            break
        if current.has_table:
            sections.append(current)
            current = _Section()
        line += data.count(b"\n", at, table)
        start = data.find(b"\n", table)
        current.has_table = True
        if start < 0:
            break
        stop = _AFTER_ROWS.search(data, start)
        end = len(data) if stop is None else stop.start() + 1
        current.rows, current.first_row_line = data[start + 1 : end], line + 1
        line += data.count(b"\n", table, end)
        at = end
    if current.header or current.has_table:
        sections.append(current)
    return sections


def _read_section(section: _Section, path: str, found: Found) -> FoundRun:
    header = section.header
    instance = header["instance"][1] if "instance" in header else None
    horizon = _number(header, "standardized time limit", path, found)
    best_known = _number(header, "bks", path, found)
    passmark = _number(header, "passmark single thread benchmark", path, found)
    seed = _number(header, "seed", path, found)
    run = FoundRun(
        time=np.empty(0),
        objective=np.empty(0),
        arm=header["competitor"][1] or None if "competitor" in header else None,
        instance=instance or None,
        seed=int(seed) if seed is not None and seed == int(seed) else None,
        horizon=horizon if horizon is not None and horizon > 0 else None,
        status=RunStatus.FINISHED if "primal integral" in header else RunStatus.KILLED,
        carried={"passmark": passmark, "local_horizon": _number(header, "local machine time limit", path, found)},
    )
    if passmark is not None and SCALING not in found.notes:
        found.notes.append(SCALING)
    _read_rows(section, run, path, found)
    if best_known is not None:
        certified = header.get("optimal", (0, "0"))[1].lower() in ("1", "true", "yes")
        found.references.append(SourceReference(instance or "", best_known, certified, "DIMACS controller header"))
        integral = _number(header, "primal integral", path, found)
        # The controller prints per cent; a kernel with θ needs a positive reference.
        if integral is not None and best_known > 0:
            run.stated_integral = (f"dimacs:{_threshold(header, best_known)!r}", integral / 100)
    return run


def _threshold(header: dict[str, tuple[int, str]], best_known: float) -> float:
    """Return θ: 1.1, unless the base solution that the integral starts from says another one."""
    base = parse_number(header.get("base solution", (0, ""))[1])
    # The base is printed rounded: within that, it is 1.1 times the reference.
    if base is None or abs(base - THRESHOLD * best_known) <= 0.0011 * max(1.0, best_known * 1e-6):
        return THRESHOLD
    return base / best_known


def _read_rows(section: _Section, run: FoundRun, path: str, found: Found) -> None:
    block = section.rows
    if not block.strip():
        return
    # Plain rows, which almost all are, go in bulk; one odd cell sends the block to the careful way below.
    # A piece at a time, because the parsing takes many times its bytes.
    pieces = []
    for piece in line_blocks(block, source=path):
        if (columns := parse_decimal_rows(piece, columns=3, wanted=[0, 2])) is None:
            break
        pieces.append(columns)
    else:
        run.objective, run.time = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return
    events = EventList(found.problems)
    torn_at = torn_line(block)
    for offset, text in log_lines(block):
        cells = text.split()
        if not cells:
            continue
        where = f"{path}:{section.first_row_line + offset - 1}"
        if offset == torn_at:
            found.refuse_torn(where, text)
        elif len(cells) != 3:
            found.refuse(where, "value, local time, standardized time", text)
            stamp = cells[2] if len(cells) > 3 else None
            events.add(stamp, cells[0], where=where, valid=False, reason="row not of three columns")
        else:
            events.add(cells[2], cells[0], where=where)
    for name, column in events.columns().items():
        setattr(run, name, column)


def _number(header: dict[str, tuple[int, str]], name: str, path: str, found: Found) -> float | None:
    if name not in header:
        return None
    line, text = header[name]
    value = parse_number(text.split()[0]) if text.split() else None
    if value is None:
        found.refuse(f"{path}:{line}", f"a number after {name!r}", text)
    return value


READER = Reader("dimacs", "output of the DIMACS vehicle-routing controller (.out)", _looks_like, _read)
