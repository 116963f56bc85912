"""From what the solvers said to what we accept: validated, in-horizon, strictly improving steps per run.

Equal stamps keep the best objective; a candidate exactly at the horizon counts (it has zero width); a later one is
evidence of an overrun, not of quality: it stays in the campaign, out of the envelope, and is counted as late. The last
incumbent is held to the horizon, so a run that stops early or crashes is neither punished nor rewarded for it.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numba
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import HorizonError, ObjectiveError, TraceError, UncheckedError, UsageError, listing
from gapline.model.campaign import Campaign
from gapline.model.tables import RUN_KEY, RunKey
from gapline.model.transform import SYNTAX, Transform

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Unchecked(StrEnum):
    """What to do with candidates that nobody has checked."""

    REFUSE = "refuse"
    TRUST_SOLVER = "solver"
    LEAVE_OUT = "leave-out"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Envelopes:
    """Best-so-far steps of every run, and counts of what was left out.

    `runs` has one row per run: its key, panel, status and carried columns; `horizon` (the one scored) and `announced`
    (the one the solver was told); `first` and `count`, the slice of `time` and `objective`; `captured`, `rejected`,
    `unchecked`, `late` and `steps`; `terminal_valid` (verdict of the last candidate in the horizon, null without one);
    `best`, `best_raw` (before the transform) and `best_time`, null for an empty run; `validation`, who vouches for it.
    """

    runs: pl.DataFrame
    time: Floats
    objective: Floats
    transform: Transform
    unchecked: Unchecked
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.runs.height

    def __repr__(self) -> str:
        empty = int((self.runs["steps"] == 0).sum())
        return f"Envelopes({len(self):,} runs, {empty:,} empty, {int(self.runs['steps'].sum()):,} steps)"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>" + self.runs._repr_html_()

    @property
    def validation(self) -> str:
        """Who vouches for the candidates: `checker`, `solver`, or both with their counts of runs."""
        counts = self.runs.group_by("validation").len().sort("validation")
        if counts.height <= 1:
            return str(counts["validation"][0]) if counts.height else "checker"
        return ", ".join(f"{name} ({number} runs)" for name, number in counts.iter_rows())

    def select(self, rows: pl.Expr | Sequence[int]) -> "Envelopes":
        """Keep some runs; the step columns are shared, not copied."""
        runs = self.runs.filter(rows) if isinstance(rows, pl.Expr) else self.runs[list(rows)]
        return Envelopes(runs, self.time, self.objective, self.transform, self.unchecked, self.notes)

    def steps(self, row: int) -> tuple[Floats, Floats]:
        """Return times and objectives of the accepted steps of one run."""
        first, count = self.runs["first"][row], self.runs["count"][row]
        return self.time[first : first + count], self.objective[first : first + count]


def build_envelopes(
    campaign: Campaign,
    /,
    *,
    horizon: float | None = None,
    transform: str | Transform | None = None,
    unchecked: str | Unchecked = Unchecked.REFUSE,
) -> Envelopes:
    """Accept what may be scored.

    Parameters
    ----------
    campaign
        What the solvers said.
    horizon
        Fills runs that state none and re-scores the others at a shorter one; a horizon beyond a run's own is refused,
        since nothing was seen there.
    transform
        A declared transform of the objective, such as `shift:10`; see `gapline.model.transform`.
    unchecked
        `refuse` (default), `solver` (they count as valid because the solver said so) or `leave-out`.

    >>> from gapline.model.campaign import Campaign
    >>> campaign = Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 30.0,
    ...                                 "trace": [(5, 30.0), (7, 31.0), (7, 29.0), (31, 20.0)]}])
    >>> envelopes = build_envelopes(campaign)
    >>> envelopes.time.tolist(), envelopes.objective.tolist(), envelopes.runs["late"].to_list()
    ([5.0, 7.0], [30.0, 29.0], [1])
    """
    declared = Transform.parse(transform)
    try:
        policy = Unchecked(unchecked)
    except ValueError:
        raise UsageError(f"unchecked: expected {listing(Unchecked)}, got {unchecked!r}") from None
    _refuse_wrong_sense(campaign, declared)
    scored = _scored_horizons(campaign, horizon)
    objective = _transformed(campaign, declared)
    columns = _run_pass(campaign, objective, scored, count_unchecked=policy is Unchecked.TRUST_SOLVER)
    _refuse_bad_runs(campaign, columns, declared)
    if policy is Unchecked.REFUSE and (total := int(columns.counts["unchecked"].sum())):
        runs = int(np.count_nonzero(columns.counts["unchecked"]))
        raise UncheckedError(
            f"expected a verdict for every candidate, got {total:,} unchecked in {runs:,} runs",
            hint="check them (`gapline check`), count them as valid (`--validation solver`), "
            "or leave them out (`--allow-unchecked`)",
        )
    notes = [*_notes(campaign, columns, policy, scored)]
    if declared.hierarchical:
        notes += _hierarchy_notes(campaign, declared)
    return Envelopes(
        runs=_runs_table(campaign, columns, scored, policy),
        time=columns.time,
        objective=columns.objective,
        transform=declared,
        unchecked=policy,
        notes=tuple(notes),
    )


def thread_count() -> int:
    """Return how many threads the compiled passes use: the cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_slices(weights: Integers, work: Callable[[int, int], None], *, threads: int | None = None) -> list[tuple[int, int]]:
    """Call `work(low, high)` on consecutive slices of rows of about equal total weight, one per thread.

    `work` must release the GIL to gain anything. Returns the slices.
    """
    threads = threads or thread_count()
    total = int(weights.sum())
    if threads == 1 or len(weights) < 2 * threads or total < 50_000:
        slices = [(0, len(weights))]
        work(0, len(weights))
        return slices
    ends = np.searchsorted(np.cumsum(weights), np.linspace(0, total, threads + 1)[1:-1], side="left") + 1
    edges = [0, *(int(end) for end in ends), len(weights)]
    slices = [(low, high) for low, high in zip(edges, edges[1:], strict=False) if low < high]
    with ThreadPoolExecutor(len(slices)) as pool:
        for future in [pool.submit(work, low, high) for low, high in slices]:
            future.result()
    return slices


