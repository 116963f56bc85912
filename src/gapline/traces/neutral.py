"""The neutral trace: `arm,instance,seed,time,objective,valid` (+ panel, horizon, status, …) as file, frame or records.

A run without candidates is one row with empty `time` and `objective`. Without a `valid` column all candidates count as
valid, and every output says so; an empty `valid` cell means that the candidate is unchecked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.assembly import assemble
from gapline.campaign.campaign import Campaign
from gapline.contract.tables import CARRIED, RUN_KEY, TRACE_OPTIONAL, TRACE_REQUIRED, VerdictCode
from gapline.errors import TraceError, UsageError, found_at, listing
from gapline.files.compression import open_content, path_without_packing, read_content
from gapline.files.open_file import reason_of
from gapline.traces import blocks
from gapline.traces.blocks import Fault, GrowingColumns
from gapline.traces.candidate_checks import (
    note_duplicates,
    note_horizon_unit,
    other_spellings,
    refuse_far_late,
    refuse_unreadable,
)
from gapline.traces.candidates import EVENTS, CandidateProblems, read_candidates, set_aside
from gapline.traces.columns import PLAIN, Dialect, is_neutral, number_parts, number_seeds, shape_table
from gapline.traces.direction import state_sense
from gapline.traces.json_lines import OddLineError, frame_of_records, read_alike
from gapline.traces.repeated_rows import Heads, Rows, find_equal, find_heads
from gapline.traces.run_identity import (
    RowOrder,
    RunLadder,
    plain_setting,
    read_attributes,
    read_keys,
    renumber,
    split_ladders,
    varying,
)
from gapline.traces.table_formats import Cells, read_pieces
from gapline.traces.time_units import FIRST, IN_WORDS, since_first_row

# Rows of a table that are processed at once.
SLICE = 1 << 18
KNOWN_RUN = "_known"
# Columns that mark events, and rows with neither a time nor an objective.
_KEPT, _BLANK = "_kept", "_blank"
SUFFIXES = dict.fromkeys((".jsonl", ".ndjson"), "jsonl") | dict.fromkeys((".parquet", ".pq"), "parquet")
SUFFIXES |= dict.fromkeys((".csv", ".tsv"), "csv") | dict.fromkeys((".arrow", ".ipc", ".feather"), "arrow")


def neutral_format(path: Path) -> str | None:
    """Return the neutral format of a file by its name, or None."""
    return SUFFIXES.get(Path(path_without_packing(path.name.lower())).suffix)


def read_neutral(path: Path, *, dialect: Dialect = PLAIN) -> Campaign:
    """Read one neutral trace file."""
    form = neutral_format(path)
    if form is None:
        raise UsageError(
            f"{path}: expected a name ending in {listing(SUFFIXES)}, got {path.suffix or 'none'}",
            hint="rename a table to .csv and JSON lines to .jsonl; `gapline import` reads solver logs",
        )
    if not path.is_file():
        raise TraceError(f"{path}: expected a trace file, got {found_at(path)}")
    try:
        content = read_content(path) if form in ("csv", "jsonl") else open_content(path)
    except OSError as error:
        raise TraceError(f"{path}: expected a {form} trace, got {reason_of(error)}") from error
    if form == "jsonl" and (campaign := _read_alike(content, source=str(path), dialect=dialect)):
        return campaign
    pieces = read_pieces(content, form=form, source=str(path), dialect=dialect)
    head = list(islice(pieces, 2))
    first = head[0]
    blank = sum(row.fault is Fault.BLANK for row in first.broken.values())
    if len(head) == 1 and first.table.height == blank and is_neutral(first.table.columns):
        raise TraceError(
            f"{path}: expected runs, got a header without rows",
            hint="a run that found nothing is one row with its arm, instance and seed, time and objective empty",
        )
    # Keep no reference to the first pieces, so that each is freed once it is read.
    del first
    waiting = (head.pop(0) for _ in range(len(head)))
    return campaign_from_pieces(chain(waiting, pieces), source=str(path), dialect=dialect)


def _read_alike(content: Any, *, source: str, dialect: Dialect) -> Campaign | None:
    """Read a large file whose lines all have the same types; None if it has not, or if there is any problem."""
    if len(content) <= blocks.BLOCK:
        return None
    try:
        pieces = (Cells(table, line) for table, line in read_alike(content, source=source))
        campaign = campaign_from_pieces(pieces, source=source, dialect=dialect)
    except (OddLineError, TraceError):
        # Messages quote cells by the type of their column, which depends on later lines: the slow reader repeats it.
        return None
    return None if campaign.diagnostics.problem_count else campaign


def campaign_from_records(
    rows: Sequence[Mapping[str, Any]], *, runs: Sequence[int] | None = None, dialect: Dialect = PLAIN
) -> Campaign:
    """Read a list of mappings with the columns of a neutral trace; `runs` gives the run number of each, if known."""
    return campaign_from_table(frame_of_records(rows), source="records", first_line=1, known_runs=runs, dialect=dialect)


def campaign_from_runs(runs: Iterable[Mapping[str, Any]], *, dialect: Dialect = PLAIN) -> Campaign:
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
    return campaign_from_records(rows, runs=numbers, dialect=dialect)


def campaign_from_table(
    table: pl.DataFrame,
    *,
    source: str,
    first_line: int,
    dialect: Dialect = PLAIN,
    known_runs: Sequence[int] | None = None,
) -> Campaign:
    """Convert a neutral trace to a campaign; row k is line `first_line` + k."""
    # Slices are not copies, and the temporary data of each slice are freed before the next.
    slices = (Cells(part, first_line + n * SLICE) for n, part in enumerate(table.iter_slices(SLICE)))
    pieces = slices if table.height else iter([Cells(table, first_line)])
    return campaign_from_pieces(pieces, source=source, known_runs=known_runs, dialect=dialect)


def campaign_from_pieces(
    pieces: Iterable[Cells],
    *,
    source: str,
    known_runs: Sequence[int] | None = None,
    dialect: Dialect = PLAIN,
    one_run: bool = False,
) -> Campaign:
    """Convert the tables of a neutral trace to a campaign; with `one_run` they are the log of a single run.

    Incomplete rows are left out if they cannot be assigned to a run; otherwise they are rejected candidates. Both are
    counted as problems.
    """
    try:
        campaign = _read_campaign(pieces, source, known_runs, dialect, one_run)
    except pl.exceptions.PolarsError as error:
        # Columns may have unexpected types for which Polars raises an error.
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise TraceError(f"{source}: expected the columns of a trace, got a table that fails: {first}") from error
    refuse_far_late(campaign, dialect, source)
    return note_duplicates(note_horizon_unit(campaign, dialect, source))


def _read_campaign(
    pieces: Iterable[Cells], source: str, known_runs: Sequence[int] | None, dialect: Dialect, one_run: bool
) -> Campaign:
    problems = CandidateProblems(source, IN_WORDS[(dialect.time_unit or "s").removesuffix(FIRST)])
    events = GrowingColumns()
    read = [_read_piece(piece, known_runs, problems, dialect, events) for piece in pieces]
    refuse_unreadable(problems)
    notes = list(dict.fromkeys(note for piece in read for note in piece.notes))
    rows = Rows(piece.heads for piece in read)
    one_by_one = known_runs is not None or KNOWN_RUN in rows.heads.columns
    is_open = "seed" in rows.heads.columns and not one_by_one and not one_run
    if "seed" not in rows.heads.columns:
        rows, note = _with_seeds(rows, one_by_one, *_stamps(events, sort_rows=dialect.sort_rows))
        notes.append(note)
    heads = rows.heads
    keys = read_keys(heads, rows, problems)
    extras = [
        plain_setting(column)
        for column in heads
        if column.name not in (*TRACE_REQUIRED, *TRACE_OPTIONAL, *CARRIED, KNOWN_RUN)
    ]
    heads = heads.with_columns(extras)
    ladder = _split(extras, keys, rows, None if one_by_one else events, source)
    split = set(ladder.arm.filter(ladder.arm != keys["arm"]))
    keys = keys.with_columns(arm=ladder.arm)
    if dialect.number_runs and is_open:
        rows.heads = heads.with_columns(keys.iter_columns())
        rows, note = _split_runs(rows, *_stamps(events))
        heads = rows.heads
        keys = heads.select(RUN_KEY)
        notes.append(note)
    # Runs are numbered by first appearance.
    first, run = find_equal(keys)
    runs = keys[first]
    # Two runs with the same key would be merged: twice the candidates, and one run fewer in every denominator.
    if one_by_one:
        _refuse_twins(keys, heads[KNOWN_RUN])
    attributes = heads.drop(*ladder.left_out, KNOWN_RUN, strict=False)
    runs = read_attributes(attributes, run, runs, rows, problems)
    notes += ladder.notes
    # Attach the note only to the arms that were split, so that scores of other arms do not show it.
    if split:
        own = pl.when(pl.col("arm").is_in(sorted(split))).then(pl.lit(ladder.split_note))
        runs = runs.with_columns(import_notes=own)
    has_verdicts = any(piece.has_verdicts for piece in read)
    if "validation" not in runs.columns:
        runs = runs.with_columns(validation=pl.lit("declared" if has_verdicts else "solver"))
    problems.name_runs(keys, rows)
    notes += other_spellings(problems)
    if not has_verdicts:
        notes.append("no `valid` column: candidates count as valid because the solver said so")
    kept, run, columns = _take_events(events, rows.of_rows(run))
    reasons = _join_reasons(read, kept)
    if dialect.from_first_row:
        columns["time"] = since_first_row(columns["time"], run)
    read.clear()
    order = RowOrder(source, dialect)
    campaign = assemble(
        runs,
        run=run,
        columns=columns,
        reasons=reasons,
        sources=[source],
        problems=problems.messages,
        problem_count=problems.count,
        notes=notes,
        # Not needed without seeds, as runs then begin where time goes back, nor if the run of each row is known.
        out_of_order=order.look if is_open else None,
        in_place=True,
    )
    return order.settle(state_sense(campaign, dialect.sense))


def _take_events(
    events: GrowingColumns, run: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], NDArray[np.int32], dict[str, NDArray[Any]]]:
    """Return a mask of the rows that are events, the run of each event, and their columns."""
    kept, _ = events.take(_KEPT), events.take(_BLANK)
    columns = {name: events.take(name) for name in events.names}
    if kept.all():
        return kept, run, columns
    return kept, run[kept], {name: columns.pop(name)[kept] for name in list(columns)}


def _with_seeds(rows: Rows, one_by_one: bool, time: NDArray[np.float64], blank: NDArray[np.bool_]) -> tuple[Rows, str]:
    """Number the runs of a table without seeds, and return a note on how."""
    # The start of a run shows only in the order of the rows, so the keys are expanded to one per row.
    full = rows.expand(rows.heads)
    seeds, note = number_seeds(full, time, blank, full[KNOWN_RUN].to_list() if one_by_one else None)
    return rows.split_by(seeds), note


def _split_runs(rows: Rows, time: NDArray[np.float64], blank: NDArray[np.bool_]) -> tuple[Rows, str]:
    """Begin a new run wherever time goes back under one key, and return a note on the number of runs."""
    full = rows.expand(rows.heads.select(RUN_KEY))
    seeds, note = renumber(full, number_parts(full, time, blank))
    return rows.split_by(seeds), note


def _stamps(events: GrowingColumns, *, sort_rows: bool = False) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the time of each row, NaN where time may go back, and a mask of rows with neither time nor objective."""
    time = events.whole("time")
    # Bounds may be out of order, because another thread usually reports them.
    free = np.ones(len(time), np.bool_) if sort_rows else events.whole("verdict") == VerdictCode.BOUND
    return (np.where(free, np.nan, time) if free.any() else time), events.whole(_BLANK)


