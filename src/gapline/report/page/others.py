"""Candidates that are no steps: rejected, unchecked, late or not improving; shown where one run is looked at."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.envelope.build import Unchecked
from gapline.envelope.objectives import scored_objectives
from gapline.envelope.places import step_groups, step_places
from gapline.model.tables import RUN_KEY, VerdictCode
from gapline.report.page.encode import MOST_UNITS, Block, Floats, Grid, Integers, deltas, zigzag
from gapline.study import Study

# What the page can hold beside the steps; a run keeps rejected and late candidates before those that do not improve.
MOST_CANDIDATES = 100_000
LEAST_PER_RUN = 5

NOT_IMPROVING, REJECTED, UNCHECKED = 0, 1, 2
LATE, NO_STAMP, NO_OBJECTIVE = 4, 8, 16


class Others(NamedTuple):
    """Of each run, how many of these candidates were left out of the page, and how many count twice.

    A late candidate may have been rejected, or never been looked at.
    """

    omitted: Integers
    late_rejected: Integers
    late_unchecked: Integers


def add_other_candidates(block: Block, study: Study, order: Integers, clock: Grid, grids: list[Grid]) -> Others:
    """Add these candidates to a block, runs in `order`, each on its grid."""
    runs = study.envelopes.runs
    keys = runs.select(*RUN_KEY, "horizon", "steps", "captured")
    slices = study.campaign.runs.select(*RUN_KEY, "first", "count")
    rows = keys.join(slices, on=RUN_KEY, how="left", maintain_order="left")[order.tolist()]
    objective = scored_objectives(study.campaign, study.envelopes.scale)
    total = int((rows["captured"] - rows["steps"]).sum())
    most = max(LEAST_PER_RUN, MOST_CANDIDATES // max(1, runs.height)) if total > MOST_CANDIDATES else total
    # A run all of whose candidates are steps has nothing to look for, nor has one that the campaign does not have.
    wanted = (rows["captured"] != rows["steps"]).to_numpy()
    first = rows["first"].fill_null(0).to_numpy()
    counts = np.where(wanted, rows["count"].fill_null(0).to_numpy(), 0)
    horizon = rows["horizon"].to_numpy()
    decimals = np.array([grids[row].decimals for row in order.tolist()], np.int64)
    kept, omitted, rejected, open_ = (np.zeros(runs.height, np.int64) for _ in range(4))
    columns: dict[str, list[NDArray[Any]]] = {"time": [], "objective": [], "flags": [], "reason": []}
    for low, high in step_groups(counts):
        here = slice(low, high)
        places, starts = step_places(first[here], counts[here])
        run = np.repeat(np.arange(high - low), counts[here])
        time, values, verdict = study.campaign.time[places], objective[places], study.campaign.verdict[places]
        inside = time <= horizon[here][run]
        accepted = _accepted(verdict, study.envelopes.unchecked)
        flags = np.full(len(time), NOT_IMPROVING)
        flags[verdict == VerdictCode.INVALID] = REJECTED
        flags[(verdict == VerdictCode.UNCHECKED) & ~accepted] = UNCHECKED
        flags |= np.where(time > horizon[here][run], LATE, 0)
        marked = _improving(time, values, accepted & inside, run, starts[counts[here] > 0])
        other = np.flatnonzero(~marked & (verdict != VerdictCode.BOUND))
        found = np.bincount(run[other], minlength=high - low)
        for column, verdict_of in ((rejected, REJECTED), (open_, UNCHECKED)):
            column[here] = np.bincount(run[other][flags[other] == verdict_of | LATE], minlength=high - low)
        other = other[_places_kept(run[other], flags[other] == NOT_IMPROVING, found) < most]
        run, time, values = run[other], time[other], values[other]
        kept[here] = np.bincount(run, minlength=high - low)
        omitted[here] = found - kept[here]
        reason = study.campaign.reason[places][other] if study.campaign.reason is not None else np.zeros(len(other))
        # What a double cannot hold as a whole number of grid steps is marked as missing, never rounded.
        stamped = np.isfinite(time) & (np.abs(time) < MOST_UNITS / 10.0**clock.decimals)
        units = _units(np.where(np.isfinite(values), values, 0.0), decimals[here][run])
        known = np.isfinite(values) & (np.abs(units) < MOST_UNITS)
        begins = np.flatnonzero(np.diff(run, prepend=-1))
        columns["time"].append(deltas(clock.units(np.where(stamped, time, 0.0)), begins))
        columns["objective"].append(deltas(np.where(known, units, 0.0), begins))
        columns["flags"].append(flags[other] | np.where(stamped, 0, NO_STAMP) | np.where(known, 0, NO_OBJECTIVE))
        columns["reason"].append(reason)
    block.add("count", kept)
    for name, parts in columns.items():
        whole = np.concatenate(parts or [np.zeros(0)])
        block.add(name, zigzag(whole) if name in ("time", "objective") else whole)
    return Others(omitted, rejected, open_)


def _places_kept(run: Integers, weak: NDArray[np.bool_], found: Integers) -> Integers:
    """Return the place of each candidate among those of its run: the telling ones first, and then by time."""
    telling = np.bincount(run[~weak], minlength=len(found))
    place = np.zeros(len(run), np.int64)
    for part, before in ((~weak, np.zeros(len(found), np.int64)), (weak, telling)):
        size = np.bincount(run[part], minlength=len(found))
        place[part] = np.arange(int(size.sum())) - (np.cumsum(size) - size - before)[run[part]]
    return place


def _units(values: Floats, decimals: Integers) -> Floats:
    """Return the nearest whole numbers of grid steps, each value on the grid of its run."""
    units = np.empty(len(values))
    for number in np.unique(decimals).tolist():
        here = decimals == number
        units[here] = Grid(number, exact=False).units(values[here])
    return units


def _accepted(verdict: NDArray[np.uint8], unchecked: Unchecked) -> NDArray[np.bool_]:
    trusted = unchecked is Unchecked.TRUST_SOLVER
    accepted: NDArray[np.bool_] = verdict == VerdictCode.VALID
    return accepted | (verdict == VerdictCode.UNCHECKED) if trusted else accepted


def _improving(
    time: Floats, values: Floats, accepted: NDArray[np.bool_], run: Integers, starts: Integers
) -> NDArray[np.bool_]:
    """Mark the steps of every run: strictly improving, and of equal stamps the last; a run begins at each start."""
    # Ranks in place of values, those of each run below those of the runs before it: one minimum serves them all.
    ranks = np.unique(np.append(np.where(accepted, values, np.inf), np.inf), return_inverse=True)[1]
    never = int(ranks[-1])
    below = run * (never + 1)
    best = np.minimum.accumulate(ranks[:-1] - below) + below
    # The best before each candidate; infinite before the first, which therefore always improves.
    before = np.append(never, best[:-1])
    before[starts] = never
    steps = np.flatnonzero(ranks[:-1] < before[: len(run)])
    last = np.ones(len(steps), np.bool_)
    last[:-1] = (time[steps][1:] != time[steps][:-1]) | (run[steps][1:] != run[steps][:-1])
    marked = np.zeros(len(time), np.bool_)
    marked[steps[last]] = True
    return marked
