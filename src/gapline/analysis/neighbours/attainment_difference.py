"""Differences of two empirical attainment functions: where in time and quality one arm attains more than another."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.analysis.events import Events, collect_events
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.model.tables import ATTAINMENT_DIFFERENCE
from gapline.model.text import meant
from gapline.reference.snapshot import Snapshot
from gapline.scoring.reading import reference_column

Floats = NDArray[np.float64]
# More rectangles than anybody draws, and about as many as a file should hold.
MOST = 500_000


@dataclass(frozen=True, slots=True, eq=False)
class AttainmentDifference:
    """What two arms attain: steps in time and raw gap of each, and where time ends (1 where it is relative)."""

    a: str
    b: str
    first: Events
    second: Events
    end: float
    relative: bool

    def rectangles(self, *, most: int = MOST) -> pl.DataFrame | None:
        """Return where the shares differ: from `time` to `until`, from `gap` to `below` (null: without end).

        `difference` is the share of the runs of a, minus that of b, that have attained any point inside; it is 0
        outside of all rectangles, which do not overlap. None where they would be more than `most`: their number grows
        with the steps times the runs that a step passes; `at` answers for any grid.
        """
        rows = _sweep(self, most)
        if rows is None:
            return None
        frame = pl.DataFrame(rows, schema=ATTAINMENT_DIFFERENCE, orient="row")
        return frame.sort("time", "gap")

    def at(self, times: Floats, gaps: Floats) -> Floats:
        """Return the differences on a grid, times × gaps."""
        return _shares(self.first, times, gaps) - _shares(self.second, times, gaps)


def attainment_difference(
    envelopes: Envelopes, snapshot: Snapshot, a: str, b: str, /, *, relative: bool | None = None
) -> AttainmentDifference:
    """Return how the empirical attainment functions of two arms differ.

    The attainment function of an arm at (t, g) is the share of its runs that are at raw gap g or below by time t; this
    is that of a minus that of b, positive where a attains more. Every run counts alike. Where horizons differ, time is
    relative to each run's own. Times the number of runs it is moocore's `eafdiff`, where both arms have as many.

    Missing incumbents: an empty run attains nothing and stays in the denominator. Beaten references: gaps below zero
    are like any others. Unbalanced cells: each arm has its own denominator, so arms that ran other instances differ by
    these too.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 10, "trace": trace}
    ...         for arm, trace in (("a", [(2, 12.0)]), ("b", [(4, 11.0)]))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> found = attainment_difference(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"), "a", "b")
    >>> found.rectangles().rows()
    [(2.0, 4.0, 0.2, None, 1.0), (4.0, 10.0, 0.1, 0.2, -1.0)]
    """
    runs = envelopes.runs
    known = runs["arm"].unique().sort().to_list()
    for name in (a, b):
        if name not in known:
            raise UsageError(f"arm {name!r}: matches no run", hint=meant(name, known, show=True))
    own = runs["horizon"].n_unique() > 1 if relative is None else relative
    references = reference_column(snapshot, envelopes)
    rows = [np.flatnonzero((runs["arm"] == name).to_numpy()) for name in (a, b)]
    first, second = (collect_events(envelopes, references, chosen, relative=own) for chosen in rows)
    end = 1.0 if own else float(runs["horizon"].to_numpy().max())
    return AttainmentDifference(a, b, first, second, end, own)


def _shares(events: Events, times: Floats, gaps: Floats) -> Floats:
    """Return, times × gaps, the share of the runs at that gap or below by that time."""
    shares = np.zeros((len(times), len(gaps)))
    best = np.full(events.runs, np.inf)
    values = events.raw_gaps()
    begin = 0
    for row in np.argsort(times, kind="stable"):
        stop = int(np.searchsorted(events.time, times[row], side="right"))
        # Gaps of one run only fall: the last of its steps so far is its best.
        best[events.run[begin:stop]] = values[begin:stop]
        begin = stop
        shares[row] = np.searchsorted(np.sort(best), gaps, side="right") / events.runs
    return shares


def _sweep(pair: AttainmentDifference, most: int) -> list[tuple[float, float, float, float | None, float]] | None:
    """Walk through time; keep the difference as a step function of the gap, and close what a step changes."""
    parts = (pair.first, pair.second)
    time = np.concatenate([part.time for part in parts])
    order = np.argsort(time, kind="stable")
    side = np.repeat([0, 1], [len(part.time) for part in parts])[order]
    run = np.concatenate([part.run for part in parts])[order]
    gap = np.concatenate([part.raw_gaps() for part in parts])[order]
    time = time[order]
    best: tuple[dict[int, float], dict[int, float]] = ({}, {})
    # Gaps where the difference changes, the counts of both arms from each of them on, and since when.
    edges: list[float] = []
    counts: list[tuple[int, int]] = []
    since: list[float] = []
    rows: list[tuple[float, float, float, float | None, float]] = []

    def close(k: int, now: float) -> None:
        share = counts[k][0] / pair.first.runs - counts[k][1] / pair.second.runs
        if share != 0 and now > since[k]:
            rows.append((since[k], now, edges[k], edges[k + 1] if k + 1 < len(edges) else None, share))

    def cut(at: float, now: float) -> int:
        """Make `at` an edge; the strip it divides is closed."""
        k = bisect_left(edges, at)
        if k < len(edges) and edges[k] == at:
            return k
        if k:
            close(k - 1, now)
            since[k - 1] = now
        edges.insert(k, at)
        counts.insert(k, counts[k - 1] if k else (0, 0))
        since.insert(k, now)
        return k

    for now, which, number, new in zip(time.tolist(), side.tolist(), run.tolist(), gap.tolist(), strict=True):
        if len(rows) > most:
            return None
        old = best[which].get(number)
        best[which][number] = new
        first = cut(new, now)
        last = len(edges) if old is None else bisect_left(edges, old)
        for k in range(first, last):
            close(k, now)
            since[k] = now
            a, b = counts[k]
            counts[k] = (a + 1, b) if which == 0 else (a, b + 1)
        # An edge with equal counts on both sides divides nothing.
        if last < len(edges) and last and counts[last] == counts[last - 1]:
            close(last, now)
            close(last - 1, now)
            since[last - 1] = now
            del edges[last], counts[last], since[last]
    for k in range(len(edges)):
        close(k, pair.end)
    return rows
