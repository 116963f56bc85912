"""The compiled pass over all candidates: select the steps, and count the candidates left out, by reason."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gapline.campaign.campaign import Campaign
from gapline.campaign.scale import Scale, scored_objectives
from gapline.campaign.threads import at_once, in_slices
from gapline.files.scratch_arrays import ScratchArray, piece_size
from gapline.native.accept_numpy import accept_arrays
from gapline.native.compilation import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
COUNTS = ("captured", "rejected", "unchecked", "late", "steps")
# Bytes per candidate: time and objective of a step, and the input and output of a transform.
_PER_CANDIDATE = 32


@dataclass(slots=True)
class Accepted:
    """Result of the compiled pass: the steps, and per run the counts, the best objective, its time and its index.

    `faults` maps the row of a run to its first candidate that cannot be scored or is out of order; usually it is empty.
    """

    time: Floats
    objective: Floats
    first: Integers
    counts: dict[str, Integers]
    terminal: NDArray[np.int8]
    best_index: Integers
    best: Floats
    best_time: Floats
    faults: dict[int, int]

    @classmethod
    def of(cls, runs: int) -> "Accepted":
        """Return an uninitialised result for this many runs, without steps."""
        counts = np.empty((len(COUNTS), runs), np.int64)
        return cls(
            time=np.empty(0),
            objective=np.empty(0),
            first=np.empty(runs, np.int64),
            counts=dict(zip(COUNTS, counts, strict=True)),
            terminal=np.empty(runs, np.int8),
            best_index=np.empty(runs, np.int64),
            best=np.empty(runs),
            best_time=np.empty(runs),
            faults={},
        )

    def moved(self, by: Integers) -> "Accepted":
        """Return the same result with the candidate indices of each run shifted by `by`."""
        places = np.where(self.best_index < 0, -1, self.best_index + by)
        return replace(
            self, best_index=places, faults={row: place + int(by[row]) for row, place in self.faults.items()}
        )


def accept_candidates(campaign: Campaign, scale: Scale, horizon: Floats, *, count_unchecked: bool) -> Accepted:
    """Run the compiled pass, in pieces if the campaign is larger than the memory budget.

    The steps do not depend on the pieces. An objective of zero or below is a fault unless the scale is signed.
    """
    first = campaign.runs["first"].to_numpy()
    total = int(campaign.runs["count"].sum())
    # Untouched pages of these arrays use no memory: the peak is the columns plus the steps.
    time, objective = ScratchArray(total), ScratchArray(total)
    end = 0
    parts = []
    for rows, piece in campaign.pieces(piece_size(_PER_CANDIDATE)):
        until = end + piece.candidates
        outputs = (time.room(end, until), objective.room(end, until))
        limits = horizon if piece is campaign else horizon[rows]
        part, made = _accept_piece(piece, scored_objectives(piece, scale), limits, *outputs, scale, count_unchecked)
        if piece is not campaign:
            part = part.moved(first[rows] - piece.runs["first"].to_numpy())
        parts.append((rows, part))
        columns = zip((time, objective), outputs, strict=True)
        at_once(*(partial(_close_up, column, room, end, made) for column, room in columns))
        end += sum(size for _, size in made)
        # A campaign in one piece needs no joining.
        if piece is campaign:
            return replace(part, time=time.cut(end), objective=objective.cut(end))
    return replace(joined(len(campaign), parts), time=time.cut(end), objective=objective.cut(end))


def joined(runs: int, parts: Sequence[tuple[Integers, Accepted]]) -> Accepted:
    """Join the results of parts, each given with its rows; the steps of the parts are assumed to be concatenated."""
    if len(parts) == 1 and np.array_equal(parts[0][0], np.arange(runs)):
        return parts[0][1]
    found = Accepted.of(runs)
    end = 0
    for rows, part in parts:
        found.first[rows] = part.first + end
        for name, counts in part.counts.items():
            found.counts[name][rows] = counts
        for name in ("terminal", "best_index", "best", "best_time"):
            getattr(found, name)[rows] = getattr(part, name)
        found.faults.update((int(rows[row]), place) for row, place in part.faults.items())
        end += int(part.counts["steps"].sum())
    return found


def _accept_piece(
    campaign: Campaign,
    objective: Floats,
    horizon: Floats,
    out_time: Floats,
    out_objective: Floats,
    scale: Scale,
    count_unchecked: bool,
) -> tuple[Accepted, list[tuple[int, int]]]:
    """Run the compiled pass in threads; also return the pieces of the output, offset and size, that they filled.

    `first` of a run is given as if these pieces were contiguous.
    """
    above = -np.inf if scale.signed else 0.0
    first = campaign.runs["first"].to_numpy()
    count = campaign.runs["count"].to_numpy()
    found = Accepted.of(len(first))
    suspect = np.empty(len(first), np.bool_)
    # Each thread fills its own part of the output from its beginning.
    written: dict[int, tuple[int, int]] = {}

    def work(low: int, high: int) -> None:
        start = int(count[:low].sum())
        written[low] = start, _accept_slices(
            low, high, start, first, count, horizon, campaign.time, objective, campaign.verdict, count_unchecked, above,
            out_time, out_objective, found.first, *found.counts.values(), found.terminal, found.best_index, found.best,
            found.best_time, suspect,
        )  # fmt: skip

    end, made = 0, []
    for low, high in in_slices(count, work):
        start, size = written[low]
        found.first[low:high] += end - start
        made.append((start, size))
        end += size
    for row in np.flatnonzero(suspect).tolist():
        limit = float(horizon[row])
        place = _find_fault(campaign, objective, row, limit, count_unchecked=count_unchecked, above=above)
        if place is not None:
            found.faults[row] = place
    return found, made


def _close_up(column: ScratchArray, room: Floats, end: int, made: Sequence[tuple[int, int]]) -> None:
    """Make the filled pieces of the output contiguous, from `end` on."""
    if column.room_apart:
        column.keep(end, made)
        return
    at = 0
    for start, size in made:
        # Move blocks and release their old memory; otherwise a third of the steps would be in memory twice.
        for low in range(0, size if start != at else 0, _MOVED):
            moved = min(_MOVED, size - low)
            _move_down(room, start + low, at + low, moved)
            column.give_back(end + max(start + low, at + low + moved), end + start + low + moved)
        at += size


def _find_fault(
    campaign: Campaign, objective: Floats, row: int, limit: float, *, count_unchecked: bool, above: float
) -> int | None:
    """Return the first candidate that is out of order, or accepted without a valid time stamp or objective, or None.

    The compiled pass also suspects runs with missing last time stamps, or with negative ones of rejected candidates;
    these are no faults.
    """
    first = int(campaign.runs["first"][row])
    part = slice(first, first + int(campaign.runs["count"][row]))
    t, z, code = campaign.time[part], objective[part], campaign.verdict[part]
    goes_back = np.zeros(len(t), np.bool_)
    goes_back[1:] = (t[1:] < t[:-1]) | (np.isnan(t[:-1]) & ~np.isnan(t[1:]))
    valid = (code == 1) | (count_unchecked & (code == 2))
    unusable = valid & ~(t > limit) & ~((z > above) & (z < np.inf) & (t >= 0.0))
    places = np.flatnonzero(goes_back | unusable)
    return first + int(places[0]) if len(places) else None


def _copy_down(column: Floats, source: int, target: int, size: int) -> None:
    column[target : target + size] = column[source : source + size].copy()


@compiled(nogil=True, small=_copy_down)
def _move_down(column, source, target, size):  # type: ignore[no-untyped-def] # pragma: no cover
    for k in range(size):
        column[target + k] = column[source + k]


# Number of steps that are moved at a time.
_MOVED = 1 << 20
# For runs of up to this many candidates, one plain loop is faster than several vectorised ones.
_SHORT = np.uint64(32)


@compiled(nogil=True, small=accept_arrays)
def _accept_slices(  # type: ignore[no-untyped-def] # pragma: no cover
    low, high, out, first, count, horizon, time, objective, verdict, count_unchecked, above,
    out_time, out_objective, out_first, captured, rejected, unchecked, late, steps,
    terminal, best_index, best_objective, best_time, suspect,
):  # fmt: skip
    """Build the envelopes of runs low:high into the output from position `out` on; return the number of steps."""
    # Unsigned indices avoid the check for negative ones. Slicing an array, or passing one to a call, would cost more
    # than processing a short run.
    start, one = out, np.uint64(1)
    for run in range(low, high):
        begin, stop, limit = np.uint64(first[run]), np.uint64(first[run] + count[run]), horizon[run]
        if begin < stop <= begin + _SHORT and time[stop - one] <= limit and _all_valid(verdict, begin, stop):
            best, place, free = np.inf, np.int64(-1), np.uint64(out)
            faults, equal, before, step = np.int64(0), np.int64(0), 0.0, -1.0
            for k in range(begin, stop):
                t, z = time[k], objective[k]
                out_time[free] = t
                out_objective[free] = z
                faults += not (before <= t)
                faults += not ((z > above) & (z < np.inf))
                better = z < best
                equal += better & (t == step)
                place = np.int64(k) if better else place
                best = z if better else best
                step = t if better else step
                before = t
                free += np.uint64(better)
            terminal[run], rejected[run], unchecked[run], late[run] = 1, 0, 0, 0
            captured[run] = count[run]
        else:
            free, best, place, faults, equal, last, bad, open_, bounds, over = _accept_run(
                begin, stop, limit, time, objective, verdict, count_unchecked, above, np.uint64(out), out_time,
                out_objective,
            )  # fmt: skip
            terminal[run], rejected[run], unchecked[run], late[run] = last, bad, open_, over
            captured[run] = count[run] - bounds
        made = np.int64(free) - out
        if equal > 0:
            made = _coalesce(out_time[out : out + made], out_objective[out : out + made])
        suspect[run] = faults > 0
        out_first[run] = out
        steps[run] = made
        best_index[run] = place
        best_objective[run] = best
        best_time[run] = time[place] if place >= 0 else np.nan
        out += made
    return out - start


@compiled(nogil=True)
def _accept_run(  # type: ignore[no-untyped-def] # pragma: no cover
    begin, stop, limit, time, objective, verdict, count_unchecked, above, out, out_time, out_objective
):
    """Build the envelope of one run; return its end, its best candidate, and the counts."""
    # Several plain loops over a run in the cache are faster than one loop with branches: no processor can predict
    # whether a candidate improves, and plain loops are vectorised.
    one, bad, open_, bounds = np.uint64(1), 0, 0, 0
    for k in range(begin, stop):
        bad += verdict[k] == 0
        open_ += verdict[k] == 2
        bounds += verdict[k] == 3
    faults = np.int64(0)
    if begin < stop:
        for k in range(begin, stop - one):
            faults += not (time[k] <= time[k + one])
        faults += time[begin] < 0.0
    end = _first_beyond(time, begin, stop, limit)
    over = 0
    for k in range(end, stop):
        over += (time[k] > limit) & (verdict[k] != 3)
        faults += (time[k] != time[k]) & ((verdict[k] == 1) | (count_unchecked & (verdict[k] == 2)))

    # Write every candidate to the next free position, and advance the position only if the candidate improves.
    best, place, free = np.inf, np.int64(-1), out
    if bad + bounds == 0 and (open_ == 0 or count_unchecked):
        for k in range(begin, end):
            faults += not ((objective[k] > above) & (objective[k] < np.inf))
        for k in range(begin, end):
            z = objective[k]
            out_time[free] = time[k]
            out_objective[free] = z
            better = z < best
            place = np.int64(k) if better else place
            best = z if better else best
            free += np.uint64(better)
    else:
        for k in range(begin, end):
            z = objective[k]
            valid = (verdict[k] == 1) | (count_unchecked & (verdict[k] == 2))
            faults += valid & (not ((z > above) & (z < np.inf)))
            out_time[free] = time[k]
            out_objective[free] = z
            better = valid & (z < best)
            place = np.int64(k) if better else place
            best = z if better else best
            free += np.uint64(better)
    last = _last_verdict(verdict, begin, end, count_unchecked)
    return free, best, place, faults, _equal_stamps(out_time, out, free), last, bad, open_, bounds, over


@compiled(inline="always", keep=False)
def _all_valid(verdict, begin, end):  # type: ignore[no-untyped-def] # pragma: no cover
    others = 0
    for k in range(begin, end):
        others += verdict[k] != 1
    return others == 0


@compiled(inline="always", keep=False)
def _first_beyond(time, low, high, limit):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the first index whose time is not at most the limit (a missing time is beyond every limit)."""
    # Usually there is none.
    if low < high and time[high - np.uint64(1)] <= limit:
        low = high
    while low < high:
        middle = (low + high) // np.uint64(2)
        if time[middle] <= limit:
            low = middle + np.uint64(1)
        else:
            high = middle
    return low


@compiled(inline="always", keep=False)
def _last_verdict(verdict, begin, end, count_unchecked):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the verdict on the last candidate, ignoring bounds; -1 if there is none."""
    found = -1
    for k in range(end - begin):
        code = verdict[end - np.uint64(1) - k]
        if code != 3:
            found = 1 if count_unchecked and code == 2 else code
            break
    return found


@compiled(inline="always", keep=False)
def _equal_stamps(time, begin, end):  # type: ignore[no-untyped-def] # pragma: no cover
    equal = 0
    for k in range(begin + np.uint64(1), end):
        equal += time[k] == time[k - np.uint64(1)]
    return equal


@compiled(nogil=True)
def _coalesce(time, objective):  # type: ignore[no-untyped-def] # pragma: no cover
    """Of steps with equal times keep the last, which is the best; return how many remain."""
    kept = 0
    for k in range(1, len(time)):
        kept += time[k] != time[kept]
        time[kept] = time[k]
        objective[kept] = objective[k]
    return kept + 1
