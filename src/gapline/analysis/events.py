"""The accepted steps of a group of runs in order of time: what sweeps over time walk through."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.envelope.places import step_places
from gapline.model.threads import thread_count
from gapline.scoring.kernels import Kernel, raw_gap
from gapline.scoring.stable_order import stable_order

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Steps of some runs, sorted by time, equal ones in the order of the runs, which `run` numbers."""

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
    own, _ = step_places(first, count)
    time, objective = envelopes.time[own], envelopes.objective[own]
    run = np.repeat(np.arange(len(rows)), count)
    if relative:
        time = time / envelopes.runs["horizon"].to_numpy()[rows][run]
    # Stable: equal stamps keep the order of the runs, so that sums have the same bits every time.
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
