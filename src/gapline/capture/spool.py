"""Batches of runs put into one campaign with memory bounded by a batch: large imports wait on disk, not in memory."""

import tempfile
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.capture.assemble import MOST_REASONS, OTHER_REASON, RunTrace, campaign_from_traces
from gapline.errors import TraceError
from gapline.model.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign
from gapline.model.diagnostics import Diagnostics
from gapline.model.tables import CARRIED, RUN_KEY, VerdictCode

_DTYPES = REQUIRED_COLUMNS | OPTIONAL_COLUMNS
# Candidates; at 17 bytes each this is less than what one large log takes while it is read.
IN_MEMORY = 4_000_000


@dataclass(slots=True)
class Spool:
    """Takes campaigns one after the other and gives back one; beyond `in_memory` candidates columns are on disk."""

    in_memory: int = IN_MEMORY
    tables: list[pl.DataFrame] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=lambda: {"": 0})
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    not_positive: int = 0
    _waiting: list[RunTrace] = field(default_factory=list)
    _events: int = 0
    _pieces: list[dict[str, Any]] = field(default_factory=list)
    _files: dict[str, IO[bytes]] = field(default_factory=dict)

    def add_run(self, trace: RunTrace) -> None:
        """Take a run, which waits for the next `flush`: a folder of small files pays the cost of a pass once."""
        self._waiting.append(trace)
        self._events += len(trace.time)

    def flush(self, *, at_least: int = 0) -> None:
        """Make a batch of the runs that wait, if they have that many events."""
        if self._waiting and self._events >= at_least:
            self.add(campaign_from_traces(self._waiting))
            self._waiting, self._events = [], 0

    def add(self, batch: Campaign) -> None:
        """Take a batch whose columns are in the order of its runs."""
        columns = dict(batch.columns)
        if batch.reason is not None:
            codes = []
            for reason in batch.reasons:
                # A code is a byte: reasons beyond those are counted together.
                kept = reason if reason in self.reasons or len(self.reasons) < MOST_REASONS else OTHER_REASON
                codes.append(self.reasons.setdefault(kept, len(self.reasons)))
            columns["reason"] = np.array(codes, np.uint8)[batch.reason]
        self.tables.append(batch.runs)
        self.sizes.append(len(batch.time))
        self.diagnostics = self.diagnostics + batch.diagnostics
        accepted = (batch.verdict == VerdictCode.VALID) | (batch.verdict == VerdictCode.UNCHECKED)
        self.not_positive += int(np.count_nonzero(accepted & (batch.objective <= 0)))
        self._pieces.append(columns)
        if sum(self.sizes) > self.in_memory:
            self._spill()

    def __del__(self) -> None:
        for file in self._files.values():
            file.close()

    def _spill(self) -> None:
        """Move the pieces that are still in memory to one file per column, and map them from there."""
        for piece in self._pieces:
            for name, column in piece.items():
                if isinstance(column, np.memmap) or not len(column):
                    continue
                if name not in self._files:
                    self._files[name] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the spool
                file = self._files[name]
                at = file.seek(0, 2)
                # Appended: the columns of all batches lie one behind the other in one file, not in thousands.
                file.write(np.ascontiguousarray(column).data)
                file.flush()
                piece[name] = np.memmap(file, column.dtype, "r", at, column.shape)

    def finish(self, identities: pl.DataFrame, *, facts: dict[str, str], diagnostics: Diagnostics) -> Campaign:
        """Return the campaign, its runs named by `identities` (one row per run, in the order they came) and sorted."""
        try:
            table = pl.concat(self.tables, how="diagonal_relaxed")
        except pl.exceptions.PolarsError as error:
            raise TraceError(f"expected run columns of like types in all files, got {error}") from error
        offsets = np.repeat(np.cumsum([0, *self.sizes[:-1]]), [part.height for part in self.tables])
        table = table.with_columns(*identities.iter_columns(), first=pl.col("first") + pl.Series(offsets))
        table = table.with_columns(pl.col(n).cast(t) for n, t in CARRIED.items() if n in table.columns)
        # A column that no file stated would read as "every stamp is exact, and we know it".
        if "resolution" in table.columns and table["resolution"].null_count() == table.height:
            table = table.drop("resolution")
        table = table.sort(RUN_KEY, maintain_order=True)
        slices = table.select("first", "count").rows()
        names = [name for name in _DTYPES if any(name in piece for piece in self._pieces)]
        columns: dict[str, Any] = {name: self._gather(name, slices) for name in names}
        table = table.with_columns(first=pl.col("count").cum_sum() - pl.col("count"))
        columns |= {"reasons": tuple(self.reasons), "facts": facts, "diagnostics": diagnostics}
        return Campaign.from_arrays(runs=table, **columns)

    def _gather(self, name: str, slices: list[tuple[int, int]]) -> NDArray[Any]:
        """Bring a column into the order of the runs, in memory or, where it was spilled, in a file of its own."""
        total = sum(self.sizes)
        target: NDArray[Any] = np.empty(0 if self._files else total, _DTYPES[name])
        if self._files:
            with tempfile.TemporaryFile() as scratch:  # the map keeps it after it is closed
                target = np.memmap(scratch, _DTYPES[name], "w+", shape=(total,))
        bounds = np.cumsum([0, *self.sizes])
        at = 0
        for first, count in slices:
            if not count:
                continue
            # A run lies inside one batch; an empty one before it may begin at the same place, so the last that fits.
            batch = int(np.searchsorted(bounds, first, side="right")) - 1
            column, inside = self._pieces[batch].get(name), first - int(bounds[batch])
            blank = 0 if name == "reason" else np.nan
            target[at : at + count] = blank if column is None else column[inside : inside + count]
            at += count
        return target
