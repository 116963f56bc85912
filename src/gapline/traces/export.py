"""Export a campaign as a neutral trace table, which `read` restores unchanged."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from gapline.campaign.campaign import OPTIONAL_COLUMNS, Campaign, slices_of
from gapline.campaign.scale import Senses, instance_senses
from gapline.contract.tables import RUNS, TRACE_OPTIONAL, TRACE_REQUIRED, Reason, VerdictCode
from gapline.errors import UsageError, listing
from gapline.files.atomic_write import refuse_no_file, write_atomically

FORMATS = ("csv", "jsonl", "parquet", "arrow")
_ALIASES = {"ndjson": "jsonl", "pq": "parquet", "ipc": "arrow", "feather": "arrow"}
# Approximate rows of a block, which Polars writes at once: some tens of megabytes.
AT_ONCE = 122_880
# Event columns of a trace; a runs column with such a name would be misread.
_OF_EVENTS = ("time", "objective", "valid", "verdict", *OPTIONAL_COLUMNS)


def trace_blocks(campaign: Campaign, about: int = AT_ONCE) -> Iterator[pl.DataFrame]:
    """Yield all captured events with their runs in blocks of about `about` rows; at least one block, perhaps empty.

    A run without events is one row with empty time and objective.
    """
    campaign.check_files()
    named = campaign.reason is not None or any(_has_nameless(campaign, *one) for one in slices_of(campaign.runs))
    unfit = _unfit(campaign)
    for runs in _blocks_of_runs(campaign.runs, about):
        campaign.check_files()
        slices = list(slices_of(runs))
        columns = {
            name: np.concatenate([column[low:high] for low, high in slices]) if slices else np.asarray(column[:0])
            for name, column in campaign.columns.items()
        }
        yield _events_of(runs.drop(unfit), columns, campaign.reasons, named=named)
    campaign.check_files()


def _blocks_of_runs(runs: pl.DataFrame, about: int) -> Iterator[pl.DataFrame]:
    """Yield the runs in order, in blocks of equal numbers of rows; a run may continue in the next block.

    Polars uses the same blocks for a table that is in memory as a whole, so the bytes written are the same.
    """
    first, count = runs["first"].to_numpy(), runs["count"].to_numpy()
    # A run without events is a row too.
    ends = np.cumsum(np.maximum(count, 1))
    starts = ends - np.maximum(count, 1)
    size = int(ends[-1]) if len(ends) else 0
    fewer = max(size // about, 1)
    number = min(fewer, fewer + 1, key=lambda blocks: abs(size / blocks - about))
    edges = [k * (size // number) + min(k, size % number) for k in range(number + 1)]
    for low, high in pairwise(edges):
        rows = slice(int(np.searchsorted(ends, low, "right")), int(np.searchsorted(ends, high, "left")) + 1)
        begin = first[rows] + np.maximum(low - starts[rows], 0)
        end = first[rows] + np.minimum(count[rows], high - starts[rows])
        yield runs[rows].with_columns(first=pl.Series(begin, dtype=pl.Int64), count=pl.Series(end - begin))


def _has_nameless(campaign: Campaign, low: int, high: int) -> bool:
    """Say whether a rejected candidate lacks both numbers; without a reason it would be read as an empty run."""
    nothing = np.isnan(campaign.time[low:high]) & np.isnan(campaign.objective[low:high])
    return bool(np.any(nothing & (campaign.verdict[low:high] == VerdictCode.INVALID)))


def _events_of(
    runs: pl.DataFrame, columns: Mapping[str, NDArray[Any]], reasons: Sequence[str], *, named: bool
) -> pl.DataFrame:
    """Return the events of runs with contiguous candidates, with a `reason` column if `named`."""
    runs = runs.with_row_index("_run")
    events = pl.DataFrame(
        {"_run": np.repeat(np.arange(runs.height, dtype=np.uint32), runs["count"].to_numpy())} | dict(columns)
    )
    numbers = [name for name in columns if name not in ("verdict", "reason")]
    valid = pl.col("verdict").replace_strict(
        {VerdictCode.INVALID: False, VerdictCode.VALID: True}, default=None, return_dtype=pl.Boolean
    )
    events = events.with_columns(*(pl.col(name).fill_nan(None) for name in numbers), valid=valid).drop("verdict")
    if "reason" in events.columns:
        names = {code: name or None for code, name in enumerate(reasons)}
        events = events.with_columns(pl.col("reason").replace_strict(names, return_dtype=pl.String))
    if named:
        blank = (pl.col("valid") == False) & pl.col("time").is_null() & pl.col("objective").is_null()  # noqa: E712
        reason = pl.col("reason") if "reason" in events.columns else pl.lit(None, pl.String)
        why = pl.when(blank & reason.is_null()).then(pl.lit(Reason.DECLARED_INVALID.value)).otherwise(reason)
        events = events.with_columns(reason=why)
    # A left join: a run without events keeps its row, so that it cannot disappear from a denominator.
    table = runs.join(events, on="_run", how="left", maintain_order="left_right").drop("_run", "first", "count")
    front = [name for name in (*TRACE_REQUIRED, *TRACE_OPTIONAL) if name in table.columns]
    rest = [name for name in table.columns if name not in (*front, *RUNS, "import_notes")]
    return table.select(*front, *rest)


def _unfit(campaign: Campaign) -> list[str]:
    """Return the runs columns that a trace cannot hold: lists, bytes, and names of event columns."""
    kinds = campaign.runs.schema.items()
    return [name for name, kind in kinds if kind.is_nested() or kind in (pl.Binary, pl.Object) or name in _OF_EVENTS]


def with_senses(campaign: Campaign, declared: Senses = None) -> Campaign:
    """Write the senses to the runs if any instance is maximised, since a trace has no contract to state them."""
    senses = instance_senses(campaign, declared)
    if "max" not in senses.values():
        return campaign
    sense = pl.col("instance").replace_strict(senses, return_dtype=pl.String)
    return replace(campaign, runs=campaign.runs.with_columns(sense=sense))


def not_in_a_trace(campaign: Campaign) -> list[str]:
    """Return notes on what a trace file cannot hold: it has runs and events, not the facts of a campaign."""
    notes = campaign.notes()
    if campaign.interrupted:
        # An interrupted cell written as a run without events would be scored as an empty run.
        cells = listing(map(str, campaign.interrupted))
        notes.append(f"not in the file, because an attempt that was cut short is no run: {cells}")
    if unfit := _unfit(campaign):
        notes.append(f"not in the file, because a trace has no such columns of runs: {listing(unfit)}")
    if campaign.facts:
        declared = listing(f"{name} {value}" for name, value in sorted(campaign.facts.items()))
        notes.append(f"not in the file, because a trace has no place for it: {declared}")
    return notes


def write_trace(campaign: Campaign, path: Path, *, form: str | None = None) -> None:
    """Write a neutral trace file; the format follows the name unless it is given."""
    suffix = (form or path.suffix.lstrip(".")).lower()
    suffix = _ALIASES.get(suffix, suffix)
    if suffix not in FORMATS:
        raise UsageError(f"{path}: expected a format among {listing(FORMATS)}, got {suffix or 'none'}")
    refuse_no_file(path)
    blocks = trace_blocks(with_senses(campaign))
    write_atomically(path, partial(_WRITERS[suffix], blocks))


def _write_csv(blocks: Iterator[pl.DataFrame], stream: Any) -> None:
    for number, block in enumerate(blocks):
        # Text is quoted, numbers never: a name such as =1+1 stays text in a spreadsheet's import.
        block.write_csv(stream, include_header=number == 0, quote_style="non_numeric")


def _write_jsonl(blocks: Iterator[pl.DataFrame], stream: Any) -> None:
    for block in blocks:
        block.write_ndjson(stream)


def _write_parquet(blocks: Iterator[pl.DataFrame], stream: Any) -> None:
    with _as_one_frame(blocks) as frame:
        frame.sink_parquet(stream)


def _write_arrow(blocks: Iterator[pl.DataFrame], stream: Any) -> None:
    with _as_one_frame(blocks) as frame:
        frame.sink_ipc(stream)


@contextmanager
def _as_one_frame(blocks: Iterator[pl.DataFrame]) -> Iterator[pl.LazyFrame]:
    """Pass blocks to Polars as one lazy frame that reads them one by one; errors in the blocks are raised unchanged."""
    first = next(blocks)
    failure: list[BaseException] = []

    def taken(*_: Any) -> Iterator[pl.DataFrame]:
        try:
            yield first
            yield from blocks
        except BaseException as error:
            failure.append(error)
            raise

    try:
        yield register_io_source(taken, schema=first.schema)
    except Exception:
        if failure:
            raise failure[0] from None
        raise


_WRITERS = {"csv": _write_csv, "jsonl": _write_jsonl, "parquet": _write_parquet, "arrow": _write_arrow}
