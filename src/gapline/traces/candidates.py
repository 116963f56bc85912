"""Read the candidates in the rows of a table: numbers, verdicts, and the reasons of rejected ones."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.diagnostics import MOST_PROBLEMS
from gapline.contract.number_limits import EXACT, INTEGER, is_exact, is_rounded
from gapline.contract.tables import RUN_KEY, Reason, VerdictCode
from gapline.errors import TraceError
from gapline.traces.blocks import Broken, Fault
from gapline.traces.repeated_rows import Rows


def not_exact(cells: pl.Series) -> NDArray[np.bool_]:
    """Mark the cells, numbers or text, that are integers without an exact double.

    >>> not_exact(pl.Series(["9007199254740993", "9007199254740992", "9007199254740993.0", None])).tolist()
    [True, False, False, False]
    """
    found = np.zeros(len(cells), np.bool_)
    if cells.dtype == pl.String:
        long = (cells.str.len_bytes() > 15) & cells.str.contains(INTEGER)
        rows = long.fill_null(False).arg_true()
        found[rows.to_numpy()] = [is_rounded(text) for text in cells.gather(rows).to_list()]
    elif cells.dtype.is_integer():
        rows = (cells.cast(pl.Float64).abs() >= EXACT).fill_null(False).arg_true()
        found[rows.to_numpy()] = [not is_exact(number) for number in cells.gather(rows).to_list()]
    elif cells.dtype.is_decimal():
        rows = (cells.cast(pl.Float64).abs() >= EXACT).fill_null(False).arg_true()
        numbers = cells.gather(rows).to_list()
        found[rows.to_numpy()] = [number == int(number) and not is_exact(int(number)) for number in numbers]
    return found


# Stricter than Python's `float`: no inf, nan, 1_000, Arabic digits or hexadecimal.
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
TRUE = ("true", "t", "yes", "1")
FALSE = ("false", "f", "no", "0")
EVENTS = ("time", "objective", "valid", "claimed", "reason", "bound", "primary", "secondary")


class Unreadable(NamedTuple):
    """The number of cells of a column that are not numbers, and the first of them."""

    number: int
    where: str
    cell: object


class CandidateProblems:
    """The first messages about unusable cells, and the number of all of them.

    `unit` is the unit of times in words. `judged` counts the candidates that the source does not declare invalid;
    `unreadable` counts those of them whose time or objective is not a number.
    """

    def __init__(self, source: str, unit: str = "seconds") -> None:
        self.source = source
        self.unit = unit
        self.judged = 0
        self.unreadable: dict[Reason, Unreadable] = {}
        self.messages: list[str] = []
        self.count = 0
        # For the current piece: the lines of its rows, and the number of rows kept before it.
        self.lines: Sequence[int] | NDArray[np.int64] = ()
        self.rows = 0
        # The row of each message, until the run of the row is known.
        self.about: dict[int, int] = {}

    def say(self, message: str) -> None:
        """Count a problem with a complete message."""
        self.count += 1
        if len(self.messages) < MOST_PROBLEMS:
            self.messages.append(message)

    def where(self, row: int) -> str:
        """Return the source and line of a row of the current piece."""
        return f"{self.source}:{self.lines[row]}"

    def add(self, bad: NDArray[np.bool_], expected: str, cells: pl.Series) -> None:
        """Count bad cells; `name_runs` adds their runs to the messages later."""
        self.count += int(np.count_nonzero(bad))
        for row in np.flatnonzero(bad)[: MOST_PROBLEMS - len(self.messages)].tolist():
            got = "nothing" if cells[row] is None else repr(cells[row])
            self.about[len(self.messages)] = self.rows + row
            self.messages.append(f"{self.where(row)}: expected {expected}, got {got}")

    def add_unreadable(self, bad: NDArray[np.bool_], cells: pl.Series, reason: Reason) -> None:
        """Count cells that are not numbers."""
        place = int(bad.argmax())
        found = self.unreadable.setdefault(reason, Unreadable(0, self.where(place), cells[place]))
        self.unreadable[reason] = found._replace(number=found.number + int(np.count_nonzero(bad)))

    def name_runs(self, keys: pl.DataFrame, rows: Rows) -> None:
        """Append the run to each message about a row."""
        for number, row in self.about.items():
            arm, instance, seed = keys.row(rows.head_of(row))
            self.messages[number] += f" (run {arm}/{instance}/{seed})"


def set_aside(
    table: pl.DataFrame, places: NDArray[np.int64], broken: Mapping[int, Broken], problems: CandidateProblems
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Report incomplete rows; return which rows are kept, and which of these hold truncated candidates."""
    keys = table.select(name for name in RUN_KEY if name in table.columns)
    # Some tools write a run without a solution as a short line without time and objective.
    empty = table.select(pl.col("time").is_null() & pl.col("objective").is_null()).to_series().to_numpy()
    kept, cut = np.ones(table.height, np.bool_), np.zeros(table.height, np.bool_)
    for place, (fault, expected, got) in sorted(broken.items()):
        first, end = np.searchsorted(places, [place, place + 1]).tolist()
        key = [str(cell or "").strip() for cell in keys.row(first)]
        # A row that was truncated inside its key cannot be assigned to a run.
        kept[first:end] = fault is not Fault.BLANK and (all(key) or fault is not Fault.CUT)
        cut[first:end] = fault is Fault.CUT or (fault is Fault.SHORT and not empty[first])
        if fault is not Fault.BLANK:
            who = f"run {'/'.join(key)}" if all(key) else "of no run: left out"
            problems.say(f"{problems.where(first)}: expected {expected}, got {got} ({who})")
    return kept, cut


