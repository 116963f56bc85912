"""Empirical attainment surfaces of an arm, and the differences between those of two arms."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from gapline.contract.tables import ATTAINMENT_DIFFERENCE
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.files.scratch_arrays import scratch_array, spans
from gapline.native.arrays import Floats, Integers
from gapline.native.compilation import compiled
from gapline.native.order import sort_by_time
from gapline.references.snapshot import Snapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.events import Events, collect_events, collect_groups, in_threads
from gapline.scoring.kernels import raw_gap
from gapline.scoring.run_references import reference_column
from gapline.statistics.cells import finite_or_none
from gapline.text import meant

LEVELS = (0.25, 0.5, 0.75)


def attainment_surface(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    levels: Sequence[float] = LEVELS,
) -> pl.DataFrame:
    """Return the boundary of the times and raw gaps that a share of the runs of each arm attains.

    Step surfaces: arm, level, time, gap; from `time` on, at least `level` of the runs are at `gap` or below. Where
    horizons differ, time is relative to each run's own.

    The surface of level p at time t is the ⌈p·n⌉-th smallest gap of the n runs at t. Every run counts alike.

    Missing incumbents: a run without one has attained nothing, so a surface begins when ⌈p·n⌉ runs have one, and
    has no row if they never do. Beaten references: gaps below zero continue the surface downwards. Gaps, unlike
    objectives, may be pooled over instances; for one instance the surface is that of its objectives, rescaled.

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": t}
    ...         for s, t in ((1, [(1, 15.0), (6, 10.0)]), (2, [(3, 12.0)]))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    >>> attainment_surface(envelopes, snapshot, levels=[0.5, 1.0]).rows()
    [('a', 0.5, 1.0, 0.5), ('a', 0.5, 3.0, 0.2), ('a', 0.5, 6.0, 0.0), ('a', 1.0, 3.0, 0.5), ('a', 1.0, 6.0, 0.2)]
    """
    if not levels or any(not 0 < level <= 1 for level in levels):
        raise UsageError(f"levels: expected shares above 0 and up to 1, got {list(levels)}")
    members = group_rows(envelopes.runs, ["arm"])
    relative = envelopes.runs["horizon"].n_unique() > 1
    references = reference_column(snapshot, envelopes)
    events = collect_groups(envelopes, references, [rows for _, rows in members], relative=relative)
    found = in_threads(lambda steps: surfaces(steps, levels), events)
    return pl.concat(
        pl.DataFrame({"time": time, "gap": gap}).select(
            pl.lit(arm).alias("arm"), pl.lit(float(level)).alias("level"), "time", "gap"
        )
        for ((arm,), _), steps in zip(members, found, strict=True)
        for level, (time, gap) in zip(levels, steps, strict=True)
    )


def final_attainment(
    envelopes: Envelopes, snapshot: Snapshot, /, *, levels: Sequence[float] = LEVELS
) -> dict[str, list[float | None]]:
    """Return, by arm, the gap at which the surface of each level ends; None for one that never begins.

    Only the last step of each run is used.

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": t}
    ...         for s, t in ((1, [(1, 15.0), (6, 10.0)]), (2, [(3, 12.0)]), (3, []))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> final_attainment(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"), levels=[0.5, 1.0])
    {'a': [0.2, None]}
    """
    best = envelopes.runs["best"].fill_null(np.inf).to_numpy()
    gaps = np.where(np.isfinite(best), raw_gap(best, reference_column(snapshot, envelopes)), np.inf)
    groups = group_rows(envelopes.runs, ["arm"])
    sorted_gaps = {str(arm): np.sort(gaps[rows]) for (arm,), rows in groups}
    return {arm: [finite_or_none(gap) for gap in own[_ranks(levels, len(own)) - 1]] for arm, own in sorted_gaps.items()}


def _ranks(levels: Sequence[float], runs: int) -> Integers:
    # A level of 0.3 of ten runs is three of them, whatever the last bit of the product says.
    return np.array([max(1, math.ceil(level * runs - 1e-9)) for level in levels], np.int64)


def surfaces(events: Events, levels: Sequence[float]) -> list[tuple[Floats, Floats]]:
    """Return times and gaps of each level's surface, at the points where it changes."""
    ranks = _ranks(levels, events.runs)
    size = len(events.time)
    time, gap = (scratch_array(len(levels) * size).reshape(len(levels), size) for _ in range(2))
    where = np.zeros(len(levels), np.int64)
    gaps = events.gaps()
    places = scratch_array(size, np.int64)
    for span in spans(size):
        places[span] = np.arange(span.start, span.stop)
    _, order = sort_by_time(gaps, places)
    # The places of the steps are no longer needed: the array now gets the rank of each gap among all gaps.
    scale, there = scratch_array(size + 1), scratch_array(size + 1, np.int64)
    _walk(events.runs, events.run, events.time, gaps, order, ranks, places, scale, there, time, gap, where)
    return [(time[k, : where[k]].copy(), gap[k, : where[k]].copy()) for k in range(len(levels))]


@compiled(nogil=True)
def _walk(  # type: ignore[no-untyped-def] # pragma: no cover
    runs, run, time, gap, order, ranks, place, scale, there, out_time, out_gap, where
):
    """Record where the requested order statistics change over time; `order` sorts the gaps.

    The gaps of a run only fall, and so does an order statistic: its mark on the scale of all gaps never goes up.
    """
    size = 0
    for k in order:
        if size == 0 or gap[k] > scale[size - 1]:
            scale[size] = gap[k]
            size += 1
        place[k] = size - 1
    scale[size] = np.inf
    # The number of runs at each place of the scale, all without an incumbent at first, and below the mark of each
    # level.
    there[: size + 1] = 0
    best = np.full(runs, size)
    there[size] = runs
    mark, below = np.full(len(ranks), size), np.zeros(len(ranks), np.int64)
    k = 0
    while k < len(time):
        now = time[k]
        while k < len(time) and time[k] == now:
            old, new = best[run[k]], place[k]
            there[old] -= 1
            there[new] += 1
            best[run[k]] = new
            for level in range(len(ranks)):
                below[level] += (old >= mark[level]) and (new < mark[level])
            k += 1
        for level in range(len(ranks)):
            while below[level] >= ranks[level]:
                mark[level] -= 1
                below[level] -= there[mark[level]]
            value, at = scale[mark[level]], where[level]
            if value < np.inf and (at == 0 or value < out_gap[level, at - 1]):
                out_time[level, at] = now
                out_gap[level, at] = value
                where[level] += 1


# Too many rectangles to draw, and about as many as a file should contain.
MOST = 500_000


@dataclass(frozen=True, slots=True, eq=False)
class AttainmentDifference:
    """The difference in attainment of two arms: the steps of each, and the end of time (1 if it is relative)."""

    a: str
    b: str
    first: Events
    second: Events
    end: float
    relative: bool

    def rectangles(self, *, most: int = MOST) -> pl.DataFrame | None:
        """Return where the shares differ: from `time` to `until`, from `gap` to `below` (null: unbounded).

        `difference` is the share of the runs of a, minus that of b, that have attained any point inside; it is 0
        outside of all rectangles, which do not overlap. None if there are more than `most`: their number grows with the
        number of steps times the runs that a step passes; `at` works for any grid.
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
    """Return the difference between the empirical attainment functions of two arms.

    The attainment function of an arm at (t, g) is the share of its runs that are at raw gap g or below by time t; this
    is that of a minus that of b, positive where a attains more. Every run counts alike. Where horizons differ, time is
    relative to each run's own. Times the number of runs it is moocore's `eafdiff`, where both arms have as many.

    Missing incumbents: an empty run attains nothing and stays in the denominator. Beaten references: gaps below zero
    are treated like any others. Unbalanced cells: each arm has its own denominator, so different instances of the arms
    contribute to the difference.

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
    values = events.gaps()
    begin = 0
    for row in np.argsort(times, kind="stable"):
        stop = int(np.searchsorted(events.time, times[row], side="right"))
        # Gaps of one run only fall: the last of its steps so far is its best.
        best[events.run[begin:stop]] = values[begin:stop]
        begin = stop
        shares[row] = np.searchsorted(np.sort(best), gaps, side="right") / events.runs
    return shares


def _sweep(pair: AttainmentDifference, most: int) -> list[tuple[float, float, float, float | None, float]] | None:
    """Walk through time with the difference as a step function of the gap; emit the rectangles that a step ends."""
    parts = (pair.first, pair.second)
    time = np.concatenate([part.time for part in parts])
    order = np.argsort(time, kind="stable")
    side = np.repeat([0, 1], [len(part.time) for part in parts])[order]
    run = np.concatenate([part.run for part in parts])[order]
    gap = np.concatenate([part.gaps() for part in parts])[order]
    time = time[order]
    best: tuple[dict[int, float], dict[int, float]] = ({}, {})
    # Gaps at which the difference changes, the counts of both arms from each gap on, and the start of each strip.
    edges: list[float] = []
    counts: list[tuple[int, int]] = []
    since: list[float] = []
    rows: list[tuple[float, float, float, float | None, float]] = []

    def close(k: int, now: float) -> None:
        share = counts[k][0] / pair.first.runs - counts[k][1] / pair.second.runs
        if share != 0 and now > since[k]:
            rows.append((since[k], now, edges[k], edges[k + 1] if k + 1 < len(edges) else None, share))

    def cut(at: float, now: float) -> int:
        """Make `at` an edge, and close the strip that it divides."""
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
        # An edge with equal counts on both sides is removed.
        if last < len(edges) and last and counts[last] == counts[last - 1]:
            close(last, now)
            close(last - 1, now)
            since[last - 1] = now
            del edges[last], counts[last], since[last]
    for k in range(len(edges)):
        close(k, pair.end)
    return rows
