"""Compiled passes over slices of runs, one slice per core."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
# Number of weights that are summed as one block.
_BLOCK = 4096


def thread_count() -> int:
    """Return the number of threads of the compiled passes: the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_slices(
    weights: Integers, work: Callable[[int, int], None], *, each: int = 0, threads: int | None = None
) -> list[tuple[int, int]]:
    """Call `work(low, high)`, which releases the GIL, on slices of about equal weight; return the slices.

    `each` is a constant added to every weight.
    """
    threads = threads or thread_count()
    total = int(weights.sum()) + each * len(weights)
    # With less work, a thread costs more than it saves.
    if threads == 1 or len(weights) < 2 * threads or total < 50_000:
        slices = [(0, len(weights))]
        work(0, len(weights))
        return slices
    edges = [0, *_equal_shares(weights, each, np.linspace(0, total, threads + 1)[1:-1]), len(weights)]
    slices = [(low, high) for low, high in pairwise(edges) if low < high]
    others = [_pool(threads - 1).submit(work, low, high) for low, high in slices[1:]]
    try:
        work(*slices[0])
    finally:
        # Wait even after an error: the caller may free the arrays, so no thread may still write to them.
        wait(others)
    for other in others:
        other.result()
    return slices


def at_once(*calls: Callable[[], None]) -> None:
    """Run functions that release the GIL, in parallel if there are several cores."""
    threads = thread_count()
    others = [_pool(threads - 1).submit(call) for call in calls[1:]] if threads > 1 else []
    try:
        for call in calls[: 1 if others else None]:
            call()
    finally:
        wait(others)
    for other in others:
        other.result()


def _equal_shares(weights: Integers, each: int, shares: NDArray[np.float64]) -> Iterator[int]:
    """Yield, for each share of the total weight, the end of the slice that reaches it."""
    # Work in blocks: the cumulative sum of millions of weights would take too much memory.
    starts = np.arange(0, len(weights), _BLOCK)
    sums = np.add.reduceat(weights, starts) + each * np.diff(starts, append=len(weights))
    ends = np.cumsum(sums)
    for share in shares:
        block = int(np.searchsorted(ends, share, side="left"))
        inside = np.cumsum(weights[starts[block] : starts[block] + _BLOCK] + each) + (ends[block] - sums[block])
        yield int(starts[block] + np.searchsorted(inside, share, side="left")) + 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a persistent thread pool: starting threads for each piece of a campaign costs more than they save."""
    return ThreadPoolExecutor(threads, "pass")


if hasattr(os, "register_at_fork"):
    # A forked child has none of the threads of its parent.
    os.register_at_fork(after_in_child=_pool.cache_clear)
