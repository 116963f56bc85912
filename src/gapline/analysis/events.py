"""The accepted steps of a group of runs in order of time: what sweeps over time walk through."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring, run_spans
from gapline.envelope.places import step_places
from gapline.model.budget import limited_memory, memory_budget
from gapline.model.scratch import scratch_array, spans
from gapline.model.threads import thread_count
from gapline.scoring.kernels import Kernel, raw_gap
from gapline.scoring.stable_order import sort_by_time

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
        return self._each(raw_gap)

    def gaps(self, kernel: Kernel) -> Floats:
        """Return the gap of a kernel at each step."""
        return self._each(kernel)

    def _each(self, gap: Callable[[Floats, Floats], Floats]) -> Floats:
        out: Floats = scratch_array(len(self.time))
        for here in spans(len(self.time)):
            out[here] = gap(self.objective[here], self.reference[here])
        return out


def collect_events(envelopes: Envelopes, references: Floats, rows: Integers, *, relative: bool = False) -> Events:
    """Collect the steps of the given runs in order of time."""
    part = bring(envelopes.select(rows.tolist()))
    count, horizon = part.runs["count"].to_numpy(), part.runs["horizon"].to_numpy()
    own, _ = step_places(part.runs["first"].to_numpy(), count)
    size = int(count.sum())
    time, run, reference = scratch_array(size), scratch_array(size, np.int64), scratch_array(size)
    at = 0
    for low, high in run_spans(count):
        here = slice(at, at + int(count[low:high].sum()))
        run[here] = np.repeat(np.arange(low, high), count[low:high])
        time[here] = part.time[own][here] / horizon[run[here]] if relative else part.time[own][here]
        at = here.stop
    # Stable: equal stamps keep the order of the runs, so that sums have the same bits every time.
    time, run, objective = sort_by_time(time, run, part.objective[own])
    for here in spans(size):
        reference[here] = references[rows][run[here]]
    return Events(len(rows), run, time, objective, reference)


def collect_groups(
    envelopes: Envelopes, references: Floats, groups: list[Integers], *, relative: bool = False
) -> list[Events]:
    """Collect several groups in threads: sorting releases the interpreter."""
    return in_threads(lambda rows: collect_events(envelopes, references, rows, relative=relative), groups)


def in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Call `work` on every item in as many threads as there are cores; it must release the GIL to gain anything."""
    threads = thread_count()
    # What is held at a time is held by every thread.
    with limited_memory(memory_budget() // threads), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))
