"""The progress lines of MIP solvers, read by tokens, not by a pattern: a hostile line costs no more than a split."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gapline.capture.loglines import parse_number

# Rows of solvers are below 250 characters; a longer line is no row.
MOST_ROW = 500
_INTEGER = re.compile(r"[0-9]{1,18}\+?")
_COUNT = re.compile(r"[0-9]{1,18}")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "y": 365 * 86400.0}


class Number(NamedTuple):
    """A printed number and the unit of its last digit: 2.1000e+09 stands for 2.1e9 give or take half of 1e5."""

    value: float
    unit: float

    def may_be(self, value: float) -> bool:
        """Say whether this print may stand for that value."""
        return abs(self.value - value) <= 0.500001 * self.unit + 1e-12 * abs(value)


class Row(NamedTuple):
    """One progress line. `found` says that the solver marks a new incumbent; `time` is None where it prints none."""

    line: int
    time: Number | None
    primal: Number | None = None
    dual: Number | None = None
    found: bool = False


def read_printed(text: str) -> Number | None:
    """Read a number with the unit of its last digit.

    >>> read_printed("2.1000e+09")
    Number(value=2100000000.0, unit=100000.0)
    >>> read_printed("1526"), read_printed("--"), read_printed("-inf")
    (Number(value=1526.0, unit=1.0), None, None)
    """
    value = parse_number(text)
    if value is None:
        return None
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    power = (int(exponent) if exponent else 0) - digits
    return Number(value, 10.0**power if -300 < power < 300 else 0.0)


def read_stamp(text: str) -> Number | None:
    """Read `12s`, `0.4s`, `12.5m` or a plain number as seconds with their resolution."""
    scale = _SECONDS.get(text[-1:], 0.0)
    number = read_printed(text[:-1] if scale else text)
    if number is None or number.value < 0:
        return None
    return Number(number.value * (scale or 1.0), number.unit * (scale or 1.0))


def _percent(text: str) -> bool:
    return text.endswith("%") and parse_number(text[:-1]) is not None


@dataclass(slots=True)
class ScipTable:
    """SCIP names its columns in a header that comes back every few rows; users may choose the columns."""

    time: int = -1
    primal: int = -1
    dual: int = -1

    def __call__(self, line: str, number: int) -> Row | None:
        """Read one line."""
        if "|" in line:
            cells = line.split("|")
            if "primalbound" in line or "dualbound" in line:
                names = [cell.strip() for cell in cells]
                self.time, self.primal, self.dual = (
                    names.index(name) if name in names else -1 for name in ("time", "primalbound", "dualbound")
                )
                return None
            if self.time != 0 or len(cells) <= max(self.primal, self.dual):
                return None
            mark, stamp = line[:1], read_stamp(cells[0][1:].strip())
            if stamp is None:
                return None
            primal = read_printed(cells[self.primal].strip()) if self.primal >= 0 else None
            dual = read_printed(cells[self.dual].strip()) if self.dual >= 0 else None
            return Row(number, stamp, primal, dual, found=mark != " " and primal is not None)
        if "feasible solution found by" in line and " seconds, objective value " in line:
            before, _, value = line.partition(" seconds, objective value ")
            stamp = read_stamp(before.rpartition(" after ")[2])
            return Row(number, stamp, read_printed(value.strip()), found=True)
        return None


_GUROBI_UNTIMED = re.compile(
    r"(?:Found heuristic solution:|Loaded (?:user MIP start|MIP start from previous solve) with) objective (\S{1,60})"
)
_GUROBI_TIMED = re.compile(r"User MIP start produced solution with objective (\S{1,60}) \((\S{1,20})\)")
_GUROBI_NOREL = re.compile(r"Elapsed time for NoRel heuristic: ([0-9]{1,12}s)(?: \(best bound ([^\s),]{1,60}))?")


def read_gurobi(line: str, number: int) -> Row | None:
    """Read a row of Gurobi's tree table, of its NoRel heuristic, or an incumbent that comes before them."""
    if found := _GUROBI_UNTIMED.match(line):
        return Row(number, None, read_printed(found[1]), found=True)
    if found := _GUROBI_TIMED.match(line):
        return Row(number, read_stamp(found[2]), read_printed(found[1]), found=True)
    if norel := _GUROBI_NOREL.match(line):
        return Row(number, read_stamp(norel[1]), dual=read_printed(norel[2] or ""))
    is_new = line.startswith(("H", "*"))
    # From the right: columns on the left are empty in some rows, and differ between versions.
    tokens = line[is_new:].split()
    if len(tokens) < 7 or not all(_INTEGER.fullmatch(token) for token in tokens[:2]):
        return None
    stamp = read_stamp(tokens[-1]) if tokens[-1].endswith("s") else None
    if stamp is None or not (tokens[-3] == "-" or _percent(tokens[-3])):
        return None
    return Row(number, stamp, read_printed(tokens[-5]), read_printed(tokens[-4]), found=is_new)


