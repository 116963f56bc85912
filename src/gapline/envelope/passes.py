"""Passes over the accepted steps of runs, in spans within the memory budget, or on workers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes, Unchecked
from gapline.envelope.worker_steps import Range, WorkerSteps, steps_of_range
from gapline.files.scratch_arrays import piece_size, scratch_array
from gapline.native.slices import side_by_side, step_places


def per_run(work: Callable[..., Any], envelopes: Envelopes, /, *columns: Any, **shared: Any) -> Any:
    """Return `work(part, *columns of the part, **shared)` for all runs, as an array with one row per run, in order.

    `work` has to be a module-level function, because workers receive its name.
    """
    if envelopes.held is not None:
        return _per_run_on_workers(envelopes.held, work, envelopes, columns, shared)
    found = [
        work(replace(envelopes, runs=envelopes.runs[low:high]), *(column[low:high] for column in columns), **shared)
        for low, high in run_spans(envelopes.runs["count"].to_numpy())
    ]
    return found[0] if len(found) == 1 else np.concatenate(found)


def per_run_at_once(work: Callable[..., Any], envelopes: Envelopes, /, *columns: Any, **shared: Any) -> Any:
    """Do the same for a pass that needs no memory per step and can therefore process columns of any size at once."""
    if envelopes.held is not None:
        return per_run(work, envelopes, *columns, **shared)
    return work(envelopes, *columns, **shared)


def run_spans(count: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of runs with at most as many steps as a pass may hold, or of a single run.

    Without runs, yield one empty range, because an empty pass has a result too.
    """
    ends = np.cumsum(count)
    most, low = piece_size(), 0
    while True:
        before = int(ends[low - 1]) if low else 0
        high = max(int(np.searchsorted(ends, before + most, "right")), min(low + 1, len(ends)))
        yield low, high
        low = high
        if low >= len(ends):
            return


def bring(envelopes: Envelopes, /) -> Envelopes:
    """Return the envelopes with local, contiguous steps in the order of the runs, in scratch files if large.

    Sorting the steps of several runs by time requires this.
    """
    runs = envelopes.runs
    first, count = runs["first"].to_numpy(), runs["count"].to_numpy()
    if envelopes.held is None:
        if side_by_side(first, count) is not None:
            return envelopes
        size = int(count.sum())
        time, objective = scratch_array(size), scratch_array(size)
        at = 0
        for low, high in run_spans(count):
            own, _ = step_places(first[low:high], count[low:high])
            until = at + int(count[low:high].sum())
            time[at:until], objective[at:until] = envelopes.time[own], envelopes.objective[own]
            at = until
    else:
        time, objective = envelopes.held.bring(runs)
    for column in (time, objective):
        column.flags.writeable = False
    moved = runs.with_columns(first=pl.Series(np.cumsum(count) - count, dtype=pl.Int64))
    return replace(envelopes, runs=moved, time=time, objective=objective, held=None)


def _per_run_on_workers(
    held: WorkerSteps, work: Callable[..., Any], envelopes: Envelopes, columns: tuple[Any, ...], shared: dict[str, Any]
) -> Any:
    """Run a pass over these runs on the workers; return its rows in the order of the runs."""
    chosen = list(held.split(envelopes.runs))
    tasks = [
        (held.ranges[k], work, table, tuple(column[rows] for column in columns), shared, envelopes.unchecked)
        for k, rows, table in chosen
    ]
    out: Any = None
    for number, part in held.workers.run(_per_run_of_range, tasks):
        if out is None:
            out = np.empty((envelopes.runs.height, *part.shape[1:]), part.dtype)
        out[chosen[number][1]] = part
    return out


def _per_run_of_range(
    wanted: Range,
    work: Callable[..., Any],
    runs: pl.DataFrame,
    columns: tuple[Any, ...],
    shared: dict[str, Any],
    unchecked: Unchecked,
) -> Any:
    """Run a pass over some runs of a range. Called on a worker."""
    time, objective = steps_of_range(wanted)
    part = Envelopes(runs=runs, time=time, objective=objective, scale=wanted.scale, unchecked=unchecked)
    return per_run(work, part, *columns, **shared)
