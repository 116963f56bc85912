"""Ratios of two pieces of work measured in turns, so that a noisy machine disturbs both alike."""

import statistics
import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(work: Callable[[], object], unit: Callable[[], object], *, repeats: int = 7) -> float:
    """Return the median time of `work` over the median time of `unit`, each run once before it is timed."""
    work()
    unit()
    pairs = [(seconds(work), seconds(unit)) for _ in range(repeats)]
    return statistics.median(w for w, _ in pairs) / statistics.median(u for _, u in pairs)
