"""The accepted steps of a group of runs in order of time: what sweeps over time walk through."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapline.envelope import Envelopes
from gapline.model.threads import thread_count
from gapline.score.kernels import Kernel, raw_gap

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
    order = np.argsort(time, kind="stable") if len(time) < 1_000 else _order(time)
    run = run[order]
    return Events(len(rows), run, time[order], objective[order], references[rows][run])


def collect_groups(
    envelopes: Envelopes, references: Floats, groups: list[Integers], *, relative: bool = False
) -> list[Events]:
    """Collect several groups, one thread each: sorting releases the interpreter."""
    with ThreadPoolExecutor(thread_count()) as pool:
        return list(pool.map(lambda rows: collect_events(envelopes, references, rows, relative=relative), groups))


def _order(time: Floats) -> Integers:
    """Sort stably: the fast sort first, then equal stamps put back in order."""
    order = np.argsort(time)
    stamps = time[order]
    equal = stamps[1:] == stamps[:-1]
    if equal.any():
        block = np.concatenate(([0], np.cumsum(~equal)))
        order = order[np.lexsort((order, block))]
    return order