class _Piece(NamedTuple):
    """The data of a table besides its events: repeated cells once, its number of rows, reasons and notes."""

    heads: Heads
    height: int
    reasons: pl.Series | None
    has_verdicts: bool
    notes: list[str]


def _read_piece(
    piece: Cells,
    known_runs: Sequence[int] | None,
    problems: "CandidateProblems",
    dialect: Dialect,
    events: GrowingColumns,
) -> _Piece:
    table, first_line, broken = piece
    shaped = shape_table(table, dialect, source=problems.source, first_line=first_line)
    table, problems.lines, unfolded, notes = shaped
    cut = None
    # Most tables do not need the positions of their rows.
    asked = bool(broken) or known_runs is not None
    places = np.arange(table.height if asked else 0) if unfolded is None else np.array(unfolded, np.int64)
    if broken:
        kept, cut = set_aside(table, places, broken, problems)
        # In a table with a column per time, the values before the cut are complete, and the truncated one is dropped.
        cut = cut[kept] if unfolded is None else None
        table, problems.lines, places = table.filter(kept), np.asarray(problems.lines)[kept], places[kept]
    found = read_candidates(table, problems, cut)
    rest = table.drop(EVENTS, strict=False)
    if known_runs is not None:
        known = [known_runs[line - 1] for line in (first_line + places).tolist()]
        rest = rest.with_columns(pl.Series(KNOWN_RUN, known, dtype=pl.Int64))
    elif unfolded is not None:
        rest = rest.with_columns(pl.Series(KNOWN_RUN, first_line + places, dtype=pl.Int64))
    heads = find_heads(rest, problems.lines)
    events.add(found.columns | {_KEPT: found.kept, _BLANK: found.blank})
    problems.rows += table.height
    return _Piece(heads, table.height, found.reasons, "valid" in table.columns, notes)


