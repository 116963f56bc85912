"""The compiled pass over all candidates: which of them become steps, and how many were left out and why."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gapline.envelope.accept_arrays import accept_arrays
from gapline.envelope.objectives import scored_objectives
from gapline.model.campaign import Campaign
from gapline.model.compiled import compiled
from gapline.model.scale import Scale
from gapline.model.scratch import ScratchArray, piece_size
from gapline.model.threads import in_slices

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
COUNTS = ("captured", "rejected", "unchecked", "late", "steps")
# Bytes held per candidate: time and objective of a step, what a transform makes, and what it makes that of.
_PER_CANDIDATE = 32


@dataclass(slots=True)
class Accepted:
    """What the compiled pass found: the steps, and per run the counts, the best objective and its candidate's place."""

    time: Floats
    objective: Floats
    first: Integers
    counts: dict[str, Integers]
    terminal: NDArray[np.int8]
    best_index: Integers
    fault: Integers
    best: Floats

    @classmethod
    def of(cls, runs: int) -> "Accepted":
        """Return room for what is found of so many runs, without any step yet."""
        return cls(
            time=np.empty(0),
            objective=np.empty(0),
            first=np.zeros(runs, np.int64),
            counts={name: np.zeros(runs, np.int64) for name in COUNTS},
            terminal=np.full(runs, -1, np.int8),
            best_index=np.full(runs, -1, np.int64),
            fault=np.full(runs, -1, np.int64),
            best=np.full(runs, np.inf),
        )


def accept_candidates(campaign: Campaign, scale: Scale, horizon: Floats, *, count_unchecked: bool) -> Accepted:
    """Run the compiled pass, piece by piece where the campaign is larger than the memory budget.

    The steps are the same whatever the pieces. An objective of zero or below is a fault unless the scale is signed.
    """
    first = campaign.runs["first"].to_numpy()
    total = int(campaign.runs["count"].sum())
    # Untouched pages of these cost nothing: peak memory is the columns plus the steps.
    time, objective = ScratchArray(total), ScratchArray(total)
    end = 0
    parts = []
    for rows, piece in campaign.pieces(piece_size(_PER_CANDIDATE)):
        until = end + piece.candidates
        outputs = (time.room(end, until), objective.room(end, until))
        limits = horizon if piece is campaign else horizon[rows]
        part = _accept_piece(piece, scored_objectives(piece, scale), limits, *outputs, scale, count_unchecked)
        if piece is not campaign:
            moved = first[rows] - piece.runs["first"].to_numpy()
            part.best_index = np.where(part.best_index < 0, -1, part.best_index + moved)
            part.fault = np.where(part.fault < 0, -1, part.fault + moved)
        parts.append((rows, part))
        steps = int(part.counts["steps"].sum())
        for column in (time, objective):
            column.keep(end, steps)
        end += steps
    return replace(joined(len(campaign), parts), time=time.cut(end), objective=objective.cut(end))


def joined(runs: int, parts: Sequence[tuple[Integers, Accepted]]) -> Accepted:
    """Put together what was found of the rows of each part; their steps are taken to lie one part behind the other."""
    if len(parts) == 1 and np.array_equal(parts[0][0], np.arange(runs)):
        return parts[0][1]
    found = Accepted.of(runs)
    end = 0
    for rows, part in parts:
        found.first[rows] = part.first + end
        for name, counts in part.counts.items():
            found.counts[name][rows] = counts
        for name in ("terminal", "best_index", "fault", "best"):
            getattr(found, name)[rows] = getattr(part, name)
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
) -> Accepted:
    """Run the compiled pass in threads and close the gaps between their outputs in place."""
    above = -np.inf if scale.signed else 0.0
    first = campaign.runs["first"].to_numpy()
    count = campaign.runs["count"].to_numpy()
    found = Accepted.of(len(first))
    counts = np.zeros((len(COUNTS), len(first)), np.int64)
    suspect = np.zeros(len(first), np.bool_)
    # Each thread fills its own part of the output from the left, and the parts are moved together afterwards.
    offsets = np.concatenate(([0], np.cumsum(count)))
    written: dict[int, int] = {}

    def work(low: int, high: int) -> None:
        written[low] = _accept_slices(
            low, high, int(offsets[low]), first, count, horizon, campaign.time, objective, campaign.verdict,
            count_unchecked, above, out_time, out_objective, found.first, counts, found.terminal, found.best_index,
            found.best, suspect,
        )  # fmt: skip

    end = 0
    for low, high in in_slices(count, work):
        start, size = int(offsets[low]), written[low]
        if start != end and size:
            _move_down(out_time, start, end, size)
            _move_down(out_objective, start, end, size)
        found.first[low:high] += end - start
        end += size
    for row in np.flatnonzero(suspect).tolist():
        found.fault[row] = _find_fault(
            campaign, objective, row, float(horizon[row]), count_unchecked=count_unchecked, above=above
        )
    found.counts = dict(zip(COUNTS, counts, strict=True))
    return found


