"""The `.out` files of the DIMACS vehicle-routing controller: header, rows of decimals, and its own integral."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gapline.contract.number_limits import EXACT
from gapline.contract.tables import RunStatus
from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import log_lines, parse_number, shown, torn_line
from gapline.logs.reader import Found, FoundRun, LogFile, Reader, SourceReference


def parse_decimal_rows(block: bytes, *, columns: int, wanted: Sequence[int]) -> list[NDArray[np.float64]] | None:
    r"""Read lines of unsigned decimals separated by one blank: some of the columns, or None if a line differs.

    >>> block = b"7735.6 0.167 0.165\n7700 1.5 1.4\n"
    >>> [column.tolist() for column in parse_decimal_rows(block, columns=3, wanted=[0, 2])]
    [[7735.6, 7700.0], [0.165, 1.4]]
    >>> parse_decimal_rows(b"7735,6 0.167 0.165\n", columns=3, wanted=[0]) is None
    True
    """
    # Without digits and points only the separators remain, the same in every line: then no line has too many cells, and
    # if there are as many cells as the lines can hold, none has too few.
    shape = block.translate(None, b"0123456789.")
    line = shape[: shape.find(b"\n") + 1]
    rows, blanks = shape.count(b"\n"), line.removesuffix(b"\n").removesuffix(b"\r")
    if not line or len(blanks) != columns - 1 or blanks.strip(b" \t") or shape != line * rows:
        return None
    # As text: `float` is slower on bytes.
    cells = block.decode("ascii").split()
    if len(cells) != columns * rows or not block.endswith(b"\n"):
        return None
    try:
        return [np.fromiter(map(float, cells[place::columns]), np.float64, rows) for place in wanted]
    except ValueError:
        return None


THRESHOLD = 1.1
SCALING = (
    "DIMACS: times are the controller's standardized seconds (local seconds scaled by PassMark); "
    "gapline applies no scaling of its own"
)
_TABLE = b"Solution value"
_AFTER_ROW = re.compile(rb"[ \t]*(?:Solution value|[A-Za-z][^\n:]{0,80}:)")
_AFTER_ROWS = re.compile(rb"\n" + _AFTER_ROW.pattern)
_HEADER = re.compile(rb"^(?:Standardized Time limit|Local Machine Time Limit|Base solution|BKS)\s*:", re.M | re.I)


def _looks_like(_path: str, head: bytes) -> bool:
    return (_TABLE in head and b"standardized time" in head) or len(_HEADER.findall(head, 0, 4096)) >= 2


@dataclass(slots=True)
class _LogSection:
    """One run of a file: the events of its rows, and its header lines, including the integral line after its rows."""

    events: EventList
    header: dict[str, tuple[int, str]] = field(default_factory=dict)
    has_table: bool = False

    def ends_before(self, name: str) -> bool:
        """Whether a header line belongs to the next run: after rows or an integral, or if it is a second instance."""
        if name == "primal integral":
            return False
        known = "primal integral" in self.header or (name == "instance" and name in self.header)
        return self.has_table or known


def _read(log: LogFile) -> Found:
    found = Found()
    for section in _sections(log, found):
        found.runs.append(_read_section(section, log.path, found))
    if not found.runs:
        raise TraceError(f"{log.path}: expected header lines of the DIMACS controller, got {shown(log.head[:60])}")
    return found.numbered()


def _sections(log: LogFile, found: Found) -> Iterator[_LogSection]:
    """Split a file into runs, block by block."""
    current, line, in_rows = _LogSection(EventList(found.problems)), 1, False
    for block in log.blocks():
        at = 0
        while at < len(block):
            if in_rows:
                end = _end_of_rows(block, at)
                if at < end:
                    _read_rows(block[at:end], current.events, line, log.path, found)
                in_rows = end == len(block)
            else:
                table = block.find(_TABLE, at)
                for offset, text, whole in _header_lines(block[at : len(block) if table < 0 else table], table >= 0):
                    key, _, value = text.partition(":")
                    name = key.strip().lower()
                    if current.ends_before(name):
                        yield current
                        current = _LogSection(EventList(found.problems))
                    # A number that was cut by the end of the file is another number.
                    if whole:
                        current.header[name] = (line + offset - 1, value.strip())
                end = len(block) if table < 0 else block.find(b"\n", table) + 1 or len(block)
                in_rows = table >= 0
                if in_rows and current.has_table:
                    yield current
                    current = _LogSection(EventList(found.problems))
                current.has_table |= in_rows
            line += block.count(b"\n", at, end)
            at = end
    if current.header or current.has_table:
        yield current


def _header_lines(text: bytes, before_table: bool) -> Iterator[tuple[int, str, bool]]:
    """Yield the lines with a colon, their numbers from 1, and whether they are complete."""
    torn = 0 if before_table else torn_line(text)
    return ((number, line, number != torn) for number, line in log_lines(text) if ":" in line)


def _end_of_rows(block: bytes, at: int) -> int:
    """Return the end of the rows that begin at a place: the next header, or the end of the block."""
    if _AFTER_ROW.match(block, at):
        return at
    stop = _AFTER_ROWS.search(block, at)
    return len(block) if stop is None else stop.start() + 1


def _read_section(section: _LogSection, path: str, found: Found) -> FoundRun:
    header = section.header
    instance = header["instance"][1] if "instance" in header else None
    horizon = _number(header, "standardized time limit", path, found)
    best_known = _number(header, "bks", path, found)
    passmark = _number(header, "passmark single thread benchmark", path, found)
    seed = _number(header, "seed", path, found)
    run = FoundRun(
        **section.events.columns(),
        # The controller stamps solutions as they arrive.
        clock="wall",
        arm=header["competitor"][1] or None if "competitor" in header else None,
        instance=instance or None,
        seed=int(seed) if seed is not None and seed == int(seed) else None,
        horizon=horizon if horizon is not None and horizon > 0 else None,
        status=RunStatus.FINISHED if "primal integral" in header else RunStatus.KILLED,
        carried={"passmark": passmark, "local_horizon": _number(header, "local machine time limit", path, found)},
    )
    if passmark is not None and SCALING not in found.notes:
        found.notes.append(SCALING)
    if best_known is not None:
        certified = header.get("optimal", (0, "0"))[1].lower() in ("1", "true", "yes")
        found.references.append(SourceReference(instance or "", best_known, certified, "DIMACS controller header"))
        integral = _number(header, "primal integral", path, found)
        # The controller prints per cent; a kernel with θ needs a positive reference.
        if integral is not None and best_known > 0:
            run.stated_integral = (f"dimacs:{_threshold(header, best_known)!r}", integral / 100)
    return run


def _threshold(header: dict[str, tuple[int, str]], best_known: float) -> float:
    """Return θ: 1.1, unless the base solution at which the integral starts gives another value."""
    base = parse_number(header.get("base solution", (0, ""))[1])
    # The base is printed rounded: within that rounding, it is 1.1 times the reference.
    if base is None or abs(base - THRESHOLD * best_known) <= 0.0011 * max(1.0, best_known * 1e-6):
        return THRESHOLD
    return base / best_known


def _read_rows(rows: bytes, events: EventList, first_line: int, path: str, found: Found) -> None:
    # Plain rows, almost all of them, are read in bulk; an unusual cell sends the block to the slow path below.
    columns = parse_decimal_rows(rows, columns=3, wanted=[0, 2])
    if columns is not None and max(column.max() for column in columns) < EXACT:
        events.add_valid(columns[1], columns[0])
        return
    torn_at = torn_line(rows)
    for offset, text in log_lines(rows):
        cells = text.split()
        if not cells:
            continue
        where = f"{path}:{first_line + offset - 1}"
        if offset == torn_at:
            found.refuse_torn(where, text)
        elif len(cells) != 3:
            found.refuse(where, "value, local time, standardized time", text)
            stamp = cells[2] if len(cells) > 3 else None
            events.add(stamp, cells[0], where=where, valid=False, reason="row not of three columns")
        else:
            events.add(cells[2], cells[0], where=where)


def _number(header: dict[str, tuple[int, str]], name: str, path: str, found: Found) -> float | None:
    if name not in header:
        return None
    line, text = header[name]
    cells = text.split(None, 1)
    value = parse_number(cells[0]) if cells else None
    if value is None:
        found.refuse(f"{path}:{line}", f"a number after {name!r}", text)
    return value


READER = Reader("dimacs", "output of the DIMACS vehicle-routing controller (.out)", _looks_like, _read)