def as_text(cells: pl.Series) -> pl.Series:
    """Return the cells as text without surrounding blanks; nested types are refused."""
    if cells.dtype.is_nested() or cells.dtype in (pl.Object, pl.Binary, pl.Duration):
        raise TraceError(f"column {cells.name}: expected text, got {cells.dtype}")
    return cells.cast(pl.String, strict=False).str.strip_chars()


class Candidates(NamedTuple):
    """The columns of candidates, and the reasons of rejected ones.

    `kept` marks the rows that are candidates, `blank` those with neither a time nor an objective.
    """

    columns: dict[str, NDArray[Any]]
    reasons: pl.Series | None
    kept: NDArray[np.bool_]
    blank: NDArray[np.bool_]


def read_candidates(
    table: pl.DataFrame, problems: CandidateProblems, cut: NDArray[np.bool_] | None = None
) -> Candidates:
    """Read the candidates: their numbers, their verdicts and the reasons of rejected ones."""
    verdict = _parse_verdicts(table, problems)
    time, time_state = parse_numbers(table["time"])
    objective, objective_state = parse_numbers(table["objective"])
    cut = np.zeros(table.height, np.bool_) if cut is None else cut
    columns: dict[str, NDArray[Any]] = {"time": time, "objective": objective, "verdict": verdict}
    for name in ("claimed", "bound", "primary", "secondary"):
        if name in table.columns:
            columns[name], state = parse_numbers(table[name])
            problems.add(state == _INEXACT, _AS_DOUBLE.format(f"a {name}"), table[name])
    # Fast path: in most pieces every row has a valid time and objective, so there is nothing to reject.
    good = not (np.count_nonzero(time_state) or np.count_nonzero(objective_state) or np.count_nonzero(cut))
    if good and "reason" not in table.columns and (not len(time) or time.min() >= 0):
        problems.judged += table.height
        return Candidates(columns, None, np.ones(table.height, np.bool_), np.zeros(table.height, np.bool_))
    no_time, no_objective = time_state == _EMPTY, objective_state == _EMPTY
    has_bound = np.isfinite(columns["bound"]) if "bound" in columns else np.zeros(table.height, np.bool_)
    bound_only = ~no_time & no_objective & has_bound & (verdict != VerdictCode.INVALID)
    verdict[bound_only] = VerdictCode.BOUND
    # A row without both is a run without a solution, not a candidate.
    blank = no_time & no_objective
    kept = ~blank | cut
    invalid = verdict == VerdictCode.INVALID

    # Created with the first reason, because most pieces have none.
    reasons: NDArray[Any] | None = None
    if "reason" in table.columns:
        # Reasons of other candidates are ignored; a column that cannot hold text is refused in any case.
        given = as_text(table["reason"].filter(pl.Series(invalid))).fill_null("").to_numpy()
        if invalid.any():
            reasons = np.full(table.height, "", dtype=object)
            reasons[invalid] = given
            # A rejected candidate without time and objective is still a candidate.
            kept |= reasons != ""
    if cut.any():
        # `set_aside` has already reported these rows as problems.
        reasons = np.full(table.height, "", dtype=object) if reasons is None else reasons
        reasons[cut & ~invalid] = Reason.ROW_CUT.value
        verdict[cut] = VerdictCode.INVALID
    problems.judged += int(np.count_nonzero(kept & ~bound_only & (verdict != VerdictCode.INVALID)))
    in_unit = f"a time in {problems.unit}"
    # The first rule that applies gives the reason, so the order matters: a missing time is not also a bad number.
    rules = (
        (no_time, in_unit, table["time"], Reason.TIME_MISSING),
        (time_state == _TEXT, in_unit, table["time"], Reason.TIME_NOT_A_NUMBER),
        (time_state == _INFINITE, "a finite time", table["time"], Reason.TIME_NOT_FINITE),
        (time_state == _INEXACT, _AS_DOUBLE.format("a time"), table["time"], Reason.TIME_NOT_EXACT),
        (time < 0, "a time of 0 or more", table["time"], Reason.TIME_NEGATIVE),
        (no_objective & ~bound_only, "an objective", table["objective"], Reason.OBJECTIVE_MISSING),
        (objective_state == _TEXT, "an objective", table["objective"], Reason.OBJECTIVE_NOT_A_NUMBER),
        (objective_state == _INFINITE, "a finite objective", table["objective"], Reason.OBJECTIVE_NOT_FINITE),
        (
            objective_state == _INEXACT,
            _AS_DOUBLE.format("an objective"),
            table["objective"],
            Reason.OBJECTIVE_NOT_EXACT,
        ),
    )
    for bad, expected, cells, reason in rules:
        fresh = bad & kept & (verdict != VerdictCode.INVALID)
        if fresh.any():
            problems.add(fresh, expected, cells)
            # A bound without a usable time is a problem, but not a candidate to reject.
            kept &= ~(fresh & bound_only)
            fresh &= ~bound_only
            if reason in _UNREADABLE and fresh.any():
                problems.add_unreadable(fresh, cells, reason)
            verdict[fresh] = VerdictCode.INVALID
            reasons = np.full(table.height, "", dtype=object) if reasons is None else reasons
            reasons[fresh] = reason.value
    named = None if reasons is None else pl.Series(reasons, dtype=pl.String)
    return Candidates(columns, None if named is None or not (named != "").any() else named, kept, blank)


