"""`read`: one call for a trace file, a campaign or study directory, a frame, records, or several of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from gapline.capture.merge import merge_campaigns
from gapline.capture.neutral import campaign_from_records, campaign_from_table, read_neutral
from gapline.errors import TraceError, UsageError
from gapline.model.campaign import Campaign
from gapline.model.layout import campaign_directory
from gapline.model.store import open_campaign


def read(source: Any, /) -> Campaign:
    """Read a campaign from whatever holds one.

    Parameters
    ----------
    source
        A path to a neutral trace (.csv, .jsonl, .parquet, .arrow; .gz and .zst too), to a campaign directory or a study
        directory; any frame that speaks the Arrow PyCapsule interface (pandas, polars, pyarrow, duckdb); a list of
        records; or a list of any of these, which must hold disjoint runs.

    >>> campaign = read([{"arm": "a", "instance": "i", "seed": 1, "time": 0.5, "objective": 12.0}])
    >>> campaign.diagnostics.notes
    ('no `valid` column: candidates count as valid because the solver said so',)
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.exists():
            raise TraceError(f"{path}: expected a trace file, campaign or study directory, got no such file")
        return open_campaign(campaign_directory(path)) if path.is_dir() else read_neutral(path)
    if isinstance(source, Campaign):
        return source
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    # The one interface that pandas, polars, pyarrow and duckdb share: none of them is imported for it.
    if hasattr(source, "__arrow_c_stream__"):
        return campaign_from_table(pl.DataFrame(source), source="frame", first_line=0)
    if isinstance(source, Sequence) and not isinstance(source, bytes):
        # Mappings are rows of one table; anything else in a list is a source of its own.
        if all(isinstance(item, dict) for item in source) and source:
            if all("trace" in item for item in source):
                return Campaign.from_runs(source)
            return campaign_from_records(source)
        if source:
            return merge_campaigns([read(item) for item in source])
        raise UsageError("read: expected at least one source, got an empty list")
    raise UsageError(f"read: expected a path, a frame, records or a list of them, got {type(source).__name__}")