@dataclass(slots=True)
class _Accepted:
    """What the compiled pass found: the steps, and per run the counts and the place of the best candidate."""

    time: Floats
    objective: Floats
    first: Integers
    counts: dict[str, Integers]
    terminal: NDArray[np.int8]
    best_index: Integers
    fault: Integers


def _run_pass(campaign: Campaign, objective: Floats, horizon: Floats, *, count_unchecked: bool) -> _Accepted:
    """Run the compiled pass in threads and close the gaps between their outputs in place."""
    first = campaign.runs["first"].to_numpy()
    count = campaign.runs["count"].to_numpy()
    size = len(first)
    names = ("captured", "rejected", "unchecked", "late", "steps")
    counts = np.zeros((len(names), size), np.int64)
    out_first = np.zeros(size, np.int64)
    terminal = np.full(size, -1, np.int8)
    best_index = np.full(size, -1, np.int64)
    fault = np.full(size, -1, np.int64)
    # Untouched pages of these cost nothing; each thread fills its own part from the left, and the parts are moved
    # together afterwards, so that peak memory is the columns plus the steps.
    offsets = np.concatenate(([0], np.cumsum(count)))
    out_time, out_objective = np.empty(int(offsets[-1])), np.empty(int(offsets[-1]))
    written: dict[int, int] = {}

    def work(low: int, high: int) -> None:
        written[low] = _accept_slices(
            low, high, int(offsets[low]), first, count, horizon, campaign.time, objective, campaign.verdict,
            count_unchecked, out_time, out_objective, out_first, counts, terminal, best_index, fault,
        )  # fmt: skip

    slices = in_slices(count, work)
    end = 0
    for low, high in slices:
        start, size_here = int(offsets[low]), written[low]
        out_first[low:high] += end - start
        end += size_here
    return _Accepted(
        time=_close_gaps(out_time, slices, offsets, written),
        objective=_close_gaps(out_objective, slices, offsets, written),
        first=out_first,
        counts=dict(zip(names, counts, strict=True)),
        terminal=terminal,
        best_index=best_index,
        fault=fault,
    )


