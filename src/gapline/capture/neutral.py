"""The neutral trace: `arm,instance,seed,time,objective,valid` (+ panel, horizon, status, …) as file, frame or records.

A run that captured nothing is one row with empty `time` and `objective`. Without a `valid` column the solver's word
counts, and every output says so; an empty `valid` cell of a real candidate means that it is unchecked.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.capture.assemble import assemble
from gapline.capture.carriers import frame_of_records, read_table
from gapline.capture.dialect import PLAIN, Dialect, is_neutral, number_seeds, shape_table
from gapline.capture.exact import EXACT, INTEGER, not_exact
from gapline.capture.ladder import split_ladders
from gapline.capture.logfiles import path_without_packing
from gapline.capture.unpack import read_bytes as read_bytes  # noqa: PLC0414 - stores of references read through here
from gapline.capture.whole_rows import Broken, Fault
from gapline.errors import TraceError, UsageError, found_at, listing
from gapline.model.campaign import Campaign
from gapline.model.diagnostics import MOST_PROBLEMS
from gapline.model.tables import CARRIED, RUN_KEY, RUN_RECORD, TRACE_OPTIONAL, TRACE_REQUIRED, Reason, VerdictCode

# What Python's float would take and a trace must not: inf, nan, 1_000, Arabic digits, hexadecimal.
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_COMMA = re.compile(r"got '[+-]?[0-9]+,[0-9]+'")
TRUE = ("true", "t", "yes", "1")
FALSE = ("false", "f", "no", "0")
SUFFIXES = dict.fromkeys((".jsonl", ".ndjson"), "jsonl") | dict.fromkeys((".parquet", ".pq"), "parquet")
SUFFIXES |= dict.fromkeys((".csv", ".tsv"), "csv") | dict.fromkeys((".arrow", ".ipc", ".feather"), "arrow")


def neutral_format(path: Path) -> str | None:
    """Name the neutral format that a file's name promises, or None."""
    return SUFFIXES.get(Path(path_without_packing(path.name.lower())).suffix)


def read_neutral(path: Path, *, form: str | None = None, dialect: Dialect = PLAIN) -> Campaign:
    """Read one neutral trace file."""
    form = form or neutral_format(path)
    if form is None:
        raise UsageError(
            f"{path}: expected a name ending in {listing(SUFFIXES)}, got {path.suffix or 'none'}",
            hint="`gapline import` reads solver logs",
        )
    if not path.is_file():
        raise TraceError(f"{path}: expected a trace file, got {found_at(path)}")
    try:
        data = read_bytes(path)
    except OSError as error:
        raise TraceError(f"{path}: expected a {form} trace, got {error.strerror or error}") from error
    cells = read_table(data, form=form, source=str(path))
    blank = sum(row.fault is Fault.BLANK for row in cells.broken.values())
    if cells.table.height == blank and is_neutral(cells.table.columns):
        raise TraceError(
            f"{path}: expected runs, got a header without rows",
            hint="a run that found nothing is one row with its arm, instance and seed, time and objective empty",
        )
    return campaign_from_table(
        cells.table, source=str(path), first_line=cells.first_line, dialect=dialect, broken=cells.broken
    )


def campaign_from_records(
    rows: Sequence[Mapping[str, Any]], *, runs: Sequence[int] | None = None, dialect: Dialect = PLAIN
) -> Campaign:
    """Read a list of mappings with the columns of a neutral trace; `runs` numbers the run of each, where known."""
    return campaign_from_table(frame_of_records(rows), source="records", first_line=1, known_runs=runs, dialect=dialect)


def campaign_from_runs(runs: Iterable[Mapping[str, Any]]) -> Campaign:
    """Read mappings with arm, instance, seed, … and `trace`, a list of (time, objective[, valid])."""
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    for number, run in enumerate(runs, start=1):
        if "trace" not in run:
            raise TraceError(f"run {number}: expected a list under 'trace', got {sorted(run)}")
        attributes = {name: value for name, value in run.items() if name != "trace"}
        for event in run["trace"] or [(None, None)]:
            if len(event) not in (2, 3):
                raise TraceError(f"run {number}: expected (time, objective) or (time, objective, valid), got {event!r}")
            rows.append(attributes | dict(zip(("time", "objective", "valid"), event, strict=False)))
            numbers.append(number)
    return campaign_from_records(rows, runs=numbers)


