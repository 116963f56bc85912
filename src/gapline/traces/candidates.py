"""The candidates in the rows of a table: numbers, verdicts, and what is wrong with the rejected ones."""

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
    """Mark the cells, numbers or text, that are integers and that no double holds.

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


# What Python's float would take and a trace must not: inf, nan, 1_000, Arabic digits, hexadecimal.
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
TRUE = ("true", "t", "yes", "1")
FALSE = ("false", "f", "no", "0")
EVENTS = ("time", "objective", "valid", "claimed", "reason", "bound", "primary", "secondary")


class Unreadable(NamedTuple):
    """How many cells of a column are no numbers, and the first of them."""

    number: int
    where: str
    cell: object


class CandidateProblems:
    """The first messages about cells that could not be used, and how many there were.

    `unit` says in words what times are numbers of. Of the candidates that were `judged`, each without the source's own
    word that it is invalid, some have an `unreadable` time or objective.
    """

    def __init__(self, source: str, unit: str = "seconds") -> None:
        self.source = source
        self.unit = unit
        self.judged = 0
        self.unreadable: dict[Reason, Unreadable] = {}
        self.messages: list[str] = []
        self.count = 0
        # Of the piece that is read: the lines of its rows, and how many rows were kept before it.
        self.lines: Sequence[int] | NDArray[np.int64] = ()
        self.rows = 0
        # Which message is about which row, until its run is known.
        self.about: dict[int, int] = {}

    def say(self, message: str) -> None:
        """Count a problem that is told whole."""
        self.count += 1
        if len(self.messages) < MOST_PROBLEMS:
            self.messages.append(message)

    def where(self, row: int) -> str:
        """Name the place of a row of the piece that is read."""
        return f"{self.source}:{self.lines[row]}"

    def add(self, bad: NDArray[np.bool_], expected: str, cells: pl.Series) -> None:
        """Count the cells that are bad; which run they belong to is said by `name_runs`."""
        self.count += int(np.count_nonzero(bad))
        for row in np.flatnonzero(bad)[: MOST_PROBLEMS - len(self.messages)].tolist():
            got = "nothing" if cells[row] is None else repr(cells[row])
            self.about[len(self.messages)] = self.rows + row
            self.messages.append(f"{self.where(row)}: expected {expected}, got {got}")

    def add_unreadable(self, bad: NDArray[np.bool_], cells: pl.Series, reason: Reason) -> None:
        """Count cells that are no numbers."""
        place = int(bad.argmax())
        found = self.unreadable.setdefault(reason, Unreadable(0, self.where(place), cells[place]))
        self.unreadable[reason] = found._replace(number=found.number + int(np.count_nonzero(bad)))

    def name_runs(self, keys: pl.DataFrame, rows: Rows) -> None:
        """Say of each message about a row which run it belongs to."""
        for number, row in self.about.items():
            arm, instance, seed = keys.row(rows.head_of(row))
            self.messages[number] += f" (run {arm}/{instance}/{seed})"


def set_aside(
    table: pl.DataFrame, places: NDArray[np.int64], broken: Mapping[int, Broken], problems: CandidateProblems
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Name rows that are not whole; return which rows stay, and which of these are no candidates to believe."""
    keys = table.select(name for name in RUN_KEY if name in table.columns)
    # A short line without time and objective is how some write a run that found nothing.
    empty = table.select(pl.col("time").is_null() & pl.col("objective").is_null()).to_series().to_numpy()
    kept, cut = np.ones(table.height, np.bool_), np.zeros(table.height, np.bool_)
    for place, (fault, expected, got) in sorted(broken.items()):
        first, end = np.searchsorted(places, [place, place + 1]).tolist()
        key = [str(cell or "").strip() for cell in keys.row(first)]
        # What was cut inside its key belongs to no run that anybody could name.
        kept[first:end] = fault is not Fault.BLANK and (all(key) or fault is not Fault.CUT)
        cut[first:end] = fault is Fault.CUT or (fault is Fault.SHORT and not empty[first])
        if fault is not Fault.BLANK:
            who = f"run {'/'.join(key)}" if all(key) else "of no run: left out"
            problems.say(f"{problems.where(first)}: expected {expected}, got {got} ({who})")
    return kept, cut


def as_text(cells: pl.Series) -> pl.Series:
    """Return the cells as text without blanks around it, refusing lists and the like."""
    if cells.dtype.is_nested() or cells.dtype in (pl.Object, pl.Binary, pl.Duration):
        raise TraceError(f"column {cells.name}: expected text, got {cells.dtype}")
    return cells.cast(pl.String, strict=False).str.strip_chars()


