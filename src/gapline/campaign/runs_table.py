"""Complete the runs table of a campaign and check it: each candidate has to belong to one run."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.columns import part_edges
from gapline.contract.row_groups import Numbered, count_words
from gapline.contract.tables import CARRIED, DEFAULT_PANEL, RUN_KEY, RUNS, RunKey, RunStatus
from gapline.errors import TraceError, listing


def _can_hold(found: pl.DataType, meant: pl.DataType) -> bool:
    """Say whether a column has the type that gapline expects, text or number; an all-null column qualifies."""
    if found == pl.Null:
        return True
    return found.is_float() or found.is_integer() if meant == pl.Float64 else found == pl.String


def complete_runs(runs: pl.DataFrame, *, candidates: int | None) -> Numbered:
    """Fill, cast and check the runs table; its slices have to cover `candidates` once, unless it is None."""
    required = (*RUN_KEY, "first", "count")
    if missing := [name for name in required if name not in runs.columns]:
        raise TraceError(f"runs table: expected columns {listing(required)}, got no {listing(missing)}")
    defaults = {"panel": DEFAULT_PANEL, "horizon": None, "status": RunStatus.UNKNOWN.value}
    table = runs.with_columns(
        pl.lit(value, dtype=RUNS[name]).alias(name) for name, value in defaults.items() if name not in runs.columns
    )
    try:
        table = table.with_columns(pl.col(name).cast(dtype) for name, dtype in RUNS.items())
    except pl.exceptions.PolarsError as error:
        raise TraceError(f"runs table: expected { ({n: str(t) for n, t in RUNS.items()}) }, got {error}") from error
    for name in CARRIED.keys() & set(table.columns):
        if not _can_hold(table.schema[name], CARRIED[name]):
            raise TraceError(f"runs table: expected {CARRIED[name]} in {name}, got {table.schema[name]}")
    table = table.with_columns(pl.col("panel").fill_null(DEFAULT_PANEL), pl.col("status").fill_null("unknown"))
    # Known columns come first, so that a file does not depend on the order in which a reader created them.
    extras = [name for name in table.columns if name not in RUNS]
    table = table.select(*RUNS, *extras)
    for name in required:
        if table[name].null_count():
            raise TraceError(f"runs table: expected a value in every {name}, got {table[name].null_count()} nulls")
    rows = Numbered(table)
    _check_run_values(rows)
    if candidates is None:
        return rows
    first, count = table["first"].to_numpy(), table["count"].to_numpy()
    if np.any(count < 0) or np.any(first < 0) or np.any(first + count > candidates):
        raise TraceError(f"runs table: expected slices inside 0:{candidates}, got one outside")
    # Slices may be in any order, but each candidate belongs to one run.
    filled = count > 0
    ordered = np.argsort(first[filled], kind="stable")
    ends = (first + count)[filled][ordered][:-1]
    if np.any(ends > first[filled][ordered][1:]) or int(count.sum()) != candidates:
        raise TraceError(
            f"runs table: expected slices that cover {candidates} candidates once, got {int(count.sum())} or overlaps"
        )
    return rows


def check_parts(table: pl.DataFrame, columns: Mapping[str, NDArray[Any]]) -> None:
    """Refuse columns whose parts differ in length, and runs that span two parts."""
    edges = part_edges(columns["time"])
    if any(not np.array_equal(part_edges(column), edges) for column in columns.values()):
        raise TraceError("from_arrays: expected columns in the same parts, got parts of different lengths")
    if len(edges) == 2:
        return
    filled = table.filter(pl.col("count") > 0)
    first, last = filled["first"].to_numpy(), (filled["first"] + filled["count"] - 1).to_numpy()
    across = np.searchsorted(edges, first, "right") != np.searchsorted(edges, last, "right")
    if np.any(across):
        names = listing(str(RunKey(*row)) for row in filled.filter(pl.Series(across)).select(RUN_KEY).iter_rows())
        raise TraceError(f"runs table: expected each run inside one part, got across two: {names}")


def twin_runs(runs: pl.DataFrame) -> list[str]:
    """Return the runs that occur more than once."""
    twins = runs.group_by(RUN_KEY).len().filter(pl.col("len") > 1).sort(RUN_KEY)
    return [str(RunKey(*row)) for row in twins.select(RUN_KEY).iter_rows()]


def _check_run_values(rows: Numbered) -> None:
    """Refuse duplicate keys, unknown statuses and horizons that are not positive and finite."""
    table = rows.table
    if rows.by(*RUN_KEY).size < table.height:
        raise TraceError(f"expected each run once, got duplicates: {listing(twin_runs(table))}")
    known = [status.value for status in RunStatus]
    if sum(count_words(table, "status", known).values()) < table.height:
        strange = table.filter(~pl.col("status").is_in(known))["status"].unique().to_list()
        raise TraceError(f"status: expected one of {listing(known)}, got {listing(map(repr, strange))}")
    bad = table.filter(pl.col("horizon").is_not_null() & ~(pl.col("horizon").is_finite() & (pl.col("horizon") > 0)))
    if bad.height:
        shown = listing(f"{RunKey(*row[:3])} {row[3]}" for row in bad.select(*RUN_KEY, "horizon").iter_rows())
        raise TraceError(
            f"horizon: expected positive finite seconds, got {shown}",
            hint="leave the cell empty where no horizon was stated",
        )
