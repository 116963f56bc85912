"""Random integers from a name: sha256 of the name and a counter, the same on every machine and version."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draws:
    """A stream of draws that depends on its name alone.

    >>> draws = Draws("demo")
    >>> [draws.integer(1, 6) for _ in range(5)]
    [6, 5, 6, 6, 3]
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._counter = 0

    def integer(self, low: int, high: int) -> int:
        """Draw an integer between low and high, both included, without bias."""
        span = high - low + 1
        # Draw again beyond the last multiple of the span: otherwise small numbers would be more likely.
        limit = (1 << 64) // span * span
        while True:
            block = hashlib.sha256(f"{self._name}\0{self._counter}".encode()).digest()
            self._counter += 1
            word = int.from_bytes(block[:8], "big")
            if word < limit:
                return low + word % span

    def choice(self, items: Sequence[T]) -> T:
        """Draw one of the items."""
        return items[self.integer(0, len(items) - 1)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order."""
        left = list(items)
        for last in range(len(left) - 1, 0, -1):
            other = self.integer(0, last)
            left[last], left[other] = left[other], left[last]
        return left
