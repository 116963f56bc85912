"""Steps held by workers, which accept the candidates of a campaign in a directory that they can access."""

import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.campaign import Campaign
from gapline.campaign.columns import Origin, multiplied
from gapline.campaign.remote import is_url, local_path, url_of
from gapline.campaign.scale import Scale
from gapline.campaign.store import open_campaign, read_manifest
from gapline.errors import IntegrityError, UsageError
from gapline.executors.executors import Workers
from gapline.files.memory import memory_budget
from gapline.files.scratch_arrays import piece_size, scratch_array
from gapline.native.accept import Accepted, accept_candidates, joined
from gapline.native.slices import step_places

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def origin_of(campaign: Campaign) -> Origin:
    """Return the directory of a campaign; refuse a campaign from another source, which workers cannot open."""
    if campaign.origin is None:
        raise UsageError(
            "--on: expected one campaign directory or study, whose columns lie in files, got another source",
            hint="make one first: gapline import FILES -o DIR, or gapline merge SOURCES -o DIR",
        )
    url = url_of(Path(campaign.origin.directory))
    # Workers cannot access the local copy of a URL, so they download their own.
    return campaign.origin if url is None else replace(campaign.origin, directory=url)


def reopen(origin: Origin, runs: pl.DataFrame) -> Campaign:
    """Open some runs of a campaign directory with their candidates; its digests are verified once per process."""
    whole = _opened(origin.directory, origin.seal)
    if not is_url(origin.directory) and read_manifest(Path(origin.directory)).get("seal") != origin.seal:
        raise _changed(origin.directory)
    filled = runs.filter(pl.col("count") > 0)
    first, ends = filled["first"].to_numpy(), (filled["first"] + filled["count"]).to_numpy()
    start, stop = (int(first.min()), int(ends.max())) if len(first) else (0, 0)
    columns: dict[str, Any] = {name: column[start:stop] for name, column in whole.columns.items()}
    table = runs.with_columns(first=pl.when(pl.col("count") > 0).then(pl.col("first") - start).otherwise(0))
    if origin.negated:
        signs = pl.select(pl.when(table["arm"].is_in(origin.negated)).then(-1.0).otherwise(1.0)).to_series()
        for name in {"objective", "claimed", "bound"} & columns.keys():
            columns[name] = multiplied(columns[name], table, signs)
    if origin.scaled:
        columns["time"] = multiplied(columns["time"], table, table["time_scale"])
    return replace(whole, runs=table, **columns)


@lru_cache(maxsize=4)
def _opened(directory: str, seal: str) -> Campaign:
    campaign = open_campaign(local_path(directory))
    if campaign.origin is None or campaign.origin.seal != seal:
        raise _changed(directory)
    return campaign


def _changed(directory: str) -> IntegrityError:
    return IntegrityError(f"{directory}: expected the campaign that was opened, got one that was changed meanwhile")


# Columns of the runs that passes need in addition to the steps.
_NEEDED = ("arm", "instance", "seed", "panel", "first", "count", "horizon", "resolution")
# Ranges per worker; several, so that a slow or lost worker delays only a small share of the work.
_RANGES = 3


@dataclass(frozen=True, slots=True)
class Range:
    """Runs whose steps one worker computes: the origin of their candidates, and the settings for accepting them."""

    name: str
    origin: Origin
    runs: pl.DataFrame
    horizon: Floats
    scale: Scale
    count_unchecked: bool