def _find_fault(
    campaign: Campaign, objective: Floats, row: int, limit: float, *, count_unchecked: bool, above: float
) -> int:
    """Return the first candidate out of order, or accepted without a positive finite objective and a stamp; -1 if none.

    Also asked of runs whose last stamps are missing, or whose rejected candidates have negative ones: no fault there.
    """
    first = int(campaign.runs["first"][row])
    part = slice(first, first + int(campaign.runs["count"][row]))
    t, z, code = campaign.time[part], objective[part], campaign.verdict[part]
    goes_back = np.zeros(len(t), np.bool_)
    goes_back[1:] = (t[1:] < t[:-1]) | (np.isnan(t[:-1]) & ~np.isnan(t[1:]))
    valid = (code == 1) | (count_unchecked & (code == 2))
    unusable = valid & ~(t > limit) & ~((z > above) & (z < np.inf) & (t >= 0.0))
    places = np.flatnonzero(goes_back | unusable)
    return first + int(places[0]) if len(places) else -1


def _copy_down(column: Floats, source: int, target: int, size: int) -> None:
    column[target : target + size] = column[source : source + size].copy()


@compiled(nogil=True, small=_copy_down)
def _move_down(column, source, target, size):  # type: ignore[no-untyped-def] # pragma: no cover
    for k in range(size):
        column[target + k] = column[source + k]


@compiled(nogil=True, small=accept_arrays)
def _accept_slices(  # type: ignore[no-untyped-def] # pragma: no cover
    low, high, out, first, count, horizon, time, objective, verdict, count_unchecked, above,
    out_time, out_objective, out_first, counts, terminal, best_index, best_objective, suspect,
):  # fmt: skip
    """Build the envelopes of runs low:high into the output from position `out` on; return how many steps there are."""
    # Several plain loops over a run that lies in the cache beat one loop with branches: whether a candidate improves is
    # a coin toss that no processor predicts, and plain loops are turned into vector instructions. Places without a sign
    # need no look at whether they count from the end; a slice would cost more than a short run does.
    start, one = out, np.uint64(1)
    for run in range(low, high):
        begin, size, limit = np.uint64(first[run]), np.uint64(count[run]), horizon[run]
        rejected, unchecked, bounds = 0, 0, 0
        for k in range(begin, begin + size):
            rejected += verdict[k] == 0
            unchecked += verdict[k] == 2
            bounds += verdict[k] == 3
        faults = 0
        if size > 0:
            for k in range(begin, begin + size - one):
                faults += not (time[k] <= time[k + one])
            faults += time[begin] < 0.0
        end = _first_beyond(time, begin, begin + size, limit)
        late = 0
        for k in range(end, begin + size):
            late += (time[k] > limit) & (verdict[k] != 3)
            faults += (time[k] != time[k]) & ((verdict[k] == 1) | (count_unchecked & (verdict[k] == 2)))

        # Every candidate is written to the next free place, and the place is kept only if the candidate improves.
        best, place, free = np.inf, np.int64(-1), np.uint64(out)
        if rejected + bounds == 0 and (unchecked == 0 or count_unchecked):
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
        steps = np.int64(free) - out
        if _equal_stamps(out_time, np.uint64(out), free) > 0:
            steps = _coalesce(out_time[out : out + steps], out_objective[out : out + steps])

        terminal[run] = _last_verdict(verdict, begin, end, count_unchecked)
        suspect[run] = faults > 0
        out_first[run] = out
        counts[0, run] = count[run] - bounds
        counts[1, run] = rejected
        counts[2, run] = unchecked
        counts[3, run] = late
        counts[4, run] = steps
        best_index[run] = place
        best_objective[run] = best
        out += steps
    return out - start


@compiled(inline="always", keep=False)
def _first_beyond(time, low, high, limit):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the first place whose time is not at most the limit (a missing stamp is beyond every limit)."""
    while low < high:
        middle = (low + high) // np.uint64(2)
        if time[middle] <= limit:
            low = middle + np.uint64(1)
        else:
            high = middle
    return low


@compiled(inline="always", keep=False)
def _last_verdict(verdict, begin, end, count_unchecked):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the verdict on the last candidate, which is no bound; -1 without one."""
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
    """Keep the last, which is the best, of steps with equal stamps; return how many remain."""
    kept = 0
    for k in range(1, len(time)):
        kept += time[k] != time[kept]
        time[kept] = time[k]
        objective[kept] = objective[k]
    return kept + 1
