"""Assemble a `Campaign` from unordered events: runs sorted by key, events sorted by time, problems counted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign, count_codes, count_reasons
from gapline.campaign.diagnostics import MOST_PROBLEMS, Diagnostics
from gapline.campaign.join import MOST_REASONS, OTHER_REASON
from gapline.contract.tables import RUN_KEY, RUNS, Reason, RunStatus, VerdictCode
from gapline.errors import TraceError
from gapline.files.scratch_arrays import scratch_array

# Average events per run from which `in_place` leaves runs where they are.
_LONG = 64


@dataclass(slots=True)
class RunTrace:
    """One run as a reader found it.

    Events are in any order, with NaN for a missing number; `carried` holds further columns of the runs table.
    """

    time: Any
    objective: Any
    verdict: Any | None = None
    arm: str | None = None
    instance: str | None = None
    seed: int | None = None
    panel: str | None = None
    horizon: float | None = None
    status: str = RunStatus.UNKNOWN.value
    bound: Any | None = None
    claimed: Any | None = None
    primary: Any | None = None
    secondary: Any | None = None
    reason: Sequence[str] | None = None
    carried: Mapping[str, Any] = field(default_factory=dict)


def campaign_from_traces(
    traces: Iterable[RunTrace],
    *,
    sources: Sequence[str] = (),
    facts: Mapping[str, str] | None = None,
    problems: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Campaign:
    """Assemble runs read one by one."""
    everything = list(traces)
    own = [name for name in RUNS if name not in ("first", "count")]
    rows = [{name: getattr(t, name) for name in own} | dict(t.carried) for t in everything]
    runs = pl.from_dicts(rows, infer_schema_length=None) if rows else pl.DataFrame(schema=RUNS).drop("first", "count")
    runs = runs.with_columns(pl.col(name).cast(RUNS[name]) for name in rows[0] if name in RUNS) if rows else runs
    sizes = [len(np.asarray(t.time)) for t in everything]
    columns: dict[str, NDArray[Any]] = {}
    for name, dtype in (REQUIRED_COLUMNS | OPTIONAL_COLUMNS).items():
        values = [getattr(t, name) for t in everything]
        if name == "reason" or (name in OPTIONAL_COLUMNS and all(value is None for value in values)):
            continue
        # A source without verdicts was not checked: every candidate counts as valid.
        blank: Any = VerdictCode.VALID if name == "verdict" else np.nan
        pieces = [
            np.full(size, blank, dtype) if value is None else np.asarray(value, dtype)
            for value, size in zip(values, sizes, strict=True)
        ]
        columns[name] = np.concatenate(pieces) if pieces else np.empty(0, dtype)
    reasons: list[str] | None = None
    if any(t.reason is not None for t in everything):
        each = zip(everything, sizes, strict=True)
        reasons = [name for t, size in each for name in ([""] * size if t.reason is None else t.reason)]
    run = np.repeat(np.arange(len(sizes)), sizes)
    more: dict[str, Any] = {"sources": sources, "facts": facts, "problems": problems, "notes": notes}
    return assemble(runs, run=run, columns=columns, reasons=reasons, **more)


def assemble(
    runs: pl.DataFrame,
    *,
    run: NDArray[np.integer[Any]],
    columns: dict[str, NDArray[Any]],
    reasons: Sequence[str] | NDArray[Any] | pl.Series | None = None,
    sources: Sequence[str] = (),
    facts: Mapping[str, str] | None = None,
    problems: Sequence[str] = (),
    problem_count: int | None = None,
    notes: Sequence[str] = (),
    out_of_order: Callable[..., None] | None = None,
    in_place: bool = False,
) -> Campaign:
    """Sort runs by key and events by time, reject unusable events and count the rest.

    Event k belongs to row `run[k]` of `runs`. Before events are sorted by time, `out_of_order` is called with the run
    of each event and the columns, both in the order of the source. With `in_place`, long runs whose events are
    contiguous keep their position, in any order of runs: no event is moved.
    """
    order = runs.select(RUN_KEY).with_row_index("_row").sort(RUN_KEY)["_row"].to_numpy()
    # Half the memory of 64 bits, and no campaign has two billion runs.
    number = np.argsort(order).astype(np.int32)
    size = len(columns["time"])
    run = number[run] if len(run) else run.astype(np.int32)
    codes, names = _encode_reasons(reasons)
    codes, names = _reject_unusable(columns, codes, names)

    time = columns["time"]
    # No comparison with NaN is true, so an event without a time stamp sorts last in its run, as `Campaign` expects.
    starts = _starts_of_blocks(run)
    falls = np.flatnonzero(~(time[1:] >= time[:-1]))
    falls = falls[run[falls + 1] == run[falls]]
    # Count before sorting: afterwards the order of the source is lost.
    unordered = int(np.count_nonzero(time[falls + 1] < time[falls]))
    blocks = run[starts]
    in_order = bool(np.all(blocks[1:] >= blocks[:-1]))
    whole = in_place and len(blocks) * _LONG <= size and len(np.unique(blocks)) == len(blocks)
    # Most sources are already in order, and sorting a large trace costs more than reading it.
    if len(falls) or not (in_order or whole):
        told = None if out_of_order is None else partial(out_of_order, columns=dict(columns))
        places = _sort(run, starts, time, backwards=len(falls) > 0, out_of_order=told)
        del told
        codes = None if codes is None else _take(codes, places)
        # One column at a time: each unsorted column is freed as soon as its sorted copy exists.
        del time
        columns = {name: _take(columns.pop(name), places) for name in list(columns)}
        run = _take(run, places)
        starts = _starts_of_blocks(run)
    time, objective, verdict = columns["time"], columns["objective"], columns["verdict"]
    # Counted, not removed: a duplicate candidate changes no envelope, but may mean that a log was read twice.
    twice = np.flatnonzero(time[1:] == time[:-1])
    twice = twice[run[twice + 1] == run[twice]]
    duplicate = int(np.count_nonzero(objective[twice + 1] == objective[twice]))
    count = np.bincount(run, minlength=len(order))
    first = np.cumsum(count) - count
    first[run[starts]] = starts
    table = runs[order].with_columns(count=pl.Series(count), first=pl.Series(first))
    endless = pl.Series([np.inf] * table.height, dtype=pl.Float64)
    horizon = table.get_column("horizon", default=endless).cast(pl.Float64).fill_null(np.inf).to_numpy()
    # Usually no event is a bound; the maximum shows this without a mask.
    is_candidate = verdict != VerdictCode.BOUND if size and verdict.max() >= VerdictCode.BOUND else None
    own = run if is_candidate is None else run[is_candidate]
    if codes is not None and codes.any():
        columns["reason"] = codes
    diagnostics = Diagnostics(
        sources=tuple(sources),
        runs=table.height,
        empty=int(np.count_nonzero(np.bincount(own, minlength=len(order)) == 0)),
        candidates=size if is_candidate is None else int(np.count_nonzero(is_candidate)),
        rejected=count_reasons(verdict, codes, names),
        unchecked=count_codes(verdict, VerdictCode.UNCHECKED),
        unordered=unordered,
        duplicate=duplicate,
        late=_count_late(time, horizon, run, is_candidate),
        problems=tuple(problems[:MOST_PROBLEMS]),
        problem_count=len(problems) if problem_count is None else problem_count,
        notes=tuple(notes),
    )
    try:
        return Campaign.from_arrays(runs=table, reasons=names, facts=facts, diagnostics=diagnostics, **columns)
    except TraceError as error:
        where = f"{sources[0]}: " if len(sources) == 1 else ""
        raise TraceError(where + error.message, hint=error.hint) from None


def _starts_of_blocks(run: NDArray[Any]) -> NDArray[np.int64]:
    """Return the start of each block of consecutive events of one run."""
    return np.concatenate(([0], np.flatnonzero(run[1:] != run[:-1]) + 1))[: len(run)]


def _sort(
    run: NDArray[Any],
    starts: NDArray[np.int64],
    time: NDArray[np.float64],
    *,
    backwards: bool,
    out_of_order: Callable[[NDArray[np.int32]], None] | None,
) -> NDArray[np.int64]:
    """Return the indices that sort events by run and time; their blocks begin at `starts`.

    `backwards` says that time decreases, or is missing, inside some block.
    """
    ends = np.append(starts[1:], len(run))
    order = _sort_stably(run[starts])
    starts, ends = starts[order], ends[order]
    again = run[starts[1:]] == run[starts[:-1]]
    # If a block of a run starts before its previous block ends, the events themselves have to be sorted.
    if backwards or np.any(again & ~(time[starts[1:]] >= time[ends[:-1] - 1])):
        if out_of_order is not None:
            out_of_order(run)
        return np.lexsort((time, run))
    counts = ends - starts
    places: NDArray[np.int64] = np.repeat(starts - (np.cumsum(counts) - counts), counts)
    places += np.arange(len(places))
    return places


def _count_late(
    time: NDArray[np.float64],
    horizon: NDArray[np.float64],
    run: NDArray[Any],
    is_candidate: NDArray[np.bool_] | None,
) -> int:
    # Usually even the last time stamp is not late; then the single events need not be compared.
    if not len(time) or time.max() <= horizon.min():
        return 0
    late = time > horizon[run]
    return int(np.count_nonzero(late if is_candidate is None else late & is_candidate))


def _take(column: NDArray[Any], places: NDArray[np.int64]) -> NDArray[Any]:
    # Any other mode than "clip" buffers the result in memory before it is written to `out`.
    return np.take(column, places, out=scratch_array(len(places), column.dtype), mode="clip")


def _sort_stably(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Return the stable order of nonnegative integers.

    NumPy uses a radix sort for 16-bit integers, which is much faster than its sort of 32-bit integers.
    """
    order = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    if len(numbers) and int(numbers.max()) > 0xFFFF:
        order = order[np.argsort((numbers >> 16)[order].astype(np.uint16), kind="stable")]
    return order


