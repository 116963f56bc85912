"""Candidates that are no steps: rejected, unchecked, late or not improving; shown where one run is looked at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapline.envelope.build import Unchecked, scored_objectives
from gapline.model.tables import RUN_KEY, VerdictCode
from gapline.report.page.encode import MOST_UNITS, Block, Floats, Grid, Integers, zigzag
from gapline.study import Study

# What the page can hold beside the steps; a run keeps rejected and late candidates before those that do not improve.
MOST_CANDIDATES = 100_000
LEAST_PER_RUN = 5

NOT_IMPROVING, REJECTED, UNCHECKED = 0, 1, 2
LATE, NO_STAMP, NO_OBJECTIVE = 4, 8, 16


def add_other_candidates(block: Block, study: Study, order: Integers, clock: Grid, grids: list[Grid]) -> Integers:
    """Add these candidates to a block, runs in `order`, each on its grid; return how many of each run were left out."""
    runs = study.envelopes.runs
    keys = runs.select(*RUN_KEY, "horizon", "steps", "captured").with_row_index("_row")
    slices = study.campaign.runs.select(*RUN_KEY, "first", "count")
    rows = keys.join(slices, on=RUN_KEY, how="left", maintain_order="left")
    objective = scored_objectives(study.campaign, study.envelopes.scale)
    total = int((rows["captured"] - rows["steps"]).sum())
    most = max(LEAST_PER_RUN, MOST_CANDIDATES // max(1, runs.height)) if total > MOST_CANDIDATES else total
    counts, omitted = np.zeros(runs.height, np.int64), np.zeros(runs.height, np.int64)
    columns: dict[str, list[NDArray[Any]]] = {"time": [], "objective": [], "flags": [], "reason": []}
    names = ["_row", "horizon", "steps", "captured", "first", "count"]
    for row, horizon, steps, captured, first, count in rows.select(names)[order.tolist()].iter_rows():
        if steps == captured:
            continue
        here = slice(first, first + count)
        time, values, verdict = study.campaign.time[here], objective[here], study.campaign.verdict[here]
        accepted = _accepted(verdict, study.envelopes.unchecked) & (time <= horizon)
        other = np.flatnonzero(~_improving(time, values, accepted) & (verdict != VerdictCode.BOUND))
        flags = np.full(count, NOT_IMPROVING)
        flags[verdict == VerdictCode.INVALID] = REJECTED
        flags[(verdict == VerdictCode.UNCHECKED) & ~_accepted(verdict, study.envelopes.unchecked)] = UNCHECKED
        flags |= np.where(time > horizon, LATE, 0)
        # Stable: of the telling candidates, and then of the rest, the earliest are kept.
        if len(other) > most:
            telling = np.argsort(flags[other] == NOT_IMPROVING, kind="stable")[:most]
            omitted[row] = len(other) - most
            other = np.sort(other[telling])
        reason = study.campaign.reason[here][other] if study.campaign.reason is not None else np.zeros(len(other), int)
        counts[row] = len(other)
        # What a double cannot hold as a whole number of grid steps is marked as missing, never rounded.
        stamped = np.isfinite(time[other]) & (np.abs(time[other]) < MOST_UNITS / 10.0**clock.decimals)
        units = grids[row].units(np.where(np.isfinite(values[other]), values[other], 0.0))
        known = np.isfinite(values[other]) & (np.abs(units) < MOST_UNITS)
        columns["time"].append(np.diff(clock.units(np.where(stamped, time[other], 0.0)), prepend=0.0))
        columns["objective"].append(np.diff(np.where(known, units, 0.0), prepend=0.0))
        columns["flags"].append(flags[other] | np.where(stamped, 0, NO_STAMP) | np.where(known, 0, NO_OBJECTIVE))
        columns["reason"].append(reason)
    block.add("count", counts[order])
    for name, parts in columns.items():
        whole = np.concatenate(parts or [np.zeros(0)])
        block.add(name, zigzag(whole) if name in ("time", "objective") else whole)
    return omitted[order]


def _accepted(verdict: NDArray[np.uint8], unchecked: Unchecked) -> NDArray[np.bool_]:
    trusted = unchecked is Unchecked.TRUST_SOLVER
    accepted: NDArray[np.bool_] = verdict == VerdictCode.VALID
    return accepted | (verdict == VerdictCode.UNCHECKED) if trusted else accepted


def _improving(time: Floats, values: Floats, accepted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the steps: strictly improving, and of equal stamps the last."""
    seen = np.where(accepted, values, np.inf)
    # The best before each candidate; infinite before the first, which therefore always improves.
    before = np.concatenate(([np.inf], np.minimum.accumulate(seen)[:-1])) if len(seen) else seen
    steps = np.flatnonzero(seen < before)
    last = np.append(time[steps][1:] != time[steps][:-1], True) if len(steps) else np.zeros(0, np.bool_)
    marked = np.zeros(len(time), np.bool_)
    marked[steps[last]] = True
    return marked
