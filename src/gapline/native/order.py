"""The stable order of times, for mean curves and sweeps over time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapline.files.scratch_arrays import piece_size, scratch_array, spans
from gapline.native.compilation import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def stable_order(time: Floats) -> Integers:
    """Return the stable order of nonnegative times, at the speed of sorting plain integers.

    The bits of a nonnegative float sort like the float. The lowest bits are replaced by the position, so that one sort
    of integers yields the order; the few times that differ only in those bits are corrected afterwards.
    """
    bits = max(1, int(len(time) - 1).bit_length())
    mask = np.uint64((1 << bits) - 1)
    # Adding zero turns negative zero, whose sign bit would sort last, into positive zero. Work in place in one array,
    # because the memory budget determines how many entries are sorted at a time.
    keys = (time + 0.0).view(np.uint64)
    keys &= ~mask
    keys |= np.arange(len(time), dtype=np.uint64)
    keys.sort()
    keys &= mask
    order = keys.view(np.int64)
    if not _settle(time, order, 8 * len(time)):
        order = np.argsort(time, kind="stable")
    return order


def _settle_arrays(time: Floats, order: Integers, patience: int) -> bool:  # noqa: ARG001 (that of `_settle`)
    order[:] = np.argsort(time, kind="stable")
    return True


@compiled(nogil=True, small=_settle_arrays)
def _settle(time, order, patience):  # type: ignore[no-untyped-def] # pragma: no cover
    """Sort a nearly sorted order by insertion; return False if that takes more than `patience` moves."""
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


def sort_by_time(time: Floats, *columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return times, or other numbers of any sign, and further columns in the stable order of the first.

    Data beyond the memory budget are sorted in parts, which are merged through scratch files. The order is the same,
    because among equal times those of an earlier part come first.

    >>> [column.tolist() for column in sort_by_time(np.array([2.0, 1.0, 2.0]), np.array([0, 1, 2]))]
    [[1.0, 2.0, 2.0], [1, 0, 2]]
    """
    if len(time) <= piece_size():
        order, sorted_columns = _any_order(time), []
        for column in (time, *columns):
            # Scratch arrays, because callers keep several of them, and these count against the memory budget.
            sorted_columns.append(scratch_array(len(order), column.dtype))
            np.take(column, order, out=sorted_columns[-1], mode="clip")
        return tuple(sorted_columns)
    edges = [0]
    parts = tuple(scratch_array(len(time), column.dtype) for column in (time, *columns))
    for span in spans(len(time)):
        order = _any_order(time[span])
        for part, column in zip(parts, (time, *columns), strict=True):
            part[span] = column[span][order]
        edges.append(span.stop)
    owner = scratch_array(len(time), np.int32)
    merged = scratch_array(len(time))
    _merge(parts[0], np.array(edges, np.int64), merged, owner)
    rest = []
    for part in parts[1:]:
        out = scratch_array(len(time), part.dtype)
        _follow(part, np.array(edges, np.int64), owner, out)
        rest.append(out)
    return (merged, *rest)


def _any_order(numbers: Floats) -> Integers:
    return stable_order(numbers) if not (numbers < 0).any() else np.argsort(numbers, kind="stable")


@compiled(nogil=True)
def _merge(time, edges, out, owner):  # type: ignore[no-untyped-def] # pragma: no cover
    """Merge sorted parts by a heap of their next times, and record the part of each entry."""
    parts = len(edges) - 1
    place = edges[:-1].copy()
    heap = np.empty(parts, np.int64)
    size = 0
    for part in range(parts):
        if place[part] < edges[part + 1]:
            # Sift up; parts are added in order, so one with an equal time stays behind.
            k = size
            size += 1
            while k > 0 and time[place[part]] < time[place[heap[(k - 1) // 2]]]:
                heap[k] = heap[(k - 1) // 2]
                k = (k - 1) // 2
            heap[k] = part
    for at in range(len(time)):
        top = heap[0]
        out[at] = time[place[top]]
        owner[at] = top
        place[top] += 1
        if place[top] == edges[top + 1]:
            size -= 1
            top = heap[size]
        k = 0
        while 2 * k + 1 < size:
            child = 2 * k + 1
            other = child + 1
            if other < size:
                a, b = heap[child], heap[other]
                if time[place[b]] < time[place[a]] or (time[place[b]] == time[place[a]] and b < a):
                    child = other
            low = heap[child]
            if time[place[low]] > time[place[top]] or (time[place[low]] == time[place[top]] and low > top):
                break
            heap[k] = low
            k = child
        if size:
            heap[k] = top


@compiled(nogil=True)
def _follow(column, edges, owner, out):  # type: ignore[no-untyped-def] # pragma: no cover
    """Arrange another column in the order of the merge."""
    place = edges[:-1].copy()
    for at in range(len(owner)):
        part = owner[at]
        out[at] = column[place[part]]
        place[part] += 1
