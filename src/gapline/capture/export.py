"""A campaign as a neutral trace table, for exchange: what `read` takes back as it was."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.errors import UsageError, found_at, listing
from gapline.model.campaign import Campaign
from gapline.model.store import write_atomically
from gapline.model.tables import RUNS, TRACE_OPTIONAL, TRACE_REQUIRED, VerdictCode

FORMATS = ("csv", "jsonl", "parquet")


def trace_table(campaign: Campaign) -> pl.DataFrame:
    """Return every captured event with its run; a run without events is one row with empty time and objective."""
    whole = campaign.compact()
    runs = whole.runs.with_row_index("_run")
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
    # A left join: a run without events keeps its row, so that it cannot disappear from a denominator.
    table = runs.join(events, on="_run", how="left", maintain_order="left_right").drop("_run", "first", "count")
    front = [name for name in (*TRACE_REQUIRED, *TRACE_OPTIONAL) if name in table.columns]
    rest = [name for name in table.columns if name not in (*front, *RUNS, "import_notes")]
    return table.select(*front, *rest)


def not_in_a_trace(campaign: Campaign) -> list[str]:
    """Say what a trace file has no place for: it holds runs and events, not what is declared of the campaign."""
    notes = campaign.notes()
    if campaign.interrupted:
        # A run of a trace is whole: written as one without events, a cell that was cut short would score as empty.
        cells = listing(map(str, campaign.interrupted))
        notes.append(f"not in the file, because an attempt that was cut short is no run: {cells}")
    if campaign.facts:
        declared = listing(f"{name} {value}" for name, value in sorted(campaign.facts.items()))
        notes.append(f"not in the file, because a trace has no place for it: {declared}")
    return notes


def write_trace(campaign: Campaign, path: Path, *, form: str | None = None) -> None:
    """Write a neutral trace file; the format follows the name unless it is given."""
    suffix = (form or path.suffix.lstrip(".")).lower()
    suffix = {"ndjson": "jsonl", "pq": "parquet"}.get(suffix, suffix)
    if suffix not in FORMATS:
        raise UsageError(f"{path}: expected a format among {listing(FORMATS)}, got {suffix or 'none'}")
    if path.exists() and not path.is_file():
        # The rename at the end would put a file in the place of a pipe or a device.
        raise UsageError(f"{path}: expected a file to write, got {found_at(path)}")
    table = trace_table(campaign)
    # Text is quoted, numbers never: a name such as =1+1 stays text in a spreadsheet's import.
    write_csv = partial(table.write_csv, quote_style="non_numeric")
    writers: dict[str, Any] = {"csv": write_csv, "jsonl": table.write_ndjson, "parquet": table.write_parquet}
    write_atomically(path, writers[suffix])
