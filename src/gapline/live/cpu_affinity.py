"""Avoid disturbing solvers: low priority, and other cores than those that runs are pinned to."""

import contextlib
import os
import time
from collections.abc import Callable, Iterable

NICENESS = 10
# For how many seconds after a run its core counts as pinned, because the next run may follow.
REMEMBER = 60.0


def go_quietly() -> None:
    """Lower the priority of this process."""
    with contextlib.suppress(OSError):
        os.nice(max(0, NICENESS - os.nice(0)))
    # Our own work is small: a pool with a thread per core would wake all of them.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


def avoid_cores(pinned: Iterable[int], allowed: frozenset[int]) -> frozenset[int]:
    """Move all threads of this process to cores without a pinned run, if there are any; return the cores used."""
    free = allowed.difference(pinned) or allowed
    for thread in _threads():
        with contextlib.suppress(OSError):
            os.sched_setaffinity(thread, free)
    return frozenset(free)


class Distance:
    """The cores to avoid: those with pinned runs, and for a while those that had one, because the next may follow.

    Runs begin between two looks: a process that returned to a core as soon as it is free would disturb the next run.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._allowed = allowed_cores()
        self._clock = clock
        self._seen: dict[int, float] = {}
        self._off: frozenset[int] = frozenset()

    def keep(self, pinned: Iterable[int]) -> frozenset[int]:
        """Avoid the cores that are pinned now or were recently; return them."""
        now, pinned = self._clock(), frozenset(pinned)
        self._seen |= dict.fromkeys(pinned, now)
        self._seen = {core: at for core, at in self._seen.items() if now - at <= REMEMBER}
        off = frozenset(self._seen)
        if not self._allowed.difference(off):
            # A core that may get a run is better than one that has a run.
            off = pinned
        if off != self._off:
            self._off = off
            avoid_cores(off, self._allowed)
        return off


def allowed_cores() -> frozenset[int]:
    """Return the cores that this process may use."""
    return frozenset(os.sched_getaffinity(0))


def _threads() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc/self/task")]  # noqa: PTH208 (names are all that is needed)
    except OSError:
        return [0]
