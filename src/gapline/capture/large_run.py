"""A run of more events than are worth holding, assembled piece by piece into columns on disk."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

import numpy as np
import polars as pl

from gapline.capture.assemble import RunTrace, campaign_from_traces
from gapline.model.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign
from gapline.model.diagnostics import Diagnostics
from gapline.model.join import MOST_REASONS, OTHER_REASON

STEP = 250_000
_DTYPES = REQUIRED_COLUMNS | OPTIONAL_COLUMNS


def campaign_from_large(trace: RunTrace, *, step: int = STEP) -> Campaign:
    """Assemble one run as `campaign_from_traces` does, with memory for `step` events; its columns are on disk.

    A run whose stamps go back has to be sorted, which takes memory for all of it.
    """
    size = len(trace.time)
    if not _is_in_order(trace.time, step):
        return campaign_from_traces([trace])
    files: dict[str, IO[bytes]] = {}
    reasons: dict[str, int] = {"": 0}
    total, table, last = Diagnostics(), pl.DataFrame(), None
    for start in range(0, size, step):
        part = campaign_from_traces([_cut(trace, start, start + step)])
        table = part.runs if start == 0 else table
        columns = dict(part.columns)
        if part.reason is not None:
            codes = [reasons.setdefault(_kept(name, reasons), len(reasons)) for name in part.reasons]
            columns["reason"] = np.array(codes, np.uint8)[part.reason]
        for name, column in columns.items():
            if name not in files:
                files[name] = tempfile.TemporaryFile()  # noqa: SIM115 - the map below keeps it
            # By its place: what a column of reasons lacks before its first one reads as zeros.
            files[name].seek(start * column.itemsize)
            files[name].write(np.ascontiguousarray(column).data)
        # A candidate may stand twice across the border of two parts.
        first = float(part.time[0]), float(part.objective[0])
        total = total + replace(part.diagnostics, duplicate=part.diagnostics.duplicate + (first == last))
        last = float(part.time[-1]), float(part.objective[-1])
    counts = {"runs": 1, "empty": int(total.candidates == 0), "rejected": dict(sorted(total.rejected.items()))}
    return Campaign.from_arrays(
        runs=table.with_columns(first=pl.lit(0, pl.Int64), count=pl.lit(size, pl.Int64)),
        reasons=tuple(reasons),
        diagnostics=replace(total, **counts),  # type: ignore[arg-type]
        **{name: _mapped(file, name, size) for name, file in files.items()},
    )


def in_steps(size: int, step: int = STEP) -> Iterator[slice]:
    """Yield slices that cover a column."""
    yield from (slice(start, start + step) for start in range(0, size, step))


def _is_in_order(time: Any, step: int) -> bool:
    """Say whether stamps never go back and are all there."""
    # One more than a step, so that the border of two parts is looked at too.
    parts = (np.asarray(time[part.start : part.stop + 1], np.float64) for part in in_steps(len(time), step))
    return all(bool(np.all(part[1:] >= part[:-1])) and not np.isnan(part[:1]).any() for part in parts)


def _cut(trace: RunTrace, start: int, end: int) -> RunTrace:
    names = ("time", "objective", "verdict", "bound", "claimed", "primary", "secondary", "reason")
    own = {name: column[start:end] for name in names if (column := getattr(trace, name)) is not None}
    plain = {
        name: getattr(trace, name) for name in ("arm", "instance", "seed", "panel", "horizon", "status", "carried")
    }
    return RunTrace(**own, **plain)


def _kept(name: str, reasons: dict[str, int]) -> str:
    return name if name in reasons or len(reasons) < MOST_REASONS else OTHER_REASON


def _mapped(file: IO[bytes], name: str, size: int) -> Any:
    with file:
        file.truncate(size * np.dtype(_DTYPES[name]).itemsize)
        file.flush()
        return np.memmap(file, _DTYPES[name], "r", shape=(size,))
