"""Keeping out of the solvers' way: low priority, and other cores than those that runs are pinned to."""

import contextlib
import os
from collections.abc import Iterable

NICENESS = 10


def go_quietly() -> None:
    """Let everybody else go first, from now on."""
    with contextlib.suppress(OSError):
        os.nice(max(0, NICENESS - os.nice(0)))
    # Our own work is small: a thread pool of as many threads as there are cores would wake all of them.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


def avoid_cores(pinned: Iterable[int], allowed: frozenset[int]) -> frozenset[int]:
    """Move all threads of this process to cores that no run is pinned to, where there are any; return where we are."""
    free = allowed.difference(pinned) or allowed
    for thread in _threads():
        with contextlib.suppress(OSError):
            os.sched_setaffinity(thread, free)
    return frozenset(free)


def allowed_cores() -> frozenset[int]:
    """Return the cores that this process may use."""
    return frozenset(os.sched_getaffinity(0))


def _threads() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc/self/task")]  # noqa: PTH208 (names are all that is needed)
    except OSError:
        return [0]