def read_highs(line: str, number: int) -> Row | None:
    """Read a row of HiGHS' table, or the objective of a start solution."""
    if line.startswith("MIP start solution is feasible, objective value is "):
        return Row(number, None, read_printed(line.rpartition(" ")[2]), found=True)
    tokens = line.split()
    if len(tokens) < 12 or not tokens[-1].endswith("s") or not _percent(tokens[-9]):
        return None
    stamp = read_stamp(tokens[-1])
    # HiGHS marks the source of an incumbent by a letter before the counts.
    found = not _COUNT.fullmatch(tokens[0])
    return None if stamp is None else Row(number, stamp, read_printed(tokens[-7]), read_printed(tokens[-8]), found)


_CPLEX_FOUND = re.compile(r"Found incumbent of value (\S{1,60}) after (\S{1,20}) sec")
_CPLEX_CLOCK = re.compile(r"Elapsed (?:real )?time =\s{1,20}(\S{1,20}) sec")


def read_cplex(line: str, number: int) -> Row | None:
    """Read a row of CPLEX, which has no stamp, an incumbent with one, or a line that tells the time between rows."""
    if found := _CPLEX_FOUND.match(line):
        return Row(number, read_stamp(found[2]), read_printed(found[1]), found=True)
    if clock := _CPLEX_CLOCK.match(line):
        stamp = read_stamp(clock[1])
        return None if stamp is None else Row(number, stamp)
    tokens = line.split()
    is_new = line.startswith("*")
    if len(tokens) < 5 + is_new or not _percent(tokens[-1]):
        return None
    if not all(_INTEGER.fullmatch(token) for token in tokens[is_new : is_new + 2]):
        return None
    if is_new:
        # `* 12+ 4  INCUMBENT BOUND` was found by a heuristic, `* 12 4 integral 0 INCUMBENT BOUND` at a node.
        primal, dual = [*(tokens[3:] if tokens[1].endswith("+") else tokens[5:]), "", ""][:2]
        return Row(number, None, read_printed(primal), read_printed(dual), found=True)
    # `Cuts: 12` stands where the bound would.
    has_bound = _COUNT.fullmatch(tokens[-2]) is not None and not tokens[-4].endswith(":")
    return Row(number, None, read_printed(tokens[-4]), read_printed(tokens[-3])) if has_bound else None


_CBC_FOUND = re.compile(r"Cbc00(?:04|12|16)I Integer solution of (\S{1,60}) found .{0,120}\((\S{1,20}) seconds\)")
_CBC_AFTER = re.compile(
    r"Cbc0010I After [0-9]{1,18} nodes, [0-9]{1,18} on tree, (\S{1,60}) best solution, best possible (\S{1,60}) "
    r"\((\S{1,20}) seconds\)"
)


def read_cbc(line: str, number: int) -> Row | None:
    """Read an incumbent or a progress line of CBC."""
    if not line.startswith("Cbc00"):
        return None
    if found := _CBC_FOUND.match(line):
        return Row(number, read_stamp(found[2]), read_printed(found[1]), found=True)
    if after := _CBC_AFTER.match(line):
        primal = read_printed(after[1])
        # CBC prints 1e+50 where it has no incumbent yet.
        no_incumbent = primal is None or abs(primal.value) >= 1e50
        return Row(number, read_stamp(after[3]), None if no_incumbent else primal, read_printed(after[2]))
    return None


