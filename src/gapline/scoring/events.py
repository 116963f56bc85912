"""Accepted steps of a group of runs in time order, and differences of two step curves."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from gapline.campaign.threads import thread_count
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring, run_spans
from gapline.files.memory import limited_memory, memory_budget
from gapline.files.scratch_arrays import scratch_array, spans
from gapline.native.arrays import Floats, Integers
from gapline.native.compilation import compiled
from gapline.native.order import sort_by_time
from gapline.native.slices import step_places
from gapline.scoring.kernels import raw_gap

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Steps of some runs, sorted by time; equal times keep the order of the runs, which `run` numbers."""

    runs: int
    run: Integers
    time: Floats
    objective: Floats
    reference: Floats

    def gaps(self, kernel: Callable[[Floats, Floats], Floats] = raw_gap) -> Floats:
        """Return the gap of a kernel at each step."""
        out: Floats = scratch_array(len(self.time))
        for here in spans(len(self.time)):
            out[here] = kernel(self.objective[here], self.reference[here])
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
    """Call `work` on every item in as many threads as there are cores; it is only faster if `work` releases the GIL."""
    threads = thread_count()
    # Every thread needs the memory of one item.
    with limited_memory(memory_budget() // threads), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


def steps_apart(one: tuple[Floats, Floats], other: tuple[Floats, Floats], /) -> tuple[Floats, Floats]:
    """Return the breakpoints of two step curves (times, values; the first time 0 in both), and one minus other there.

    >>> one, other = (np.array([0.0, 4.0]), np.array([1.0, 0.0])), (np.array([0.0, 1.0]), np.array([1.0, 0.5]))
    >>> times, apart = steps_apart(one, other)
    >>> times.tolist(), apart.tolist()
    ([0.0, 1.0, 4.0], [0.0, 0.5, -0.5])
    """
    time, apart = (scratch_array(len(one[0]) + len(other[0])) for _ in range(2))
    size = _merge(*one, *other, time, apart)
    return time[:size], apart[:size]


@compiled(nogil=True)
def _merge(time_a, value_a, time_b, value_b, out_time, out_apart):  # type: ignore[no-untyped-def] # pragma: no cover
    i, j, size = 0, 0, 0
    while i < len(time_a) or j < len(time_b):
        # Equal times become one breakpoint.
        now = time_b[j] if i == len(time_a) or (j < len(time_b) and time_b[j] < time_a[i]) else time_a[i]
        i += i < len(time_a) and time_a[i] == now
        j += j < len(time_b) and time_b[j] == now
        out_time[size], out_apart[size] = now, value_a[i - 1] - value_b[j - 1]
        size += 1
    return size
