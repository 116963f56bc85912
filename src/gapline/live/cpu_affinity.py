"""Keeping out of the solvers' way: low priority, and other cores than those that runs are pinned to."""

import contextlib
import os
import time
from collections.abc import Callable, Iterable

NICENESS = 10
# Seconds for which a core that was pinned is taken for one that is pinned again soon.
REMEMBER = 60.0


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


class Distance:
    """The cores to stay off: those that runs are pinned to, and for a while those that they were, where the next come.

    Runs begin between two looks: whoever came back to a core as soon as it is free would be in the way of the next.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._allowed = allowed_cores()
        self._clock = clock
        self._seen: dict[int, float] = {}
        self._off: frozenset[int] = frozenset()

    def keep(self, pinned: Iterable[int]) -> frozenset[int]:
        """Stay off the cores that are pinned now or were lately; return those that we stay off."""
        now, pinned = self._clock(), frozenset(pinned)
        self._seen |= dict.fromkeys(pinned, now)
        self._seen = {core: at for core, at in self._seen.items() if now - at <= REMEMBER}
        off = frozenset(self._seen)
        if not self._allowed.difference(off):
            # Rather where a run may come than where one is.
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
