"""Limit the share of time that some work may take, so that following runs does not disturb them."""

import contextlib
import time
from collections.abc import Callable, Iterator


class TimeShare:
    """Work that may take a `share` of the time, after an initial `allowance` in seconds."""

    def __init__(self, share: float, allowance: float = 0.0, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.turns = 0
        self._share, self._allowance, self._clock = share, allowance, clock
        self._credit, self._counted = allowance, clock()

    def wait(self) -> float:
        """Return how many seconds the work has to wait; 0 if it may be done now."""
        now = self._clock()
        self._credit = min(self._allowance, self._credit + self._share * (now - self._counted))
        self._counted = now
        return max(0.0, -self._credit / self._share)

    @contextlib.contextmanager
    def spent(self) -> Iterator[None]:
        """Count the time that the work takes; the first turn is free, because it loads modules for all others."""
        began = self._clock()
        try:
            yield
        finally:
            self._credit -= self._clock() - began if self.turns else 0.0
            self.turns += 1