class Candidates(NamedTuple):
    """The columns of rows, and the reasons of those that cannot be used.

    `kept` says which rows are candidates, and `blank` which have neither a time nor an objective.
    """

    columns: dict[str, NDArray[Any]]
    reasons: pl.Series | None
    kept: NDArray[np.bool_]
    blank: NDArray[np.bool_]


def read_candidates(
    table: pl.DataFrame, problems: CandidateProblems, cut: NDArray[np.bool_] | None = None
) -> Candidates:
    """Read the candidates: their numbers, their verdicts and the reasons of those that cannot be used."""
    verdict = _parse_verdicts(table, problems)
    time, time_state = parse_numbers(table["time"])
    objective, objective_state = parse_numbers(table["objective"])
    cut = np.zeros(table.height, np.bool_) if cut is None else cut
    columns: dict[str, NDArray[Any]] = {"time": time, "objective": objective, "verdict": verdict}
    for name in ("claimed", "bound", "primary", "secondary"):
        if name in table.columns:
            columns[name], state = parse_numbers(table[name])
            problems.add(state == _INEXACT, _AS_DOUBLE.format(f"a {name}"), table[name])
    # Most pieces have a stamp and an objective on every row: there is nothing to reject, nor to name.
    good = not (np.count_nonzero(time_state) or np.count_nonzero(objective_state) or np.count_nonzero(cut))
    if good and "reason" not in table.columns and (not len(time) or time.min() >= 0):
        problems.judged += table.height
        return Candidates(columns, None, np.ones(table.height, np.bool_), np.zeros(table.height, np.bool_))
    no_time, no_objective = time_state == _EMPTY, objective_state == _EMPTY
    has_bound = np.isfinite(columns["bound"]) if "bound" in columns else np.zeros(table.height, np.bool_)
    bound_only = ~no_time & no_objective & has_bound & (verdict != VerdictCode.INVALID)
    verdict[bound_only] = VerdictCode.BOUND
    # A row without both is a run that found nothing, not a candidate.
    blank = no_time & no_objective
    kept = ~blank | cut
    invalid = verdict == VerdictCode.INVALID

    # Made with the first reason: most pieces have none.
    reasons: NDArray[Any] | None = None
    if "reason" in table.columns:
        # Those of the others say nothing; a column that cannot hold text is refused all the same.
        given = as_text(table["reason"].filter(pl.Series(invalid))).fill_null("").to_numpy()
        if invalid.any():
            reasons = np.full(table.height, "", dtype=object)
            reasons[invalid] = given
            # A rejected candidate that had neither a usable stamp nor an objective is still a candidate.
            kept |= reasons != ""
    if cut.any():
        # Named as problems already, when the rows were counted.
        reasons = np.full(table.height, "", dtype=object) if reasons is None else reasons
        reasons[cut & ~invalid] = Reason.ROW_CUT.value
        verdict[cut] = VerdictCode.INVALID
    problems.judged += int(np.count_nonzero(kept & ~bound_only & (verdict != VerdictCode.INVALID)))
    in_unit = f"a time in {problems.unit}"
    # In this order, because the first rule that fits gives the reason: a row without a stamp is not also a bad number.
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
            # A bound at no time is a problem, and no candidate that could be rejected.
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
    """Return numbers, or text that is numbers, as doubles where each is finite or missing; else None.

    >>> plain_numbers(pl.Series(["1.5", None])).to_list(), plain_numbers(pl.Series(["1", "inf"]))
    ([1.5, None], None)
    """
    if cells.dtype != pl.String and not cells.dtype.is_numeric():
        return None
    numbers = cells.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == cells.null_count() and numbers.is_finite().all() else None


def parse_numbers(cells: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Return the numbers (NaN where there is none) and, per cell, whether it was good or what it was instead."""
    state = np.zeros(len(cells), np.uint8)
    numbers = plain_numbers(cells)
    if numbers is None or not (cells.dtype == pl.Float64 or (numbers.abs() < EXACT).all()):
        if cells.dtype == pl.String:
            cells = cells.str.strip_chars()
            cells = cells.set((cells == "").fill_null(value=False), None)
        if cells.dtype in (pl.String, pl.Null) or cells.dtype.is_numeric():
            # Polars reads as numbers what a trace may have, and inf, nan and 1e400, which are not finite.
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
    # A handful of words, looked at once each and not on every row; in the order in which they come.
    words = cells.unique(maintain_order=True) if cells.dtype == pl.String or cells.dtype.is_numeric() else cells
    text = as_text(words).str.to_lowercase()
    # A column of 1, 0 and nothing comes as floats, because only they have a blank in pandas.
    if cells.dtype.is_float():
        text = text.str.strip_suffix(".0")
    known = dict.fromkeys(TRUE, VerdictCode.VALID) | dict.fromkeys(FALSE, VerdictCode.INVALID)
    # Nobody looked at it, which is neither valid nor invalid: scoring asks what to do with it.
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
