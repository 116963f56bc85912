"""Slices of runs in shared columns: the positions of their steps, and runs of similar length as rectangles."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# Steps processed together: enough to be fast, and few compared with a campaign that needs parts.
AT_ONCE = 250_000


def step_places(first: Integers, count: Integers) -> tuple[slice | Integers, Integers]:
    """Return the positions of the steps of these runs in the columns, and the start of each run once extracted.

    >>> step_places(np.array([4, 0]), np.array([2, 1]))
    (array([4, 5, 0]), array([0, 2]))
    >>> step_places(np.array([3, 5]), np.array([2, 4]))[0]
    slice(3, 9, None)
    """
    starts: Integers = np.cumsum(count) - count
    together = side_by_side(first, count)
    if together is not None:
        return together, starts
    return np.repeat(first - starts, count) + np.arange(int(count.sum())), starts


def side_by_side(first: Integers, count: Integers) -> slice | None:
    """Return the single slice that holds the steps of these runs, to avoid a copy; None if they are not contiguous.

    >>> side_by_side(np.array([3, 5]), np.array([2, 4])), side_by_side(np.array([5, 3]), np.array([4, 2]))
    (slice(3, 9, None), None)
    """
    filled = count > 0
    moved = (first - (np.cumsum(count) - count))[filled]
    if len(moved) and not (moved == moved[0]).all():
        return None
    low = int(moved[0]) if len(moved) else 0
    return slice(low, low + int(count.sum()))


def lying_order(first: Integers) -> Integers | None:
    """Return the runs in the order of their steps in memory, which is fastest to read; None if they already are.

    >>> lying_order(np.array([4, 0, 4])), lying_order(np.array([0, 4, 4]))
    (array([1, 0, 2]), None)
    """
    return None if np.all(first[1:] >= first[:-1]) else np.argsort(first, kind="stable")


def step_groups(counts: Integers) -> Iterator[tuple[int, int]]:
    """Yield ranges of runs with about a quarter of a million steps each, so that memory use is bounded.

    >>> list(step_groups(np.array([600_000, 600_000, 0, 900_000])))
    [(0, 1), (1, 3), (3, 4)]
    """
    group = np.cumsum(counts) // AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(counts)]
    yield from ((low, high) for low, high in pairwise(edges) if counts[low:high].any())


def rectangles(count: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield groups of rows of similar length with the positions in each row; a shorter row repeats its last position.

    A rectangle is at most twice as long as its shortest row. Empty rows are left out.

    >>> for rows, positions in rectangles(np.array([3, 0, 1, 4])):
    ...     rows.tolist(), positions.tolist()
    ([2], [[0]])
    ([0, 3], [[0, 1, 2, 2], [0, 1, 2, 3]])
    """
    # The exponent of the smallest power of two that is not below the length; exact for integers up to 2^53.
    sizes = np.frexp(np.maximum(count - 1, 0))[1]
    for size in np.unique(sizes[count > 0]).tolist():
        rows = np.flatnonzero((sizes == size) & (count > 0))
        longest = int(count[rows].max())
        yield rows, np.minimum(np.arange(longest), count[rows, None] - 1)