def _encode_reasons(
    reasons: Sequence[str] | NDArray[Any] | pl.Series | None,
) -> tuple[NDArray[np.uint8] | None, tuple[str, ...]]:
    if reasons is None:
        return None, ("",)
    series = pl.Series(reasons, dtype=pl.String).fill_null("")
    # The most frequent reasons keep their names; texts that differ per candidate are pooled.
    by_count = series.value_counts(sort=True, name="n")[series.name or ""].to_list()
    kept = sorted(name for name in by_count[:MOST_REASONS] if name)
    names = ("", *kept, OTHER_REASON) if len(by_count) > MOST_REASONS else ("", *kept)
    codes = series.replace_strict(names, list(range(len(names))), default=len(names) - 1, return_dtype=pl.Int64)
    return codes.to_numpy().astype(np.uint8), names


def _is_within(column: NDArray[np.float64], least: float) -> bool:
    """Say whether all numbers are finite and at least `least`."""
    # If the column contains a NaN, its min and max are NaN, and every comparison with them is false.
    return bool(least <= column.min() and column.max() < np.inf)


def _reject_unusable(
    columns: dict[str, NDArray[Any]],
    codes: NDArray[np.uint8] | None,
    names: tuple[str, ...],
) -> tuple[NDArray[np.uint8] | None, tuple[str, ...]]:
    """Mark candidates with an unusable time stamp or objective as invalid, with a reason."""
    time, objective = columns["time"], columns["objective"]
    if not len(time):
        return codes, names
    if _is_within(time, 0) and _is_within(objective, -np.finfo(np.float64).max):
        return codes, names
    verdict = columns["verdict"] = columns["verdict"].copy()
    accepted = (verdict == VerdictCode.VALID) | (verdict == VerdictCode.UNCHECKED)
    stamped = (verdict != VerdictCode.INVALID) & ~np.isfinite(time)
    rules = (
        (stamped, Reason.TIME_NOT_FINITE),
        ((verdict != VerdictCode.INVALID) & (time < 0), Reason.TIME_NEGATIVE),
        (accepted & ~np.isfinite(objective), Reason.OBJECTIVE_NOT_FINITE),
    )
    # The first rule that applies gives the reason, so that each candidate is counted once.
    for bad, reason in rules:
        fresh = bad & (verdict != VerdictCode.INVALID)
        if fresh.any():
            if reason.value not in names:
                names = (*names, reason.value)
            codes = np.zeros(len(time), np.uint8) if codes is None else codes.copy()
            codes[fresh] = names.index(reason.value)
            verdict[fresh] = VerdictCode.INVALID
    # An infinite time stamp is a missing one. NaN sorts last in its run; infinity would count as a late candidate.
    if np.isinf(time).any():
        columns["time"] = np.where(np.isinf(time), np.nan, time)
    return codes, names
