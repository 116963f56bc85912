"""Runs of many lengths as a few rectangles, so that NumPy goes along all runs at once and not from run to run."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def rectangles(count: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield rows of similar length with the positions in each of them, the last one again where a row is shorter.

    A rectangle is at most twice as long as its shortest row. Rows without anything are in none.

    >>> for rows, positions in rectangles(np.array([3, 0, 1, 4])):
    ...     rows.tolist(), positions.tolist()
    ([2], [[0]])
    ([0, 3], [[0, 1, 2, 2], [0, 1, 2, 3]])
    """
    # The exponent of the smallest power of two that holds a row: exact for integers that a double holds.
    sizes = np.frexp(np.maximum(count - 1, 0))[1]
    for size in np.unique(sizes[count > 0]).tolist():
        rows = np.flatnonzero((sizes == size) & (count > 0))
        longest = int(count[rows].max())
        yield rows, np.minimum(np.arange(longest), count[rows, None] - 1)
