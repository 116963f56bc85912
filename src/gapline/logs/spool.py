"""Combine batches of runs, and runs too large for memory, into one campaign with bounded memory."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.assembly import RunTrace, campaign_from_traces
from gapline.campaign.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign
from gapline.campaign.diagnostics import Diagnostics
from gapline.campaign.join import MOST_REASONS, OTHER_REASON, join_tables, joined_runs
from gapline.contract.tables import RUN_KEY, VerdictCode
from gapline.files.scratch_arrays import spans

# Events that are processed at a time.
STEP = 250_000
# Candidates; at 17 bytes each, they need less memory than reading one large log.
IN_MEMORY = 4_000_000
# A larger run is not assembled with others, but alone, in parts.
LARGE = 2_000_000
# Up to this average number of candidates, slices are copied together.
_SHORT = 64
# Smaller tables are joined once there are this many of them.
_SMALL, _MANY = 4096, 32
_DTYPES = REQUIRED_COLUMNS | OPTIONAL_COLUMNS


class Waiting(NamedTuple):
    """A column in a file. It is mapped on demand, because each mapped file stays open, and there may be many."""

    file: Path | IO[bytes]
    kind: np.dtype[Any]
    at: int
    size: int

    def mapped(self) -> NDArray[Any]:
        """Return the column."""
        return np.memmap(self.file, self.kind, "r", self.at, (self.size,)) if self.size else np.empty(0, self.kind)


class Batch(NamedTuple):
    """The columns of some runs, in memory or in a file (`Waiting`); `codes` maps their reason codes to the spool's."""

    size: int
    columns: dict[str, Any]
    codes: NDArray[np.uint8] | None


