"""The accepted steps of a group of runs in order of time: what sweeps over time walk through."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.model.threads import thread_count
from gapline.scoring.kernels import Kernel, raw_gap

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Steps of some runs, sorted by time: `run` numbers the runs of the group, `objective` and `reference` per step.

    Where times are equal, the steps stand in the order of the runs.
    """

    runs: int
    run: Integers
    time: Floats
    objective: Floats
    reference: Floats

    def raw_gaps(self) -> Floats:
        """Return the raw gap at each step."""
        return raw_gap(self.objective, self.reference)

    def gaps(self, kernel: Kernel) -> Floats:
        """Return the gap of a kernel at each step."""
        return kernel(self.objective, self.reference)


def collect_events(envelopes: Envelopes, references: Floats, rows: Integers, *, relative: bool = False) -> Events:
    """Collect the steps of the given runs in order of time."""
    first = envelopes.runs["first"].to_numpy()[rows]
    count = envelopes.runs["count"].to_numpy()[rows]
    if len(first) and bool(np.all(first[1:] == first[:-1] + count[:-1])):
        whole = slice(int(first[0]), int(first[-1] + count[-1]))
        time, objective = envelopes.time[whole], envelopes.objective[whole]
    else:
        pieces = [slice(f, f + c) for f, c in zip(first.tolist(), count.tolist(), strict=True)]
        time = np.concatenate([envelopes.time[piece] for piece in pieces]) if pieces else np.empty(0)
        objective = np.concatenate([envelopes.objective[piece] for piece in pieces]) if pieces else np.empty(0)
    run = np.repeat(np.arange(len(rows)), count)
    if relative:
        time = time / envelopes.runs["horizon"].to_numpy()[rows][run]
    order = stable_order(time)
    time = time[order]
    run = run[order]
    return Events(len(rows), run, time, objective[order], references[rows][run])


def collect_groups(
    envelopes: Envelopes, references: Floats, groups: list[Integers], *, relative: bool = False
) -> list[Events]:
    """Collect several groups in threads: sorting releases the interpreter."""
    return in_threads(lambda rows: collect_events(envelopes, references, rows, relative=relative), groups)


def in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Call `work` on every item in as many threads as there are cores; it must release the GIL to gain anything."""
    with ThreadPoolExecutor(thread_count()) as pool:
        return list(pool.map(work, items))


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


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
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
