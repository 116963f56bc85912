"""Steps that lie with workers: each accepts the candidates of a range of runs, keeps the steps, and passes over them.

What travels is small: which runs, which pass, one row per run. A worker that has lost its steps, or that is asked for a
range of another's, makes them again from the campaign directory, whose digests it verifies before it reads.
"""

import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.envelope.accept import Accepted, accept_candidates, joined
from gapline.envelope.build import Envelopes, Unchecked
from gapline.envelope.places import step_places
from gapline.model.budget import memory_budget
from gapline.model.campaign import Campaign
from gapline.model.origin import Origin
from gapline.model.reopen import origin_of, reopen
from gapline.model.scale import Scale
from gapline.model.scratch import piece_size, scratch_array
from gapline.model.workers import Workers

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# What passes look at beside the steps.
_NEEDED = ("arm", "instance", "seed", "panel", "first", "count", "horizon", "resolution")
# Ranges per worker: one that is slow, or lost, is then no half of everything.
_RANGES = 3


@dataclass(frozen=True, slots=True)
class Range:
    """Runs whose steps one worker makes: where their candidates are, and how they are accepted."""

    name: str
    origin: Origin
    runs: pl.DataFrame
    horizon: Floats
    scale: Scale
    count_unchecked: bool


@dataclass(frozen=True, slots=True, eq=False)
class HeldSteps:
    """The ranges, and where the steps of each would begin if all lay in one column."""

    workers: Workers
    ranges: tuple[Range, ...]
    edges: Integers

    def pass_over(
        self, work: Callable[..., Any], envelopes: Envelopes, columns: tuple[Any, ...], shared: dict[str, Any]
    ) -> Any:
        """Let the workers make a pass over these runs; return its rows in the order of the runs."""
        chosen = list(self._split(envelopes.runs))
        tasks = [
            (self.ranges[k], work, table, tuple(column[rows] for column in columns), shared, envelopes.unchecked)
            for k, rows, table in chosen
        ]
        out: Any = None
        for number, part in self.workers.run(_pass_there, tasks):
            if out is None:
                out = np.empty((envelopes.runs.height, *part.shape[1:]), part.dtype)
            out[chosen[number][1]] = part
        return out

    def bring(self, envelopes: Envelopes) -> tuple[Floats, Floats]:
        """Return the steps of these runs, one run after the other, in their order."""
        count = envelopes.runs["count"].to_numpy()
        starts = np.cumsum(count) - count
        size = int(count.sum())
        time, objective = scratch_array(size), scratch_array(size)
        chosen = list(self._split(envelopes.runs))
        for number, (times, values) in self.workers.run(_bring_there, [(self.ranges[k], t) for k, _, t in chosen]):
            at = 0
            for row in chosen[number][1].tolist():
                low, own = int(starts[row]), int(count[row])
                time[low : low + own], objective[low : low + own] = times[at : at + own], values[at : at + own]
                at += own
        return time, objective

    def _split(self, runs: pl.DataFrame) -> Any:
        """Yield the ranges that these runs lie in, their rows, and their table as the range numbers its steps."""
        first = runs["first"].to_numpy()
        # A run without a step lies nowhere: the first range that is asked takes it.
        owner = np.where(runs["count"].to_numpy() > 0, np.searchsorted(self.edges, first, "right") - 1, -1)
        filled = owner[owner >= 0]
        owner = np.where(owner < 0, filled.min() if len(filled) else 0, owner)
        table = runs.select(name for name in _NEEDED if name in runs.columns)
        for k in np.unique(owner).tolist():
            rows = np.flatnonzero(owner == k)
            moved = pl.Series(np.maximum(first[rows] - self.edges[k], 0), dtype=pl.Int64)
            yield k, rows, table[rows].with_columns(first=moved)


def accept_there(
    campaign: Campaign, scale: Scale, horizon: Floats, workers: Workers, *, count_unchecked: bool
) -> tuple[Accepted, HeldSteps]:
    """Accept candidates like `accept_candidates`, by workers who keep the steps; `first` counts through all ranges."""
    origin = origin_of(campaign)
    most = max(1, min(piece_size(), campaign.candidates // max(1, _RANGES * workers.width())))
    name = uuid.uuid4().hex
    columns = [column for column in ("arm", "instance", "size", "time_scale") if column in campaign.runs.columns]
    chosen: list[Integers] = []
    ranges: list[Range] = []
    for rows, _ in campaign.pieces(most):
        # Places in the files, not in the piece: a worker cuts its own.
        runs = campaign.runs[rows].select(*columns, "seed", "first", "count")
        chosen.append(rows)
        ranges.append(Range(f"{name}-{len(ranges)}", origin, runs, horizon[rows], scale, count_unchecked))
    parts: list[Any] = [None] * len(ranges)
    for number, part in workers.run(_accept_one, [(one,) for one in ranges]):
        parts[number] = part
    found = joined(len(campaign), list(zip(chosen, parts, strict=True)))
    sizes = [int(part.counts["steps"].sum()) for part in parts]
    return found, HeldSteps(workers, tuple(ranges), np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))


# What this process holds as a worker, the longest unused first.
_steps: "OrderedDict[str, tuple[Floats, Floats]]" = OrderedDict()
_lock = threading.Lock()


def _accept_one(wanted: Range) -> Accepted:
    """Accept the candidates of a range and keep its steps. Called on a worker."""
    runs = wanted.runs.with_columns(horizon=pl.lit(None, pl.Float64), panel=pl.lit("all"), status=pl.lit("unknown"))
    campaign = reopen(wanted.origin, runs)
    found = accept_candidates(campaign, wanted.scale, wanted.horizon, count_unchecked=wanted.count_unchecked)
    with _lock:
        _steps[wanted.name] = found.time, found.objective
        # At least the newest stays; what is dropped can be made again.
        while len(_steps) > 1 and sum(time.nbytes * 2 for time, _ in _steps.values()) > memory_budget():
            _steps.popitem(last=False)
    # Places in the files, as in the runs that came, not in what was opened of them.
    moved = wanted.runs["first"].to_numpy() - campaign.runs["first"].to_numpy()
    return replace(found.moved(moved), time=np.empty(0), objective=np.empty(0))


def _there(wanted: Range) -> tuple[Floats, Floats]:
    with _lock:
        if wanted.name in _steps:
            _steps.move_to_end(wanted.name)
            return _steps[wanted.name]
    _accept_one(wanted)
    return _there(wanted)


def _pass_there(
    wanted: Range,
    work: Callable[..., Any],
    runs: pl.DataFrame,
    columns: tuple[Any, ...],
    shared: dict[str, Any],
    unchecked: Unchecked,
) -> Any:
    """Make a pass over some runs of a range. Called on a worker."""
    from gapline.envelope.passes import per_run

    time, objective = _there(wanted)
    part = Envelopes(runs=runs, time=time, objective=objective, scale=wanted.scale, unchecked=unchecked)
    return per_run(work, part, *columns, **shared)


def _bring_there(wanted: Range, runs: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return the steps of some runs of a range. Called on a worker."""
    time, objective = _there(wanted)
    own, _ = step_places(runs["first"].to_numpy(), runs["count"].to_numpy())
    return np.array(time[own]), np.array(objective[own])