def campaign_from_table(
    table: pl.DataFrame,
    *,
    source: str,
    first_line: int,
    known_runs: Sequence[int] | None = None,
    dialect: Dialect = PLAIN,
    broken: Mapping[int, Broken] = MappingProxyType({}),
) -> Campaign:
    """Turn a neutral trace into a campaign; row k is line `first_line` + k, of run `known_runs[k]` if known.

    `broken` says which rows of the table are not whole: without a run to belong to they are left out, else they are
    rejected candidates; both are counted as problems.
    """
    try:
        return _read_campaign(table, source, first_line, known_runs, dialect, broken)
    except pl.exceptions.PolarsError as error:
        # Columns can be of types that nobody thought of, in combinations that nobody tried.
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise TraceError(f"{source}: expected the columns of a trace, got a table that fails: {first}") from error


def _read_campaign(
    table: pl.DataFrame,
    source: str,
    first_line: int,
    known_runs: Sequence[int] | None,
    dialect: Dialect,
    broken: Mapping[int, Broken],
) -> Campaign:
    table, lines, rows, notes = shape_table(table, dialect, source=source, first_line=first_line)
    problems = _Problems(source, lines)
    cut = np.zeros(table.height, np.bool_)
    if broken:
        places = np.arange(table.height) if rows is None else np.array(rows)
        kept, cut = _set_aside(table, places, broken, problems)
        # One row per run and a column per time: the values before the cut are whole, and what was cut is no value.
        cut = cut[kept] if rows is None else np.zeros(int(kept.sum()), np.bool_)
        table, problems.lines = table.filter(kept), lines[kept]
        rows = None if rows is None else places[kept].tolist()
    known_runs = known_runs or rows
    if "seed" not in table.columns:
        seeds, note = number_seeds(table, _parse_numbers(table["time"])[0], known_runs)
        table = table.with_columns(seeds)
        notes.append(note)
    keys = _read_keys(table, problems)
    extras = [_plain(column) for column in table if column.name not in (*TRACE_REQUIRED, *TRACE_OPTIONAL, *CARRIED)]
    table = table.with_columns(extras)
    # Runs that are given one by one need no judgement on what a further column means.
    stamps = None if known_runs else _parse_numbers(table["time"])[0]
    ladder = split_ladders(pl.DataFrame(extras), keys, stamps, source=source)
    split = set(ladder.arm.filter(ladder.arm != keys["arm"]))
    keys = keys.with_columns(arm=ladder.arm)
    run, runs = _number_runs(keys)
    # Two runs under one key would become one: twice as many candidates, and one run fewer in every denominator.
    if known_runs:
        _refuse_twins(keys, known_runs)
    runs = _read_attributes(table.drop(ladder.left_out), run, runs, problems)
    notes += ladder.notes
    # Said of the arms that were split alone: a score of the others does not need it.
    if split:
        own = pl.when(pl.col("arm").is_in(sorted(split))).then(pl.lit(ladder.split_note))
        runs = runs.with_columns(import_notes=own)
    has_verdicts = "valid" in table.columns
    if "validation" not in runs.columns:
        runs = runs.with_columns(validation=pl.lit("declared" if has_verdicts else "solver"))
    columns, reasons, kept = _read_events(table, problems, keys, cut)
    if any(_COMMA.search(message) for message in problems.messages):
        notes.append("some numbers look like 12,5: --decimal , reads them, if commas are their decimal marks")
    if not has_verdicts:
        notes.append("no `valid` column: candidates count as valid because the solver said so")
    return assemble(
        runs,
        run=run[kept],
        columns=columns,
        reasons=reasons,
        sources=[source],
        problems=problems.messages,
        problem_count=problems.count,
        notes=notes,
    )


def _refuse_twins(keys: pl.DataFrame, known_runs: Sequence[int]) -> None:
    several = keys.with_columns(_known=pl.Series(known_runs)).group_by(RUN_KEY).agg(pl.col("_known").n_unique())
    if twins := several.filter(pl.col("_known") > 1).sort(RUN_KEY).select(RUN_KEY).rows():
        names = listing("/".join(map(str, twin)) for twin in twins)
        raise TraceError(f"expected each run once, got {len(twins):,} more than once: {names}")


