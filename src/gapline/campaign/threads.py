"""Compiled passes over slices of runs, one slice per core."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
# Weights that are summed together.
_BLOCK = 4096


def thread_count() -> int:
    """Return how many threads the compiled passes use: the cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_slices(
    weights: Integers, work: Callable[[int, int], None], *, each: int = 0, threads: int | None = None
) -> list[tuple[int, int]]:
    """Call `work(low, high)`, which lets go of the GIL, on slices of about equal weight; return the slices.

    `each` is what every one weighs beside its own weight.
    """
    threads = threads or thread_count()
    total = int(weights.sum()) + each * len(weights)
    # Below this a thread costs more than it saves.
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
        # Whoever lets go of the arrays may do so now: nobody writes to them any more.
        wait(others)
    for other in others:
        other.result()
    return slices


def at_once(*calls: Callable[[], None]) -> None:
    """Make calls that let go of the GIL, each in a thread of its own where there are cores for it."""
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
    """Yield, for each share of the weight, behind which place it is reached."""
    # Block by block: the sums up to each of a million places take more memory than the answer is worth.
    starts = np.arange(0, len(weights), _BLOCK)
    sums = np.add.reduceat(weights, starts) + each * np.diff(starts, append=len(weights))
    ends = np.cumsum(sums)
    for share in shares:
        block = int(np.searchsorted(ends, share, side="left"))
        inside = np.cumsum(weights[starts[block] : starts[block] + _BLOCK] + each) + (ends[block] - sums[block])
        yield int(starts[block] + np.searchsorted(inside, share, side="left")) + 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that stay: to start some for each piece of a campaign costs more than they save."""
    return ThreadPoolExecutor(threads, "pass")


if hasattr(os, "register_at_fork"):
    # A forked child has none of the threads of its parent.
    os.register_at_fork(after_in_child=_pool.cache_clear)