def _close_gaps(
    column: Floats, slices: list[tuple[int, int]], offsets: Integers, written: dict[int, int]
) -> Floats:
    """Move each thread's part down to the end of the one before, then give the tail back."""
    end = 0
    for low, _ in slices:
        start, size = int(offsets[low]), written[low]
        if start != end and size:
            _move_down(column, start, end, size)
        end += size
    column.resize(end, refcheck=False)
    column.flags.writeable = False
    return column


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _move_down(column, source, target, size):  # type: ignore[no-untyped-def] # pragma: no cover
    for k in range(size):
        column[target + k] = column[source + k]


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _accept_slices(  # type: ignore[no-untyped-def] # pragma: no cover
    low, high, out, first, count, horizon, time, objective, verdict, count_unchecked,
    out_time, out_objective, out_first, counts, terminal, best_index, fault,
):  # fmt: skip
    """Build the envelopes of runs low:high into the output from position `out` on; return how many steps there are."""
    # Several plain loops over a run that lies in the cache beat one loop with branches: whether a candidate improves is
    # a coin toss that no processor predicts, and plain loops over slices are turned into vector instructions.
    start = out
    for run in range(low, high):
        begin, stop, limit = first[run], first[run] + count[run], horizon[run]
        t, z, code = time[begin:stop], objective[begin:stop], verdict[begin:stop]
        size = len(t)
        rejected, unchecked, bounds = 0, 0, 0
        for k in range(size):
            rejected += code[k] == 0
            unchecked += code[k] == 2
            bounds += code[k] == 3
        backwards = 0
        for k in range(size - 1):
            backwards += t[k + 1] < t[k]
        end = _first_beyond(t, limit)
        late, faults = 0, backwards + (size > 0 and t[0] < 0.0)
        for k in range(end, size):
            late += (t[k] > limit) & (code[k] != 3)
            faults += (t[k] != t[k]) & ((code[k] == 1) | (count_unchecked & (code[k] == 2)))

        # Every candidate is written to the next free place, and the place is kept only if the candidate improves.
        best, place, steps = np.inf, -1, 0
        new_time, new_objective = out_time[out : out + end], out_objective[out : out + end]
        if rejected + bounds == 0 and (unchecked == 0 or count_unchecked):
            for k in range(end):
                faults += not ((z[k] > 0.0) & (z[k] < np.inf))
            for k in range(end):
                new_time[steps] = t[k]
                new_objective[steps] = z[k]
                better = z[k] < best
                place = k if better else place
                best = z[k] if better else best
                steps += np.int64(better)
        else:
            for k in range(end):
                valid = (code[k] == 1) | (count_unchecked & (code[k] == 2))
                faults += valid & (not ((z[k] > 0.0) & (z[k] < np.inf)))
                new_time[steps] = t[k]
                new_objective[steps] = z[k]
                better = valid & (z[k] < best)
                place = k if better else place
                best = z[k] if better else best
                steps += np.int64(better)
        steps = _coalesce(new_time, new_objective, steps)

        terminal[run] = -1
        for k in range(end - 1, -1, -1):
            if code[k] != 3:
                terminal[run] = 1 if count_unchecked and code[k] == 2 else code[k]
                break
        if faults:
            fault[run] = _find_fault(begin, stop, limit, time, objective, verdict, count_unchecked)
        out_first[run] = out
        counts[0, run] = size - bounds
        counts[1, run] = rejected
        counts[2, run] = unchecked
        counts[3, run] = late
        counts[4, run] = steps
        best_index[run] = begin + place if place >= 0 else -1
        out += steps
    return out - start


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _first_beyond(time, limit):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the first position whose time is not at most the limit (a missing stamp is beyond every limit)."""
    low, high = 0, len(time)
    while low < high:
        middle = (low + high) // 2
        if time[middle] <= limit:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _coalesce(time, objective, steps):  # type: ignore[no-untyped-def] # pragma: no cover
    """Keep the last, which is the best, of steps with equal stamps; return how many remain."""
    equal = 0
    for k in range(steps - 1):
        equal += time[k + 1] == time[k]
    if equal == 0:
        return steps
    kept = 0
    for k in range(1, steps):
        kept += np.int64(time[k] != time[kept])
        time[kept] = time[k]
        objective[kept] = objective[k]
    return kept + 1


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _find_fault(begin, stop, limit, time, objective, verdict, count_unchecked):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the first candidate out of order, or accepted without a positive finite objective and a stamp."""
    for k in range(begin, stop):
        t, z = time[k], objective[k]
        if k > begin and t < time[k - 1]:
            return k
        valid = verdict[k] == 1 or (count_unchecked and verdict[k] == 2)
        if valid and not t > limit and not (z > 0.0 and z < np.inf and t >= 0.0):
            return k
    # Only a negative stamp of an invalid candidate brings us here: it is counted as rejected, and no fault.
    return -1


