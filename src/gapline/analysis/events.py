"""The accepted steps of a group of runs in order of time: what sweeps over time walk through."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from gapline.envelope import Envelopes
from gapline.model.threads import thread_count
from gapline.score.kernels import Kernel, raw_gap

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
    order = np.argsort(time)
    time = time[order]
    _settle_ties(time, order)
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


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _settle_ties(time, order):  # type: ignore[no-untyped-def] # pragma: no cover
    """Put equal stamps in the order of the runs: the fast sort leaves them in any, differently by machine."""
    k = 0
    while k < len(time):
        stop = k + 1
        while stop < len(time) and time[stop] == time[k]:
            stop += 1
        if stop - k > 1:
            order[k:stop] = np.sort(order[k:stop])
        k = stop