@dataclass(slots=True)
class Spool:
    """Collects campaigns and combines them into one; beyond `in_memory` candidates, columns are stored on disk.

    `folder` is the place for these files, so that a small disk for temporary files need not hold a large campaign.
    """

    in_memory: int = IN_MEMORY
    folder: Path | None = None
    tables: list[pl.DataFrame] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=lambda: {"": 0})
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    not_positive: int = 0
    batches: list[Batch] = field(default_factory=list)
    size: int = 0
    _waiting: list[RunTrace] = field(default_factory=list)
    _events: int = 0
    _files: dict[str, IO[bytes]] = field(default_factory=dict)
    _others: list["Spool"] = field(default_factory=list)

    def add_run(self, trace: RunTrace) -> None:
        """Add a run, which waits for the next `flush`, so that many small files share the cost of a pass."""
        if len(trace.time) > LARGE:
            # First those that wait, to keep the order.
            self.flush()
            self.add_large(trace)
            return
        self._waiting.append(trace)
        self._events += len(trace.time)
        # One file may have many runs.
        self.flush(at_least=LARGE)

    def flush(self, *, at_least: int = 0) -> None:
        """Make a batch of the waiting runs, if they have that many events."""
        if self._waiting and self._events >= at_least:
            self.add(campaign_from_traces(self._waiting))
            self._waiting, self._events = [], 0

    def add(self, batch: Campaign) -> None:
        """Add a batch whose columns are in the order of its runs."""
        self._add_table(batch.runs, batch.diagnostics)
        self._add_columns(batch)

    def add_large(self, trace: RunTrace, *, step: int = STEP) -> None:
        """Add one run in parts, with memory for `step` events.

        A run whose time stamps are not sorted has to be sorted, which takes memory for all of it.
        """
        if not _is_in_order(trace.time, step):
            self.add(campaign_from_traces([trace]))
            return
        size, begins, total, last, table = len(trace.time), self.size, Diagnostics(), None, pl.DataFrame()
        for span in spans(size, most=step):
            part = campaign_from_traces([_cut(trace, span)])
            # A duplicate candidate may span the border of two parts.
            first = float(part.time[0]), float(part.objective[0])
            total = total + replace(part.diagnostics, duplicate=part.diagnostics.duplicate + (first == last))
            last = float(part.time[-1]), float(part.objective[-1])
            table = part.runs if span.start == 0 else table
            self._add_columns(part)
        counts = {"runs": 1, "empty": int(total.candidates == 0), "rejected": dict(sorted(total.rejected.items()))}
        table = table.with_columns(first=pl.lit(begins - self.size, pl.Int64), count=pl.lit(size, pl.Int64))
        self._add_table(table, replace(total, **counts))  # type: ignore[arg-type]

    def _add_table(self, runs: pl.DataFrame, diagnostics: Diagnostics) -> None:
        # The identities of the runs are set at the end.
        self.tables.append(_shifted(runs.drop(RUN_KEY), self.size))
        self.diagnostics = self.diagnostics + diagnostics

    def _add_columns(self, batch: Campaign) -> None:
        for part in spans(len(batch.time), most=STEP):
            verdict = batch.verdict[part]
            accepted = (verdict == VerdictCode.VALID) | (verdict == VerdictCode.UNCHECKED)
            self.not_positive += int(np.count_nonzero(accepted & (batch.objective[part] <= 0)))
        codes = None if batch.reason is None else self._codes(batch.reasons)
        self._keep(Batch(len(batch.time), dict(batch.columns), codes))

    def extend(self, other: "Spool") -> None:
        """Append all runs of another spool."""
        self.tables += [_shifted(table, self.size) for table in other.tables]
        # Small tables take more memory than their cells.
        if sum(table.height < _SMALL for table in self.tables[-_MANY:]) == _MANY:
            self.tables[-_MANY:] = [join_tables(self.tables[-_MANY:]).rechunk()]
        self.diagnostics = self.diagnostics + other.diagnostics
        self.not_positive += other.not_positive
        if other._files or other._others:
            # Keep it alive: its files are closed with it.
            self._others.append(other)
        known = self._codes(tuple(other.reasons))
        for batch in other.batches:
            self._keep(batch._replace(codes=None if batch.codes is None else known[batch.codes]))

    def _codes(self, names: tuple[str, ...]) -> NDArray[np.uint8]:
        """Return the codes in this spool for the reasons of another list, adding new ones."""
        codes = []
        for name in names:
            # A code is a byte: further reasons are counted together.
            kept = name if name in self.reasons or len(self.reasons) < MOST_REASONS else OTHER_REASON
            codes.append(self.reasons.setdefault(kept, len(self.reasons)))
        return np.array(codes, np.uint8)

    def _keep(self, batch: Batch) -> None:
        self.batches.append(batch)
        self.size += batch.size
        if self.size > self.in_memory:
            self._spill()

    def __del__(self) -> None:
        for file in self._files.values():
            file.close()

    def _spill(self) -> None:
        """Move the columns that are still in memory to one file each, and map them from there."""
        # Backwards: earlier batches are on disk since the last call.
        for batch in reversed(self.batches):
            if all(isinstance(column, Waiting) for column in batch.columns.values()):
                if batch.size:
                    break
                continue
            for name, column in batch.columns.items():
                if isinstance(column, Waiting):
                    continue
                if name not in self._files:
                    self._files[name] = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115 - closed with the spool
                file = self._files[name]
                at = file.seek(0, 2)
                # Appended: the columns of all batches share one file, instead of using thousands.
                file.write(np.ascontiguousarray(column).data)
                file.flush()
                batch.columns[name] = Waiting(file, column.dtype, at, len(column))

    def finish(self, identities: pl.DataFrame, *, facts: dict[str, str], diagnostics: Diagnostics) -> Campaign:
        """Return the campaign, with its runs named by `identities` (one row per run, in order of arrival) and sorted.

        The tables are released: a spool makes only one campaign.
        """
        table = joined_runs(self.tables, [0] * len(self.tables), identities)
        self.tables = []
        slices = list(self._slices(table["first"].to_numpy(), table["count"].to_numpy()))
        names = [name for name in _DTYPES if any(name in batch.columns for batch in self.batches)]
        columns: dict[str, Any] = {name: self._gather(name, slices) for name in names}
        table = table.with_columns(first=pl.col("count").cum_sum() - pl.col("count"))
        columns |= {"reasons": tuple(self.reasons), "facts": facts, "diagnostics": diagnostics}
        return Campaign.from_arrays(runs=table, **columns)

    def _slices(self, first: NDArray[np.int64], count: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], ...]]:
        """Yield, for each batch, the slices of runs in it: their starts, their targets and their sizes.

        `first` and `count` are those of the runs in their order; adjacent ranges are one slice.
        """
        first, ends = first[count > 0], (first + count)[count > 0]
        begins = np.ones(len(first), bool)
        begins[1:] = first[1:] != ends[:-1]
        first, ends = first[begins], ends[np.append(begins[1:], True)] if len(ends) else ends
        bounds = np.cumsum([0, *(batch.size for batch in self.batches)])
        # A slice may span several batches, and is then divided.
        owner = np.searchsorted(bounds, first, side="right") - 1
        parts = np.searchsorted(bounds, ends, side="left") - owner
        whole = np.repeat(np.arange(len(first)), parts)
        owner = owner[whole] + np.arange(len(whole)) - (np.cumsum(parts) - parts)[whole]
        low, high = np.maximum(first[whole], bounds[owner]), np.minimum(ends[whole], bounds[owner + 1])
        to = np.cumsum(high - low) - (high - low)
        # By batches: each is opened once, and closed before the next.
        order = np.argsort(owner, kind="stable")
        edges = np.searchsorted(owner[order], np.arange(len(self.batches) + 1))
        for number, rows in enumerate(order[start:end] for start, end in pairwise(edges)):
            yield low[rows] - bounds[number], to[rows], high[rows] - low[rows]

    def _gather(self, name: str, slices: list[tuple[NDArray[np.int64], ...]]) -> NDArray[Any]:
        """Return a column in the order of the runs, in memory or, if it is large, in a temporary file."""
        target: NDArray[Any]
        if self.size > self.in_memory:
            with tempfile.TemporaryFile(dir=self.folder) as scratch:  # the map keeps it after it is closed
                target = np.memmap(scratch, _DTYPES[name], "w+", shape=(self.size,))
        else:
            target = np.empty(self.size, _DTYPES[name])
        for batch, (low, to, size) in zip(self.batches, slices, strict=True):
            column = batch.columns.get(name)
            if isinstance(column, Waiting):
                column = column.mapped()
            if column is None:
                column = np.broadcast_to(np.array(0 if name == "reason" else np.nan, _DTYPES[name]), (batch.size,))
            elif name == "reason" and batch.codes is not None:
                column = batch.codes[column]
            _copy(column, target, low, to, size)
        return target