def _refuse_wrong_sense(campaign: Campaign, transform: Transform) -> None:
    sense = campaign.facts.get("sense")
    if sense == "max" and not transform.maximises:
        raise ObjectiveError(
            f"the source maximises its objective, and transform {transform} is for minimisation",
            hint="declare --transform reciprocal or --transform negate-shift:C",
        )
    if sense == "min" and transform.maximises:
        raise ObjectiveError(f"the source minimises its objective, and transform {transform} is for maximisation")


def _scored_horizons(campaign: Campaign, horizon: float | None) -> Floats:
    """Settle the horizon of every run."""
    stated = campaign.runs["horizon"]
    if horizon is not None and not (np.isfinite(horizon) and horizon > 0):
        raise UsageError(f"horizon: expected positive finite seconds, got {horizon}")
    if horizon is None:
        if stated.null_count():
            missing = campaign.runs.filter(stated.is_null())
            names = listing((str(RunKey(*row)) for row in missing.select(RUN_KEY).iter_rows()), most=3)
            raise HorizonError(
                f"expected a horizon for every run, got none for {missing.height:,}: {names}",
                hint="give --horizon SECONDS, or a `horizon` column",
            )
        return stated.to_numpy()
    beyond = campaign.runs.filter(stated < horizon)
    if beyond.height:
        shown = listing(
            (f"{RunKey(*row[:3])} ({row[3]:g})" for row in beyond.select(*RUN_KEY, "horizon").iter_rows()), most=3
        )
        raise HorizonError(
            f"horizon {horizon:g}: expected at most each run's own, got {beyond.height:,} runs with less: {shown}",
            hint="nothing was observed beyond a run's own horizon; score at a shorter one",
        )
    return np.full(len(campaign), float(horizon))


def _transformed(campaign: Campaign, transform: Transform) -> Floats:
    """Apply the transform to every captured objective; without one, the column itself."""
    values = _apply(campaign, transform)
    # The compiled pass takes read-only columns, so that one compiled version serves all.
    values.flags.writeable = False
    return values


def _apply(campaign: Campaign, transform: Transform) -> Floats:
    if transform.hierarchical:
        if campaign.primary is None or campaign.secondary is None:
            raise ObjectiveError(f"transform {transform}: expected columns primary and secondary, got none")
        size = None
        if transform.per_size:
            if "size" not in campaign.runs.columns:
                transform.multiplier(None)
            whole = campaign.runs["size"].cast(pl.Float64).fill_null(np.nan).to_numpy()
            transform.multiplier(whole)
            size = np.ones(len(campaign.time))
            for first, count, n in zip(campaign.runs["first"], campaign.runs["count"], whole, strict=True):
                size[first : first + count] = n
        return transform.scalarise(campaign.primary, campaign.secondary, size=size)
    return transform.apply(campaign.objective)


def _refuse_bad_runs(campaign: Campaign, found: _Accepted, transform: Transform) -> None:
    """Turn the faults of the compiled pass into one error that names runs and values."""
    rows = np.flatnonzero(found.fault >= 0)
    if not len(rows):
        return
    keys = campaign.runs.select(RUN_KEY)
    backwards, bad = [], []
    for row in rows.tolist():
        k, begin = int(found.fault[row]), int(campaign.runs["first"][row])
        key = RunKey(*keys.row(row))
        if k > begin and campaign.time[k] < campaign.time[k - 1]:
            backwards.append(str(key))
        else:
            bad.append(f"{key} has {float(campaign.objective[k])!r} at time {float(campaign.time[k])!r}")
    if backwards:
        raise TraceError(
            f"expected times in order inside each run, got them backwards in {listing(backwards)}",
            hint="gl.read sorts; from_arrays takes sorted columns",
        )
    raise ObjectiveError(
        f"expected positive finite objectives (and times of 0 or more) under transform {transform}, "
        f"got others in {len(bad):,} runs: "
        + listing(bad, most=3),
        hint=f"mark what is not feasible with valid=false, or declare a transform: {SYNTAX}",
    )


def _notes(campaign: Campaign, found: _Accepted, policy: Unchecked, scored: Floats) -> list[str]:
    notes = []
    unchecked = int(found.counts["unchecked"].sum())
    if unchecked and policy is Unchecked.TRUST_SOLVER:
        notes.append(f"{unchecked:,} unchecked candidates count as valid because the solver said so")
    if unchecked and policy is Unchecked.LEAVE_OUT:
        notes.append(f"{unchecked:,} unchecked candidates were left out")
    announced = campaign.runs["horizon"].fill_null(np.inf).to_numpy()
    if np.any((announced != scored) & np.isfinite(announced)):
        notes.append("scored at a shorter horizon than the one announced to the solvers: conditional on the announced one")
    if "clock" in campaign.runs.columns and campaign.runs["clock"].drop_nulls().n_unique() > 1:
        clocks = sorted(campaign.runs["clock"].drop_nulls().unique().to_list())
        notes.append(f"clocks differ between runs: {listing(clocks)}")
    return notes