def _split(
    extras: list[pl.Series], keys: pl.DataFrame, rows: Rows, events: GrowingColumns | None, source: str
) -> RunLadder:
    """Separate runs that share a key by their settings; `events` is None if the run of each row is known."""
    heads = pl.DataFrame(extras)
    if not varying(keys.hstack(heads), heads.columns):
        return RunLadder(keys["arm"])
    # Changes of a setting and decreases of time show only in the order of the rows, so the tables are expanded.
    stamps = None if events is None else events.whole("time")
    ladder = split_ladders(rows.expand(heads), rows.expand(keys), stamps, source=source)
    return replace(ladder, arm=ladder.arm.gather(rows.starts))


def _join_reasons(read: list[_Piece], kept: NDArray[np.bool_]) -> pl.Series | None:
    """Concatenate the reasons of the pieces, without rows that are not events."""
    if all(piece.reasons is None for piece in read):
        return None
    texts = pl.concat(
        pl.repeat("", piece.height, dtype=pl.String, eager=True) if piece.reasons is None else piece.reasons
        for piece in read
    )
    return texts.filter(pl.Series(kept))


def _refuse_twins(keys: pl.DataFrame, known_runs: pl.Series) -> None:
    several = keys.with_columns(_known=known_runs).group_by(RUN_KEY).agg(pl.col("_known").n_unique())
    if twins := several.filter(pl.col("_known") > 1).sort(RUN_KEY).select(RUN_KEY).rows():
        names = listing("/".join(map(str, twin)) for twin in twins)
        raise TraceError(f"expected each run once, got {len(twins):,} more than once: {names}")
