"""The stable order of times, which mean curves and sweeps over time are made in."""

import numpy as np
from numpy.typing import NDArray

from gapline.model.compiled import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def stable_order(time: Floats) -> Integers:
    """Return the stable order of nonnegative times, at the speed of sorting plain integers.

    The bits of a nonnegative float sort like the float. The lowest ones give way to the position, so that one sort of
    integers yields the order; the few stamps that differ in those bits alone are put right afterwards.
    """
    bits = max(1, int(len(time) - 1).bit_length())
    mask = np.uint64((1 << bits) - 1)
    # Adding zero turns a negative zero, whose sign bit would sort last, into the positive one.
    keys = ((time + 0.0).view(np.uint64) & ~mask) | np.arange(len(time), dtype=np.uint64)
    keys.sort()
    order = (keys & mask).astype(np.int64)
    if not _settle(time, order, 8 * len(time)):
        order = np.argsort(time, kind="stable")
    return order


@compiled(nogil=True)
def _settle(time, order, patience):  # type: ignore[no-untyped-def] # pragma: no cover
    """Sort what is nearly sorted by insertion; give up (false) where it takes more moves than patience allows."""
    moves = 0
    for k in range(1, len(order)):
        here = order[k]
        place = k
        while place > 0 and time[order[place - 1]] > time[here]:
            order[place] = order[place - 1]
            place -= 1
            moves += 1
        order[place] = here
        if moves > patience:
            return False
    return True