def _hierarchy_notes(campaign: Campaign, transform: Transform) -> list[str]:
    """Check the paper's condition M > max{C(y) - C(y') : K(y') = K(y) + 1} on the observed solutions."""
    violations = hierarchy_violations(campaign, transform)
    if not violations.height:
        return [f"transform {transform} keeps the lexicographic order of every observed pair of solutions"]
    worst = listing(
        (f"{i} (K={k:g}: needs M > {need:g}, has {m:g})" for i, k, need, m in violations.iter_rows()), most=3
    )
    return [f"transform {transform} breaks the lexicographic order on {violations.height} observed (instance, K): {worst}"]


def hierarchy_violations(campaign: Campaign, transform: Transform) -> pl.DataFrame:
    """List observed (instance, K) at which one more unit of the primary objective may look cheaper than none.

    Columns: instance, primary (K), needed (max C at K minus min C at K + 1), multiplier (M in force).
    """
    count = campaign.runs["count"].to_numpy()
    whole = campaign.compact()
    size = whole.runs["size"].cast(pl.Float64).to_numpy() if transform.per_size else None
    multiplier = np.broadcast_to(transform.multiplier(size), (len(whole),))
    candidates = pl.DataFrame(
        {
            "instance": np.repeat(whole.runs["instance"].to_numpy(), count),
            "multiplier": np.repeat(multiplier, count),
            "primary": whole.primary,
            "secondary": whole.secondary,
            "verdict": whole.verdict,
        }
    ).filter(pl.col("verdict") == 1)
    extremes = candidates.group_by("instance", "primary").agg(
        most=pl.col("secondary").max(), least=pl.col("secondary").min(), multiplier=pl.col("multiplier").min()
    )
    above = extremes.select("instance", primary=pl.col("primary") - 1, least_above=pl.col("least"))
    pairs = extremes.join(above, on=["instance", "primary"])
    return (
        pairs.with_columns(needed=pl.col("most") - pl.col("least_above"))
        .filter(pl.col("needed") >= pl.col("multiplier"))
        .select("instance", "primary", "needed", "multiplier")
        .sort("needed", descending=True)
    )


def _runs_table(campaign: Campaign, found: _Accepted, scored: Floats, policy: Unchecked) -> pl.DataFrame:
    place = found.best_index
    empty = place < 0
    safe = np.where(empty, 0, place)

    def at_best(column: NDArray[Any] | None) -> pl.Series:
        if column is None or not len(column):
            return pl.Series([None] * len(place), dtype=pl.Float64)
        return pl.Series(column[safe], dtype=pl.Float64).set(pl.Series(empty), None)

    last = np.where(empty, 0, found.first + found.counts["steps"] - 1)
    best = pl.Series(found.objective[last] if len(found.objective) else np.zeros(len(place)))
    extra: dict[str, pl.Series] = {}
    if campaign.primary is not None and campaign.secondary is not None:
        extra = {"best_primary": at_best(campaign.primary), "best_secondary": at_best(campaign.secondary)}
    runs = campaign.runs
    validation = runs["validation"].fill_null("checker") if "validation" in runs.columns else pl.lit("checker")
    table = runs.with_columns(validation=validation)
    if policy is Unchecked.TRUST_SOLVER:
        trusted = pl.Series(found.counts["unchecked"] > 0)
        table = table.with_columns(validation=pl.when(trusted).then(pl.lit("solver")).otherwise(pl.col("validation")))
    return table.with_columns(
        announced=runs["horizon"],
        horizon=pl.Series(scored, dtype=pl.Float64),
        first=pl.Series(found.first, dtype=pl.Int64),
        count=pl.Series(found.counts["steps"], dtype=pl.Int64),
        **{name: pl.Series(values, dtype=pl.Int64) for name, values in found.counts.items()},
        terminal_valid=pl.Series(found.terminal).replace_strict(
            [-1, 0, 1, 2], [None, False, True, None], return_dtype=pl.Boolean
        ),
        best=best.set(pl.Series(empty), None),
        best_raw=at_best(campaign.objective),
        best_time=at_best(campaign.time),
        **extra,
    )
