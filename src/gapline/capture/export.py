"""A campaign as a neutral trace table, for exchange: what `read` takes back as it was."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.errors import UsageError, listing
from gapline.model.campaign import OPTIONAL_COLUMNS, Campaign
from gapline.model.scale import Senses, instance_senses
from gapline.model.tables import RUNS, TRACE_OPTIONAL, TRACE_REQUIRED, Reason, VerdictCode
from gapline.model.writing import refuse_no_file, write_atomically

FORMATS = ("csv", "jsonl", "parquet", "arrow")
_ALIASES = {"ndjson": "jsonl", "pq": "parquet", "ipc": "arrow", "feather": "arrow"}
# What a trace says of its events: a column of the runs under such a name would be read as another thing.
_OF_EVENTS = ("time", "objective", "valid", "verdict", *OPTIONAL_COLUMNS)


def trace_table(campaign: Campaign) -> pl.DataFrame:
    """Return every captured event with its run; a run without events is one row with empty time and objective."""
    whole = campaign.compact()
    runs = whole.runs.drop(_unfit(whole)).with_row_index("_run")
    events = pl.DataFrame(
        {"_run": np.repeat(np.arange(len(whole), dtype=np.uint32), whole.runs["count"].to_numpy())}
        | {name: np.asarray(column) for name, column in whole.columns.items()}
    )
    numbers = [name for name in whole.columns if name not in ("verdict", "reason")]
    valid = pl.col("verdict").replace_strict(
        {VerdictCode.INVALID: False, VerdictCode.VALID: True}, default=None, return_dtype=pl.Boolean
    )
    events = events.with_columns(*(pl.col(name).fill_nan(None) for name in numbers), valid=valid).drop("verdict")
    if "reason" in events.columns:
        names = {code: name or None for code, name in enumerate(whole.reasons)}
        events = events.with_columns(pl.col("reason").replace_strict(names, return_dtype=pl.String))
    # Without numbers and a reason, a rejected candidate would look like a run that found nothing.
    blank = (pl.col("valid") == False) & pl.col("time").is_null() & pl.col("objective").is_null()  # noqa: E712
    if events.select(blank.any()).item():
        reason = pl.col("reason") if "reason" in events.columns else pl.lit(None, pl.String)
        why = pl.when(blank & reason.is_null()).then(pl.lit(Reason.DECLARED_INVALID.value)).otherwise(reason)
        events = events.with_columns(reason=why)
    # A left join: a run without events keeps its row, so that it cannot disappear from a denominator.
    table = runs.join(events, on="_run", how="left", maintain_order="left_right").drop("_run", "first", "count")
    front = [name for name in (*TRACE_REQUIRED, *TRACE_OPTIONAL) if name in table.columns]
    rest = [name for name in table.columns if name not in (*front, *RUNS, "import_notes")]
    return table.select(*front, *rest)


def _unfit(campaign: Campaign) -> list[str]:
    """Return the columns of the runs that a trace has no place for: lists and bytes, and names of event columns."""
    kinds = campaign.runs.schema.items()
    return [name for name, kind in kinds if kind.is_nested() or kind in (pl.Binary, pl.Object) or name in _OF_EVENTS]


def with_senses(campaign: Campaign, declared: Senses = None) -> Campaign:
    """Write which of two objectives is better to the runs, where something is maximised and only a contract says so."""
    senses = instance_senses(campaign, declared)
    if "max" not in senses.values():
        return campaign
    sense = pl.col("instance").replace_strict(senses, return_dtype=pl.String)
    return replace(campaign, runs=campaign.runs.with_columns(sense=sense))


def not_in_a_trace(campaign: Campaign) -> list[str]:
    """Say what a trace file has no place for: it holds runs and events, not what is declared of the campaign."""
    notes = campaign.notes()
    if campaign.interrupted:
        # A run of a trace is whole: written as one without events, a cell that was cut short would score as empty.
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
    table = trace_table(with_senses(campaign))
    # Text is quoted, numbers never: a name such as =1+1 stays text in a spreadsheet's import.
    write_csv = partial(table.write_csv, quote_style="non_numeric")
    writers: dict[str, Any] = {
        "csv": write_csv,
        "jsonl": table.write_ndjson,
        "parquet": table.write_parquet,
        "arrow": table.write_ipc,
    }
    write_atomically(path, writers[suffix])
