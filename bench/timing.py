"""Ratios of two pieces of work measured in turns, so that a noisy machine disturbs both alike."""

import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(work: Callable[[], object], unit: Callable[[], object], *, repeats: int = 7) -> float:
    """Return the best time of `work` over the best time of `unit`, each run once before it is timed.

    The best of several rounds: what else a shared machine does only ever adds to either of them.
    """
    work()
    unit()
    pairs = [(seconds(work), seconds(unit)) for _ in range(repeats)]
    return min(w for w, _ in pairs) / min(u for _, u in pairs)
