"""The progress lines of MIP solvers, split into tokens instead of matched by a pattern, so that any line is cheap."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gapline.logs.lines import parse_number

# Rows of solvers are below 250 characters; a longer line is not a row.
MOST_ROW = 500
_INTEGER = re.compile(r"[0-9]{1,18}\+?")
_COUNT = re.compile(r"[0-9]{1,18}")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "y": 365 * 86400.0}


class Number(NamedTuple):
    """A printed number and the unit of its last digit: 2.1000e+09 means 2.1e9 plus or minus half of 1e5."""

    value: float
    unit: float

    def may_be(self, value: float) -> bool:
        """Whether this print may stand for a value."""
        return abs(self.value - value) <= 0.500001 * self.unit + 1e-12 * abs(value)


class Row(NamedTuple):
    """One progress line. `found` says that the solver marks a new incumbent; `time` is None if it prints none.

    `is_relative` says that the clock of this line began with the solve instead of the whole call; `is_final` that the
    line states the result of the search.
    """

    line: int
    time: Number | None
    primal: Number | None = None
    dual: Number | None = None
    found: bool = False
    is_relative: bool = False
    is_final: bool = False


class Stamped(NamedTuple):
    """A row with its moment (NaN if the log gives none) and the largest possible error of the moment."""

    moment: float
    slack: float
    row: Row


def read_printed(text: str, digits: int = 0) -> Number | None:
    """Read a number with the unit of its last digit; `digits` is the precision of a print that omits trailing zeros.

    >>> read_printed("2.1000e+09")
    Number(value=2100000000.0, unit=100000.0)
    >>> read_printed("1526"), read_printed("1526", 8), read_printed("--"), read_printed("-inf")
    (Number(value=1526.0, unit=1.0), Number(value=1526.0, unit=0.0001), None, None)
    """
    value = parse_number(text)
    if value is None:
        return None
    mantissa, _, exponent = text.lower().partition("e")
    power = (int(exponent) if exponent else 0) - len(mantissa.partition(".")[2])
    if len(text) <= digits:
        power = min(power, (math.floor(math.log10(abs(value))) if value else 0) + 1 - digits)
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
    """SCIP's table, whose columns are named in a header that is repeated every few rows; users may choose them."""

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
    """Read a row of Gurobi's tree table or of its NoRel heuristic, or an incumbent before them."""
    if found := _GUROBI_UNTIMED.match(line):
        digits = 6 if line.startswith("Loaded") else 0
        return Row(number, None, read_printed(found[1], digits), found=True)
    if found := _GUROBI_TIMED.match(line):
        return Row(number, read_stamp(found[2]), read_printed(found[1], 6), found=True)
    if norel := _GUROBI_NOREL.match(line):
        return Row(number, read_stamp(norel[1]), dual=read_printed(norel[2] or "", 6), is_relative=True)
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
        return Row(number, None, read_printed(line.rpartition(" ")[2], 10), found=True)
    tokens = line.split()
    if len(tokens) < 12 or not tokens[-1].endswith("s") or not _percent(tokens[-9]):
        return None
    stamp = read_stamp(tokens[-1])
    if stamp is None:
        return None
    # HiGHS marks the source of an incumbent by a letter before the counts; counts may have a letter after them: 1001k.
    is_new = not tokens[0][0].isdecimal()
    return Row(number, stamp, read_printed(tokens[-7], 10), read_printed(tokens[-8], 10), is_new)


_CPLEX_FOUND = re.compile(r"Found incumbent of value (\S{1,60}) after (\S{1,20}) sec")
_CPLEX_CLOCK = re.compile(r"Elapsed (?:real )?time =\s{1,20}(\S{1,20}) sec")
# `* 12+    4  INCUMBENT BOUND` was found by a heuristic, `* 12 4 integral 0 INCUMBENT BOUND` at a node; wide counts
# leave no space: `*367357+280317`.
_CPLEX_NEW = re.compile(
    r"\*\s{0,9}[0-9]{1,18}(?:\+\s{0,9}[0-9]{1,18}|\s{1,9}[0-9]{1,18}\s{1,20}integral\s{1,9}0)\s(.{1,200})"
)


def read_cplex(line: str, number: int) -> Row | None:
    """Read a row of CPLEX, which has no stamp, an incumbent with a stamp, or a line with the time between rows."""
    if found := _CPLEX_FOUND.match(line):
        return Row(number, read_stamp(found[2]), read_printed(found[1]), found=True)
    if clock := _CPLEX_CLOCK.match(line):
        stamp = read_stamp(clock[1])
        return None if stamp is None else Row(number, stamp)
    if new := _CPLEX_NEW.match(line):
        primal, dual = [*str(new[1]).split(), "", ""][:2]
        return Row(number, None, read_printed(primal), read_printed(dual), found=True)
    tokens = line.split()
    if len(tokens) < 5 or not all(_COUNT.fullmatch(token) for token in tokens[:2]):
        return None
    if _percent(tokens[-1]) or tokens[-1] == "---":
        # `Cuts: 12` replaces the bound in some rows.
        has_bound = len(tokens) > 5 and _COUNT.fullmatch(tokens[-2]) is not None and not tokens[-4].endswith(":")
        return Row(number, None, read_printed(tokens[-4]), read_printed(tokens[-3])) if has_bound else None
    # Before the first incumbent, a row ends with the bound and the count of iterations.
    is_bound = len(tokens) in (5, 6) and _COUNT.fullmatch(tokens[-1]) is not None and "." in tokens[-2]
    return Row(number, None, None, read_printed(tokens[-2])) if is_bound and not tokens[-3].endswith(":") else None


