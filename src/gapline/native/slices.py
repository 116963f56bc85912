"""Slices of runs in shared columns: where their steps are, and runs of many lengths as rectangles."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# What is looked at together: enough to be fast, little beside any campaign that needs parts.
AT_ONCE = 250_000


def step_places(first: Integers, count: Integers) -> tuple[slice | Integers, Integers]:
    """Return where the steps of these runs lie in the columns, and where each run begins once they are taken out.

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
    """Return the one slice that the steps of these runs are, which costs no copy; None where they lie apart.

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
    """Return the runs in the order in which their steps lie, None where they are: memory is best read from its front.

    >>> lying_order(np.array([4, 0, 4])), lying_order(np.array([0, 4, 4]))
    (array([1, 0, 2]), None)
    """
    return None if np.all(first[1:] >= first[:-1]) else np.argsort(first, kind="stable")


def step_groups(counts: Integers) -> Iterator[tuple[int, int]]:
    """Yield ranges of runs with about a quarter of a million steps each: memory does not grow with the campaign.

    >>> list(step_groups(np.array([600_000, 600_000, 0, 900_000])))
    [(0, 1), (1, 3), (3, 4)]
    """
    group = np.cumsum(counts) // AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(counts)]
    yield from ((low, high) for low, high in pairwise(edges) if counts[low:high].any())


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
