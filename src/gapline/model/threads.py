"""Compiled passes over slices of runs, one slice per core."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def thread_count() -> int:
    """Return how many threads the compiled passes use: the cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_slices(
    weights: Integers, work: Callable[[int, int], None], *, threads: int | None = None
) -> list[tuple[int, int]]:
    """Call `work(low, high)`, which lets go of the GIL, on slices of about equal weight; return the slices."""
    threads = threads or thread_count()
    total = int(weights.sum())
    # Below this a thread costs more than it saves.
    if threads == 1 or len(weights) < 2 * threads or total < 50_000:
        slices = [(0, len(weights))]
        work(0, len(weights))
        return slices
    ends = np.searchsorted(np.cumsum(weights), np.linspace(0, total, threads + 1)[1:-1], side="left") + 1
    edges = [0, *(int(end) for end in ends), len(weights)]
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


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that stay: to start some for each piece of a campaign costs more than they save."""
    return ThreadPoolExecutor(threads, "pass")


if hasattr(os, "register_at_fork"):
    # A forked child has none of the threads of its parent.
    os.register_at_fork(after_in_child=_pool.cache_clear)