_CBC_FOUND = re.compile(r"Cbc00(?:04|12|16|33)I Integer solution of (\S{1,60}) found .{0,120}\((\S{1,20}) seconds\)")
_CBC_AFTER = re.compile(
    r"Cbc0010I After [0-9]{1,18} nodes, [0-9]{1,18} on tree, (\S{1,60}) best solution, best possible (\S{1,60}) "
    r"\((\S{1,20}) seconds\)"
)
_CBC_GAP = re.compile(r"Cbc0011I Exiting as integer gap of (\S{1,60}) less than ")
_CBC_END = re.compile(
    r"Cbc000(?:1I Search completed|5I Partial search) - best objective ([^\s,]{1,60})"
    r"(?: \(best possible (\S{1,60})\))?, took .{0,80}\((\S{1,20}) seconds\)"
)


@dataclass(slots=True)
class CbcTable:
    """The lines of CBC: incumbents, progress, and the end of the search, whose gap is printed before it."""

    gap: Number | None = None

    def __call__(self, line: str, number: int) -> Row | None:
        """Read one line."""
        if not line.startswith("Cbc00"):
            return None
        if found := _CBC_FOUND.match(line):
            return Row(number, read_stamp(found[2]), read_printed(found[1], 8), found=True)
        if after := _CBC_AFTER.match(line):
            return Row(number, read_stamp(after[3]), _incumbent(after[1], 8), read_printed(after[2], 8))
        if gap := _CBC_GAP.match(line):
            self.gap = read_printed(gap[1], 8)
        elif end := _CBC_END.match(line):
            primal = _incumbent(end[1], 8)
            dual = primal if end[2] is None else read_printed(end[2], 8)
            if end[2] is None and primal is not None and self.gap is not None:
                dual = Number(primal.value - self.gap.value, max(primal.unit, self.gap.unit))
            return Row(number, read_stamp(end[3]), primal, dual, is_final=True)
        return None


def _incumbent(text: str, digits: int) -> Number | None:
    """Read an incumbent of CBC, which prints 1e+50 if it has none yet."""
    number = read_printed(text, digits)
    return None if number is None or abs(number.value) >= 1e50 else number


_XPRESS_FOUND = re.compile(
    r" ?\*\*\* (?:Heuristic s|S)olution found:\s{1,20}(\S{1,60})\s{1,20}Time:\s{1,20}([0-9.]{1,20})\s"
)


def read_xpress(line: str, number: int) -> Row | None:
    """Read a row of Xpress' cutting or tree table, or an incumbent announced between them."""
    if found := _XPRESS_FOUND.match(line):
        return Row(number, read_stamp(found[2]), read_printed(found[1]), found=True)
    tokens = line.split()
    if len(tokens) < 6 or not _COUNT.fullmatch(tokens[-1]) or not _COUNT.fullmatch(tokens[-2]):
        return None
    values = [token for token in tokens[:4] if "." in token and not token.endswith("%")]
    # The gap is not a percentage if the bound is 0.
    if len(values) < 2 and not any(_percent(token) for token in tokens[-4:-1]):
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


# The readers of lines, made for each solve: some tables keep state from one line to the next.
_TABLES: dict[str, Callable[[], Callable[[str, int], Row | None]]] = {
    "scip": ScipTable,
    "cbc": CbcTable,
    "gurobi": lambda: read_gurobi,
    "highs": lambda: read_highs,
    "cplex": lambda: read_cplex,
    "xpress": lambda: read_xpress,
    "copt": lambda: read_copt,
    "mosek": lambda: read_mosek,
}


def progress_rows(solver: str, lines: list[tuple[int, str]]) -> Iterator[Row]:
    """Yield the progress lines of one solve in the order of the log."""
    if solver not in _TABLES:
        return iter(())
    read_row = _TABLES[solver]()
    rows = (read_row(line, number) for number, line in lines if len(line) <= MOST_ROW)
    return (row for row in rows if row is not None)


def stamp_rows(rows: list[Row], *, end: float | None, start: float = 0.0) -> list[Stamped]:
    """Give every row a moment that is consistent with the log: order in the file is order in time.

    A stamp `0s` stands for any moment of that second, so a row with it that follows one at 0.02 s is at 0.02 s. A row
    without a stamp lies between its neighbours: it gets the next stamp, its latest possible moment, and its slack
    reaches back to the stamp before. If no stamp follows, the end of the search is the limit; a log that was cut off
    before has no end, and the row has no moment (NaN). `start` is when the solve began on the clock of the log.
    """
    stamped: list[Stamped] = []
    floor, waiting = start, 0
    for row in rows:
        if row.time is None:
            waiting += 1
            continue
        value, unit = row.time
        if row.is_relative:
            value += start
        moment = floor if value < floor < value + unit else value
        if waiting:
            latest = value + unit if end is None else max(min(value + unit, end), moment)
            untimed = rows[len(stamped) : len(stamped) + waiting]
            stamped += [Stamped(moment, round(max(latest - floor, 0.0), 9), one) for one in untimed]
            waiting = 0
        stamped.append(Stamped(moment, unit, row))
        floor = max(floor, moment)
    moment = math.nan if end is None else max(end, floor)
    return stamped + [Stamped(moment, round(moment - floor, 9), one) for one in rows[len(stamped) :]]