_UNREADABLE = (Reason.TIME_NOT_A_NUMBER, Reason.OBJECTIVE_NOT_A_NUMBER)
_GOOD, _EMPTY, _TEXT, _INFINITE, _INEXACT = range(5)
_AS_DOUBLE = "{} that a double holds (each integer up to 2^53)"


def plain_numbers(cells: pl.Series) -> pl.Series | None:
    """Return numbers, or text cells with numbers, as doubles; None if a cell is neither finite nor missing.

    >>> plain_numbers(pl.Series(["1.5", None])).to_list(), plain_numbers(pl.Series(["1", "inf"]))
    ([1.5, None], None)
    """
    if cells.dtype != pl.String and not cells.dtype.is_numeric():
        return None
    numbers = cells.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == cells.null_count() and numbers.is_finite().all() else None


def parse_numbers(cells: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Return the numbers (NaN if unusable) and, per cell, a code: good, empty, text, infinite or inexact."""
    state = np.zeros(len(cells), np.uint8)
    numbers = plain_numbers(cells)
    if numbers is None or not (cells.dtype == pl.Float64 or (numbers.abs() < EXACT).all()):
        if cells.dtype == pl.String:
            cells = cells.str.strip_chars()
            cells = cells.set((cells == "").fill_null(value=False), None)
        if cells.dtype in (pl.String, pl.Null) or cells.dtype.is_numeric():
            # Polars accepts the numbers that a trace may have, and inf, nan and 1e400, which are not finite.
            numbers = cells.cast(pl.Float64, strict=False)
        else:
            numbers = pl.repeat(None, len(cells), dtype=pl.Float64, eager=True)
        state[numbers.is_null().to_numpy()] = _TEXT
        state[~numbers.is_finite().fill_null(value=True).to_numpy()] = _INFINITE
        if (numbers.abs() >= EXACT).any():
            state[not_exact(cells) & (state == _GOOD)] = _INEXACT
    if cells.null_count():
        state[cells.is_null().to_numpy()] = _EMPTY
    out = numbers.to_numpy()
    return (np.where(state == _GOOD, out, np.nan) if state.any() else out), state


def _parse_verdicts(table: pl.DataFrame, problems: CandidateProblems) -> NDArray[np.uint8]:
    if "valid" not in table.columns:
        return np.full(table.height, VerdictCode.VALID, np.uint8)
    cells = table["valid"]
    if cells.dtype == pl.Boolean:
        return cells.cast(pl.UInt8).fill_null(VerdictCode.UNCHECKED.value).to_numpy().copy()
    # Look at each distinct value once instead of at every row, in order of appearance.
    words = cells.unique(maintain_order=True) if cells.dtype == pl.String or cells.dtype.is_numeric() else cells
    text = as_text(words).str.to_lowercase()
    # pandas stores a column of 1, 0 and missing values as floats.
    if cells.dtype.is_float():
        text = text.str.strip_suffix(".0")
    known = dict.fromkeys(TRUE, VerdictCode.VALID) | dict.fromkeys(FALSE, VerdictCode.INVALID)
    # An empty cell means unchecked, neither valid nor invalid; a scoring option decides how these count.
    known[""] = VerdictCode.UNCHECKED
    strange = ~text.fill_null("").is_in(list(known))
    if strange.any():
        word = words[strange.arg_true()[0]]
        row = cells.eq_missing(pl.Series([word], dtype=cells.dtype)).arg_true()[0]
        raise TraceError(
            f"{problems.where(row)}: expected true, false or nothing in valid, got {cells[row]!r}",
            hint="leave the cell empty for a candidate that nobody has checked",
        )
    codes = text.fill_null("").replace_strict(list(known), [int(c) for c in known.values()], return_dtype=pl.UInt8)
    if words.len() == 1:
        return np.full(table.height, codes[0], np.uint8)
    if words.len() < table.height:
        there = words.is_not_null()
        codes = cells.replace_strict(words.filter(there), codes.filter(there), return_dtype=pl.UInt8)
    return codes.fill_null(VerdictCode.UNCHECKED.value).to_numpy().copy()