@dataclass(frozen=True, slots=True, eq=False)
class WorkerSteps:
    """The ranges, and the offsets of their steps as if these were concatenated in one column."""

    workers: Workers
    ranges: tuple[Range, ...]
    edges: Integers

    def bring(self, runs: pl.DataFrame) -> tuple[Floats, Floats]:
        """Return the concatenated steps of these runs, in their order."""
        count = runs["count"].to_numpy()
        starts = np.cumsum(count) - count
        size = int(count.sum())
        time, objective = scratch_array(size), scratch_array(size)
        chosen = list(self.split(runs))
        for number, (times, values) in self.workers.run(_steps_of_runs, [(self.ranges[k], t) for k, _, t in chosen]):
            at = 0
            for row in chosen[number][1].tolist():
                low, own = int(starts[row]), int(count[row])
                time[low : low + own], objective[low : low + own] = times[at : at + own], values[at : at + own]
                at += own
        return time, objective

    def split(self, runs: pl.DataFrame) -> Any:
        """Yield the ranges of these runs, their rows, and their table with `first` relative to the range."""
        first = runs["first"].to_numpy()
        # A run without steps belongs to no range; assign it to the first range that is used.
        owner = np.where(runs["count"].to_numpy() > 0, np.searchsorted(self.edges, first, "right") - 1, -1)
        filled = owner[owner >= 0]
        owner = np.where(owner < 0, filled.min() if len(filled) else 0, owner)
        table = runs.select(name for name in _NEEDED if name in runs.columns)
        for k in np.unique(owner).tolist():
            rows = np.flatnonzero(owner == k)
            moved = pl.Series(np.maximum(first[rows] - self.edges[k], 0), dtype=pl.Int64)
            yield k, rows, table[rows].with_columns(first=moved)


def accept_on_workers(
    campaign: Campaign, scale: Scale, horizon: Floats, workers: Workers, *, count_unchecked: bool
) -> tuple[Accepted, WorkerSteps]:
    """Accept candidates like `accept_candidates` on workers that keep the steps; `first` counts across all ranges."""
    origin = origin_of(campaign)
    most = max(1, min(piece_size(), campaign.candidates // max(1, _RANGES * workers.width())))
    name = uuid.uuid4().hex
    columns = [column for column in ("arm", "instance", "size", "time_scale") if column in campaign.runs.columns]
    chosen: list[Integers] = []
    ranges: list[Range] = []
    for rows, _ in campaign.pieces(most):
        # Use positions in the files, not in the piece, because a worker slices the files itself.
        runs = campaign.runs[rows].select(*columns, "seed", "first", "count")
        chosen.append(rows)
        ranges.append(Range(f"{name}-{len(ranges)}", origin, runs, horizon[rows], scale, count_unchecked))
    parts: list[Any] = [None] * len(ranges)
    for number, part in workers.run(_accept_one, [(one,) for one in ranges]):
        parts[number] = part
    found = joined(len(campaign), list(zip(chosen, parts, strict=True)))
    sizes = [int(part.counts["steps"].sum()) for part in parts]
    return found, WorkerSteps(workers, tuple(ranges), np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))


# The steps that this process holds as a worker, least recently used first.
_steps: "OrderedDict[str, tuple[Floats, Floats]]" = OrderedDict()
_lock = threading.Lock()


def _accept_one(wanted: Range) -> Accepted:
    """Accept the candidates of a range and keep its steps. Called on a worker."""
    runs = wanted.runs.with_columns(horizon=pl.lit(None, pl.Float64), panel=pl.lit("all"), status=pl.lit("unknown"))
    campaign = reopen(wanted.origin, runs)
    found = accept_candidates(campaign, wanted.scale, wanted.horizon, count_unchecked=wanted.count_unchecked)
    with _lock:
        _steps[wanted.name] = found.time, found.objective
        # Keep at least the newest; dropped steps can be recomputed.
        while len(_steps) > 1 and sum(time.nbytes * 2 for time, _ in _steps.values()) > memory_budget():
            _steps.popitem(last=False)
    # Return positions in the files, as in the given runs, not in the slice that was opened.
    moved = wanted.runs["first"].to_numpy() - campaign.runs["first"].to_numpy()
    return replace(found.moved(moved), time=np.empty(0), objective=np.empty(0))


def steps_of_range(wanted: Range) -> tuple[Floats, Floats]:
    """Return the steps of a range; recompute them if they were dropped. Called on a worker."""
    with _lock:
        if wanted.name in _steps:
            _steps.move_to_end(wanted.name)
            return _steps[wanted.name]
    _accept_one(wanted)
    return steps_of_range(wanted)


def _steps_of_runs(wanted: Range, runs: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return the steps of some runs of a range. Called on a worker."""
    time, objective = steps_of_range(wanted)
    own, _ = step_places(runs["first"].to_numpy(), runs["count"].to_numpy())
    return np.array(time[own]), np.array(objective[own])