class _Problems:
    """The first messages about cells that could not be used, and how many there were."""

    def __init__(self, source: str, lines: NDArray[np.int64]) -> None:
        self.source, self.lines = source, lines
        self.messages: list[str] = []
        self.count = 0

    def say(self, message: str) -> None:
        self.count += 1
        if len(self.messages) < MOST_PROBLEMS:
            self.messages.append(message)

    def where(self, row: int) -> str:
        return f"{self.source}:{self.lines[row]}"

    def add(self, bad: NDArray[np.bool_], expected: str, cells: pl.Series, keys: pl.DataFrame) -> None:
        self.count += int(np.count_nonzero(bad))
        for row in np.flatnonzero(bad)[: MOST_PROBLEMS - len(self.messages)].tolist():
            arm, instance, seed = keys.row(row)
            got = "nothing" if cells[row] is None else repr(cells[row])
            self.messages.append(f"{self.where(row)}: expected {expected}, got {got} (run {arm}/{instance}/{seed})")


def _set_aside(
    table: pl.DataFrame, places: NDArray[np.int64], broken: Mapping[int, Broken], problems: _Problems
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


def _read_keys(table: pl.DataFrame, problems: _Problems) -> pl.DataFrame:
    """Read arm, instance and seed; a row without them belongs to no run, and that is an error."""
    arm, instance = (_as_text(table[name]) for name in ("arm", "instance"))
    seed_cells = table["seed"]
    if seed_cells.dtype == pl.String:
        stripped = seed_cells.str.strip_chars()
        seed = stripped.set(~stripped.str.contains(INTEGER).fill_null(False), None).cast(pl.Int64, strict=False)
    elif seed_cells.dtype.is_numeric():
        whole = seed_cells.cast(pl.Float64, strict=False)
        good = whole == whole.floor()
        # A seed that went through floats and is that large may have been another one.
        if seed_cells.dtype.is_float():
            good &= whole.abs() <= EXACT
        seed = seed_cells.set(~good.fill_null(False), None).cast(pl.Int64, strict=False)
    else:
        seed = pl.Series("seed", [None] * table.height, dtype=pl.Int64)
    for name, values in (("arm", arm), ("instance", instance), ("seed", seed)):
        bad = (values.is_null() | (values == "")) if values.dtype == pl.String else values.is_null()
        if bad.any():
            rows = bad.arg_true().to_list()
            shown = listing((f"{problems.where(r)}: {table[name][r]!r}" for r in rows), most=5)
            expected = "a whole number" if name == "seed" else "a name"
            hint = "a run that found nothing still has its arm, instance and seed"
            raise TraceError(f"expected {expected} in every {name}, got {shown}", hint=hint)
    return pl.DataFrame({"arm": arm, "instance": instance, "seed": seed})


def _as_text(cells: pl.Series) -> pl.Series:
    if cells.dtype.is_nested() or cells.dtype in (pl.Object, pl.Binary, pl.Duration):
        raise TraceError(f"column {cells.name}: expected text, got {cells.dtype}")
    return cells.cast(pl.String, strict=False).str.strip_chars()


def _plain(cells: pl.Series) -> pl.Series:
    """Read a further column that is all numbers as numbers, so that 5 and 5.0 are one setting."""
    # A version 1.50 is no number, nor is a core list "0".
    if cells.dtype != pl.String or RUN_RECORD.get(cells.name) == pl.String or not cells.str.contains(NUMBER).all():
        return cells
    if cells.str.contains(r"[.eE]").any():
        return cells if not_exact(cells).any() else cells.cast(pl.Float64, strict=False)
    numbers = cells.cast(pl.Int64, strict=False)
    # Beyond 64 bits it is a name made of digits.
    return cells if numbers.null_count() > cells.null_count() else numbers


def _number_runs(keys: pl.DataFrame) -> tuple[NDArray[np.int64], pl.DataFrame]:
    """Give each row the number of its run; runs are numbered by first appearance."""
    # Rows of one run mostly stand together: only the first of each block is looked up, not every row.
    changed = pl.any_horizontal(pl.col(name) != pl.col(name).shift(1) for name in RUN_KEY).fill_null(False)
    block = keys.select(changed.cum_sum().cast(pl.Int64)).to_series().to_numpy()
    starts = np.flatnonzero(np.diff(block, prepend=-1)) if len(block) else block
    heads = keys[starts.tolist()] if len(block) else keys
    runs = heads.unique(maintain_order=True)
    numbered = heads.join(runs.with_row_index("_run"), on=RUN_KEY, how="left", maintain_order="left")
    return numbered["_run"].to_numpy().astype(np.int64)[block], runs


def _read_attributes(
    table: pl.DataFrame, run: NDArray[np.int64], runs: pl.DataFrame, problems: _Problems
) -> pl.DataFrame:
    """Read what a run has once: panel, horizon, status and any further column."""
    events = {"time", "objective", "valid", "claimed", "reason", "bound", "primary", "secondary"}
    names = [name for name in table.columns if name not in events and name not in RUN_KEY]
    if not names:
        return runs
    attributes = table.select(names).with_columns(_run=pl.Series(run))
    grouped = attributes.group_by("_run").agg(pl.col(names).drop_nulls().first()).sort("_run")
    counts = attributes.group_by("_run").agg(pl.col(names).drop_nulls().n_unique()).sort("_run")
    for name in names:
        if (counts[name] > 1).any():
            number = counts.filter(pl.col(name) > 1)["_run"][0]
            cells = attributes.filter(pl.col("_run") == number)[name].drop_nulls().unique(maintain_order=True).to_list()
            key = "/".join(map(str, runs.row(number)[:3]))
            raise TraceError(f"{problems.source}: expected one {name} in run {key}, got {listing(map(str, cells))}")
        values = grouped[name]
        if name == "horizon" or CARRIED.get(name) == pl.Float64:
            values = _run_number(values, name, table, problems)
        elif name in ("panel", "status") or name in CARRIED:
            values = _as_text(values)
        runs = runs.with_columns(values.alias(name))
    return runs


def _run_number(values: pl.Series, name: str, table: pl.DataFrame, problems: _Problems) -> pl.Series:
    if values.dtype.is_numeric() or values.dtype in (pl.Null, pl.Boolean):
        return _finite(values.cast(pl.Float64, strict=False), name, problems)
    if values.dtype != pl.String:
        raise TraceError(f"{problems.source}: expected numbers in {name}, got {values.dtype}")
    stripped = values.str.strip_chars()
    if (strange := values.filter(~stripped.str.contains(NUMBER).fill_null(True))).len():
        row = table[name].eq(strange[0]).fill_null(False).arg_true()[0]
        raise TraceError(f"{problems.where(row)}: expected a number in {name}, got {strange[0]!r}")
    return _finite(stripped.cast(pl.Float64, strict=False), name, problems)


def _finite(values: pl.Series, name: str, problems: _Problems) -> pl.Series:
    """Refuse an infinite number; NaN is how some frames write that there is none."""
    # A horizon is judged with its run, which the error then names.
    if name != "horizon" and (endless := values.filter(values.is_infinite().fill_null(False))).len():
        raise TraceError(f"{problems.source}: expected a finite number in {name}, got {endless[0]}")
    return values if name == "horizon" else values.fill_nan(None)


def _read_events(
    table: pl.DataFrame, problems: _Problems, keys: pl.DataFrame, cut: NDArray[np.bool_]
) -> tuple[dict[str, NDArray[Any]], NDArray[Any] | None, NDArray[np.bool_]]:
    """Read the candidates: their numbers, their verdicts and the reasons of those that cannot be used."""
    time, time_state = _parse_numbers(table["time"])
    objective, objective_state = _parse_numbers(table["objective"])
    verdict = _parse_verdicts(table, problems)
    optional = {}
    for name in ("claimed", "bound", "primary", "secondary"):
        if name in table.columns:
            optional[name], state = _parse_numbers(table[name])
            problems.add(state == _INEXACT, _AS_DOUBLE.format(f"a {name}"), table[name], keys)
    no_time, no_objective = time_state == _EMPTY, objective_state == _EMPTY
    has_bound = np.isfinite(optional["bound"]) if "bound" in optional else np.zeros(table.height, np.bool_)
    bound_only = ~no_time & no_objective & has_bound & (verdict != VerdictCode.INVALID)
    verdict[bound_only] = VerdictCode.BOUND
    # A row without both is a run that found nothing, not a candidate.
    kept = ~(no_time & no_objective) | cut
    invalid = verdict == VerdictCode.INVALID

    reasons = np.full(table.height, "", dtype=object)
    if "reason" in table.columns:
        given = _as_text(table["reason"]).fill_null("").to_numpy()
        reasons[invalid] = given[invalid]
        # A rejected candidate that had neither a usable stamp nor an objective is still a candidate.
        kept |= invalid & (given != "")
    # Named as problems already, when the rows were counted.
    reasons[cut & ~invalid] = Reason.ROW_CUT.value
    verdict[cut] = VerdictCode.INVALID
    # In this order, because the first rule that fits gives the reason: a row without a stamp is not also a bad number.
    rules = (
        (no_time, "a time in seconds", table["time"], Reason.TIME_MISSING),
        (time_state == _TEXT, "a time in seconds", table["time"], Reason.TIME_NOT_A_NUMBER),
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
            problems.add(fresh, expected, cells, keys)
            verdict[fresh] = VerdictCode.INVALID
            reasons[fresh] = reason.value
    columns = {"time": time[kept], "objective": objective[kept], "verdict": verdict[kept]}
    columns |= {name: column[kept] for name, column in optional.items()}
    named = reasons[kept]
    return columns, named if any(named) else None, kept


_GOOD, _EMPTY, _TEXT, _INFINITE, _INEXACT = range(5)
_AS_DOUBLE = "{} that a double holds (each integer up to 2^53)"


def _parse_numbers(cells: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Return the numbers (NaN where there is none) and, per cell, whether it was good or what it was instead."""
    state = np.full(len(cells), _GOOD, np.uint8)
    empty = cells.is_null()
    if cells.dtype == pl.String:
        stripped = cells.str.strip_chars()
        empty |= stripped == ""
        number = stripped.str.contains(NUMBER).fill_null(False)
        values = stripped.set(~number, None).cast(pl.Float64, strict=False)
        lowered = stripped.str.to_lowercase().str.strip_chars_start("+-")
        infinite = (lowered.is_in(["inf", "infinity", "nan"]) | values.is_infinite().fill_null(False)).fill_null(False)
        # In this order: inf is no number in form, and an empty cell neither; the later rule is the more exact one.
        state[~number.to_numpy()] = _TEXT
        state[infinite.to_numpy()] = _INFINITE
    elif cells.dtype.is_numeric() or cells.dtype == pl.Null:
        values = cells.cast(pl.Float64, strict=False)
        state[~values.is_finite().fill_null(False).to_numpy()] = _INFINITE
    else:
        values = pl.repeat(None, len(cells), dtype=pl.Float64, eager=True)
        state[:] = _TEXT
    out = values.fill_null(np.nan).to_numpy()
    inexact = np.zeros(len(cells), np.bool_)
    # Looked at only where a number is that large: most tables have none, and the look costs as much as the reading.
    if np.any(np.abs(out) >= EXACT):
        inexact = not_exact(cells.str.strip_chars() if cells.dtype == pl.String else cells)
    state[inexact & (state == _GOOD)] = _INEXACT
    state[empty.to_numpy()] = _EMPTY
    return np.where(np.isfinite(out) & ~inexact, out, np.nan), state


def _parse_verdicts(table: pl.DataFrame, problems: _Problems) -> NDArray[np.uint8]:
    if "valid" not in table.columns:
        return np.full(table.height, VerdictCode.VALID, np.uint8)
    cells = table["valid"]
    if cells.dtype == pl.Boolean:
        text = cells.cast(pl.String)
    else:
        text = _as_text(cells).str.to_lowercase()
        # A column of 1, 0 and nothing comes as floats, because only they have a blank in pandas.
        if cells.dtype.is_float():
            text = text.str.strip_suffix(".0")
    known = dict.fromkeys(TRUE, VerdictCode.VALID) | dict.fromkeys(FALSE, VerdictCode.INVALID)
    # Nobody looked at it, which is neither valid nor invalid: scoring asks what to do with it.
    known[""] = VerdictCode.UNCHECKED
    strange = ~text.fill_null("").is_in(list(known))
    if strange.any():
        row = strange.arg_true()[0]
        raise TraceError(
            f"{problems.where(row)}: expected true, false or nothing in valid, got {cells[row]!r}",
            hint="leave the cell empty for a candidate that nobody has checked",
        )
    codes = text.fill_null("").replace_strict(list(known), [int(c) for c in known.values()], return_dtype=pl.UInt8)
    return codes.to_numpy().copy()
