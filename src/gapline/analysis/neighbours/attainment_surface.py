"""Empirical attainment surfaces: the quality that a given share of the runs has reached by each time."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.analysis.events import Events, collect_groups, in_threads
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.model.compiled import compiled
from gapline.model.scratch import scratch_array, spans
from gapline.reference.snapshot import Snapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.kernels import raw_gap
from gapline.scoring.reading import reference_column
from gapline.scoring.stable_order import sort_by_time
from gapline.summary.cells import finite_or_none

Floats = NDArray[np.float64]
LEVELS = (0.25, 0.5, 0.75)


def attainment_surface(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    levels: Sequence[float] = LEVELS,
) -> pl.DataFrame:
    """Return the boundary of what a share of the runs of each arm attains in time and raw gap.

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

    No step is looked at but the last of each run.

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


def _ranks(levels: Sequence[float], runs: int) -> NDArray[np.int64]:
    # A level of 0.3 of ten runs is three of them, whatever the last bit of the product says.
    return np.array([max(1, math.ceil(level * runs - 1e-9)) for level in levels], np.int64)


def surfaces(events: Events, levels: Sequence[float]) -> list[tuple[Floats, Floats]]:
    """Return times and gaps of each level's surface, at the points where it moves."""
    ranks = _ranks(levels, events.runs)
    size = len(events.time)
    time, gap = (scratch_array(len(levels) * size).reshape(len(levels), size) for _ in range(2))
    where = np.zeros(len(levels), np.int64)
    gaps = events.raw_gaps()
    places = scratch_array(size, np.int64)
    for span in spans(size):
        places[span] = np.arange(span.start, span.stop)
    _, order = sort_by_time(gaps, places)
    # The places of the steps are no longer needed in their order: here goes the place of each gap on the scale of all.
    scale, there = scratch_array(size + 1), scratch_array(size + 1, np.int64)
    _walk(events.runs, events.run, events.time, gaps, order, ranks, places, scale, there, time, gap, where)
    return [(time[k, : where[k]].copy(), gap[k, : where[k]].copy()) for k in range(len(levels))]


@compiled(nogil=True)
def _walk(  # type: ignore[no-untyped-def] # pragma: no cover
    runs, run, time, gap, order, ranks, place, scale, there, out_time, out_gap, where
):
    """Note where the wanted order statistics move while time passes; `order` sorts the gaps.

    Gaps of a run only fall, so an order statistic does too: a mark on the scale of all gaps goes down, never up.
    """
    size = 0
    for k in order:
        if size == 0 or gap[k] > scale[size - 1]:
            scale[size] = gap[k]
            size += 1
        place[k] = size - 1
    scale[size] = np.inf
    # How many runs are at each place of the scale, all without an incumbent at first, and below the mark of each level.
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