_XPRESS_FOUND = re.compile(r" ?\*\*\* Solution found:\s{1,20}(\S{1,60})\s{1,20}Time:\s{1,20}([0-9.]{1,20})\s")


def read_xpress(line: str, number: int) -> Row | None:
    """Read a row of Xpress' cutting or tree table, or an incumbent announced between them."""
    if found := _XPRESS_FOUND.match(line):
        return Row(number, read_stamp(found[2]), read_printed(found[1]), found=True)
    tokens = line.split()
    if len(tokens) < 6 or not _COUNT.fullmatch(tokens[-1]) or not _COUNT.fullmatch(tokens[-2]):
        return None
    values = [token for token in tokens[:4] if "." in token and not token.endswith("%")]
    if not any(_percent(token) for token in tokens[-4:-1]):
        # Before the first incumbent a row has a bound, no gap, and counts elsewhere.
        counts = sum(_COUNT.fullmatch(token) is not None for token in tokens)
        is_bound = len(values) == 1 and counts >= 5 and len(tokens) - counts <= 2
        return Row(number, read_stamp(tokens[-1]), None, read_printed(values[0])) if is_bound else None
    found_here = not _COUNT.fullmatch(tokens[0])
    if len(values) < 2:
        return Row(number, read_stamp(tokens[-1]), None, read_printed(values[0]) if values else None)
    return Row(number, read_stamp(tokens[-1]), read_printed(values[0]), read_printed(values[1]), found_here)


def read_copt(line: str, number: int) -> Row | None:
    """Read a row of COPT's table."""
    tokens = line.split()
    if len(tokens) < 8 or not tokens[-1].endswith("s") or not (_percent(tokens[-2]) or tokens[-2] == "Inf"):
        return None
    found = tokens[0] in ("H", "*")
    stamp = read_stamp(tokens[-1])
    if stamp is None or not all(_COUNT.fullmatch(token) for token in tokens[found : found + 2]):
        return None
    return Row(number, stamp, read_printed(tokens[-3]), read_printed(tokens[-4]), found)


def read_mosek(line: str, number: int) -> Row | None:
    """Read a row of Mosek's table, which marks no incumbents."""
    tokens = line.split()
    if len(tokens) != 8 or not all(_COUNT.fullmatch(token) for token in tokens[:4]):
        return None
    if any(token != "NA" and parse_number(token) is None for token in tokens[4:7]):
        return None
    stamp = read_stamp(tokens[7])
    return None if stamp is None else Row(number, stamp, read_printed(tokens[4]), read_printed(tokens[5]))


_TABLES: dict[str, Callable[[str, int], Row | None]] = {
    "gurobi": read_gurobi,
    "highs": read_highs,
    "cplex": read_cplex,
    "cbc": read_cbc,
    "xpress": read_xpress,
    "copt": read_copt,
    "mosek": read_mosek,
}


def progress_rows(solver: str, lines: list[tuple[int, str]]) -> Iterator[Row]:
    """Yield the progress lines of one solve in the order of the log."""
    read_row = ScipTable() if solver == "scip" else _TABLES.get(solver)
    if read_row is None:
        return
    for number, line in lines:
        row = read_row(line, number) if len(line) <= MOST_ROW else None
        if row is not None:
            yield row


def stamp_rows(rows: list[Row], *, end: float | None) -> tuple[list[tuple[float, Row]], float | None]:
    """Give every row a moment, and return the rows with it and the resolution of the coarsest stamp (None without any).

    A row without a stamp is put at the latest moment that the log allows, so that no run looks earlier than it was: the
    next stamp, which may be rounded, plus its resolution, or the stated end where that is earlier, or else NaN.
    """
    moments: list[float] = [math.nan] * len(rows)
    coming = math.nan if end is None else end
    resolution = 0.0
    # Backwards, because the bound of a row without a stamp is the stamp that follows it.
    for index in range(len(rows) - 1, -1, -1):
        stamp = rows[index].time
        if stamp is None:
            moments[index] = coming
            continue
        moments[index] = stamp.value
        resolution = max(resolution, stamp.unit)
        coming = round(stamp.value + stamp.unit, 9)
        if end is not None:
            coming = max(min(coming, end), stamp.value)
    return list(zip(moments, rows, strict=True)), resolution or None
