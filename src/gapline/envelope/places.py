"""Where the steps of some runs lie: the columns are shared by all runs, also by those that were not selected."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def step_places(first: Integers, count: Integers) -> tuple[slice | Integers, Integers]:
    """Return where the steps of these runs lie in the columns, and where each run begins once they are taken out.

    >>> step_places(np.array([4, 0]), np.array([2, 1]))
    (array([4, 5, 0]), array([0, 2]))
    >>> step_places(np.array([3, 5]), np.array([2, 4]))[0]
    slice(3, 9, None)
    """
    ends = np.cumsum(count)
    starts: Integers = ends - count
    size = int(ends[-1]) if len(ends) else 0
    filled = count > 0
    moved = first[filled] - starts[filled]
    if not len(moved) or (moved == moved[0]).all():
        # The runs lie side by side: a slice costs no copy.
        low = int(moved[0]) if len(moved) else 0
        return slice(low, low + size), starts
    return np.repeat(first - starts, count) + np.arange(size), starts