def _is_in_order(time: Any, step: int) -> bool:
    """Whether time stamps are complete and sorted."""
    # Each part has one more than a step, to include the border of two parts.
    parts = (np.asarray(time[span.start : span.stop + 1], np.float64) for span in spans(len(time), most=step))
    return all(bool(np.all(part[1:] >= part[:-1])) and not np.isnan(part[:1]).any() for part in parts)


def _cut(trace: RunTrace, span: slice) -> RunTrace:
    names = ("time", "objective", "verdict", "bound", "claimed", "primary", "secondary", "reason")
    return replace(trace, **{n: column[span] for n in names if (column := getattr(trace, n)) is not None})


def _shifted(table: pl.DataFrame, by: int) -> pl.DataFrame:
    return table.with_columns(first=pl.col("first") + by) if by else table


def _copy(column: Any, target: Any, low: Any, to: Any, size: Any) -> None:
    """Copy slices to their places: short ones together."""
    total = int(size.sum())
    if len(size) * _SHORT > total:
        step = np.arange(total) - np.repeat(np.cumsum(size) - size, size)
        target[np.repeat(to, size) + step] = column[np.repeat(low, size) + step]
        return
    for start, place, count in zip(low.tolist(), to.tolist(), size.tolist(), strict=True):
        target[place : place + count] = column[start : start + count]
