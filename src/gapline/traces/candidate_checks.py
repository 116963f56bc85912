"""Refuse sources whose candidates are implausible: in another unit, unreadable, all late or all rejected.

Without these checks, such a source would silently become a table of runs without a solution. A row with only a bound is
not a candidate. A source without any candidate is not refused: its runs found no solution.
"""

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.campaign import Campaign, count_reasons
from gapline.contract.tables import RUN_KEY, Reason, RunKey, VerdictCode
from gapline.errors import TraceError, listing
from gapline.text import counted
from gapline.traces.candidates import CandidateProblems, Unreadable
from gapline.traces.columns import Dialect, mapping, option
from gapline.traces.direction import with_notes
from gapline.traces.time_units import FINER, IN_WORDS, in_seconds, unit_of_number, unit_of_text

# The latest of 45 late candidates of real solvers came at 1.46 times the horizon.
FAR = 10.0
# Texts that scripts write for a missing value.
_NOTHING = ("", "none", "null", "na", "n/a", "nil", "-", "--", "?")
_THOUSANDS = re.compile(r"got '([+-]?[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+|[+-]?[0-9]{1,3}(?:,[0-9]{3}){2,})'")
_COMMA = re.compile(r"got '[+-]?[0-9]+,[0-9]+'")
_FIXES = {
    Reason.TIME_NEGATIVE.value: "times count from the start of the run",
    Reason.OBJECTIVE_NOT_FINITE.value: "mark a candidate that is not feasible with valid=false, and leave time and "
    "objective empty for a run that found nothing",
}


def refuse_unreadable(problems: CandidateProblems) -> None:
    """Refuse a table in which no time, or no objective, is a number."""
    for reason, what in ((Reason.TIME_NOT_A_NUMBER, "time"), (Reason.OBJECTIVE_NOT_A_NUMBER, "objective")):
        found = problems.unreadable.get(reason)
        if found is None or found.number < problems.judged or str(found.cell).strip().lower() in _NOTHING:
            continue
        expected = f"a time in {problems.unit}" if what == "time" else "an objective"
        number = f"no {what}" if found.number == 1 else f"none of {found.number:,} {what}s"
        raise TraceError(
            f"{found.where}: expected {expected}, got {str(found.cell)!r}: {number} can be read",
            hint=_readable(found, what, problems.source),
        )


def _readable(found: Unreadable, what: str, source: str) -> str:
    """Return a hint on how to read a cell that is not a number."""
    text = str(found.cell).strip()
    if what == "time" and (unit := unit_of_text(text)):
        more = ", with the moment at which each run began in a column `started`" if unit == "iso" else ""
        return f"{option('time_unit', unit, source)} reads times such as {text}{more}"
    if text.endswith("%"):
        return "times are seconds and objectives are values of the objective function: write these instead of shares"
    if "," in text:
        decimal = option("decimal", ",", source)
        return f"{decimal} reads decimal commas; marks between thousands have to be removed"
    if re.search(r"\d", text):
        return "write plain numbers, without a currency, a unit or a comment"
    columns = mapping(source, **{what: "NAME"})
    return f"{columns} names another column; leave time and objective empty for a run that found nothing"


def other_spellings(problems: CandidateProblems) -> list[str]:
    """Return notes on cells that are not numbers but would be with an option or another notation."""
    notes = []
    if any(_COMMA.search(message) for message in problems.messages):
        decimal = option("decimal", ",", problems.source)
        notes.append(f"some numbers look like 12,5: {decimal} reads them, if commas are their decimal marks")
    if found := next(filter(None, map(_THOUSANDS.search, problems.messages)), None):
        notes.append(f"some numbers have marks between thousands, such as {found[1]}: write them without")
    time = problems.unreadable.get(Reason.TIME_NOT_A_NUMBER)
    if time is not None and (unit := unit_of_text(str(time.cell).strip())):
        notes.append(f"some times look like {time.cell}: {option('time_unit', unit, problems.source)} reads them")
    return notes


def refuse_far_late(campaign: Campaign, dialect: Dialect, source: str) -> None:
    """Refuse a table with a candidate later than ten times its stated horizon."""
    if not campaign.diagnostics.late:
        return
    stated = campaign.runs["horizon"].fill_null(np.inf).to_numpy()
    far = _far_late(campaign, stated)
    if far is None:
        return
    horizon = dialect.columns.get("horizon", "horizon")
    fits = [f"{option('time_unit', far.unit, source)} if times are {IN_WORDS[far.unit]}"] if far.unit else []
    if bigger := next((unit for unit in ("min", "h") if far.time <= FAR * in_seconds(far.horizon, unit)), None):
        fits.append(f"{mapping(source, horizon=f'{bigger}:{horizon}')} if the horizon is in {IN_WORDS[bigger]}")
    if campaign.diagnostics.unordered and np.nanmax(campaign.objective, initial=0.0) <= FAR * far.horizon:
        fits.append(f"{mapping(source, time='objective', objective='time')} if these two are swapped")
    raise TraceError(
        f"{source}: expected the last candidates near the horizon, got {far.words}",
        hint="; ".join(fits)
        or f"{option('time_unit', 'UNIT', source)} states the unit of the times, "
        f"{mapping(source, horizon=f'UNIT:{horizon}')} that of the horizon",
    )


def note_horizon_unit(campaign: Campaign, dialect: Dialect, source: str) -> Campaign:
    """Add a note if the horizon may be in the unit of the times, which no other check would detect."""
    unit, horizons = dialect.time_unit, campaign.runs["horizon"].drop_nulls()
    if unit not in FINER or dialect.horizon_unit or not len(horizons) or not len(campaign.time):
        return campaign
    if float(np.nanmax(campaign.time, initial=0.0)) / in_seconds(1, unit) > float(np.min(horizons.to_numpy())):
        return campaign
    horizon = f"{unit}:{dialect.columns.get('horizon', 'horizon')}"
    columns = mapping(source, horizon=horizon)
    note = f"horizons are read as seconds; if they are {IN_WORDS[unit]} as the times are, {columns} reads them"
    return with_notes(campaign, [note])


def note_duplicates(campaign: Campaign) -> Campaign:
    """Add a note if at least a third of the candidates are duplicates, as in a file that was written twice."""
    found = campaign.diagnostics
    if not found.duplicate or 3 * found.duplicate < found.candidates:
        return campaign
    number = counted(found.duplicate, "duplicate")
    note = f"{number} among {found.candidates:,} candidates: a row that is repeated counts once"
    return with_notes(campaign, [note])


def note_far_late(campaign: Campaign, horizons: NDArray[np.float64], runs: NDArray[np.bool_]) -> str | None:
    """Return a note on candidates later than ten times a horizon that only an option states, or None."""
    far = _far_late(campaign, np.where(runs, horizons, np.inf))
    if far is None:
        return None
    stated = option("time_unit", far.unit, *campaign.diagnostics.sources)
    unit = f": if times are {IN_WORDS[far.unit]}, read them with {stated}" if far.unit else ""
    return f"candidates are far later than --horizon, {far.words}{unit}"


class _Far(NamedTuple):
    """The candidate that is latest relative to its horizon, also in words, and the unit in which all times fit."""

    time: float
    horizon: float
    unit: str | None
    words: str


def _far_late(campaign: Campaign, horizons: NDArray[np.float64]) -> _Far | None:
    worst: tuple[float, int, float] | None = None
    least, largest = np.inf, 0.0
    for rows, piece in campaign.pieces():
        count = piece.runs["count"].to_numpy()
        filled = np.flatnonzero((count > 0) & np.isfinite(horizons[rows]))
        first = piece.runs["first"].to_numpy()[filled]
        ends = piece.time[first + count[filled] - 1]
        # Time stamps increase within a run, and missing ones come last.
        least = min(least, float(np.nanmin(piece.time[first], initial=np.inf)))
        largest = max(largest, float(np.nanmax(ends, initial=0.0)))
        for k in np.flatnonzero(~(ends <= FAR * horizons[rows[filled]])).tolist():
            part, row = slice(first[k], first[k] + count[filled[k]]), int(rows[filled[k]])
            time = piece.time[part][piece.verdict[part] != VerdictCode.BOUND]
            latest = float(np.nanmax(time, initial=0.0))
            if latest > FAR * horizons[row] and (worst is None or latest / horizons[row] > worst[0]):
                worst = latest / float(horizons[row]), row, latest
    if worst is None:
        return None
    times, row, latest = worst
    ratio = f"{times:,.0f}" if times < 1e6 else f"{times:.1g}"
    horizon = float(horizons[row])
    words = f"one at {latest:.12g} s in run {_key(campaign, row)}, {ratio} times its horizon of {horizon:.12g} s"
    return _Far(latest, horizon, unit_of_number(largest, least, FAR * horizon), words)


def _key(campaign: Campaign, row: int) -> RunKey:
    return RunKey(*campaign.runs.select(RUN_KEY).row(row))


class _Lost(NamedTuple):
    """An arm without an acceptable candidate: the number of its candidates, and why they are not accepted."""

    arm: str
    candidates: int
    reasons: Counter[str]
    late: str

    def __str__(self) -> str:
        often = sorted(self.reasons.items(), key=lambda reason: (-reason[1], reason[0]))
        each = listing((f"{name} {number:,}" for name, number in often), most=3)
        ways = [f"rejected ({each})"] if self.reasons else []
        ways += [f"later than the horizon ({self.late})"] if self.late else []
        several = self.candidates > 1
        number = f"all {self.candidates:,} candidates are" if several else "the only candidate is"
        return f"{number} {' or '.join(ways)}"


def check_source(campaign: Campaign, *, allow_empty: bool) -> list[str]:
    """Refuse a source if every candidate was rejected or is later than the stated horizon of its run.

    If this holds only for some arms, or while runs are in progress, return notes instead.
    """
    if not (campaign.diagnostics.rejected_count or campaign.diagnostics.late):
        return []
    stated = campaign.runs["horizon"].fill_null(np.inf).to_numpy()
    return check_accepted(campaign, stated, allow_empty=allow_empty or bool(campaign.running))


def check_accepted(campaign: Campaign, horizons: NDArray[np.float64], *, allow_empty: bool) -> list[str]:
    """Refuse a campaign in which every candidate is late or rejected; return notes if this holds only for some arms."""
    lost, kept = [], False
    table = campaign.runs.with_row_index("_row").filter(pl.col("count") > 0)
    for arm, rows in table.group_by("arm", maintain_order=True).agg("_row").iter_rows():
        found = _lost_arm(campaign, horizons, arm, rows)
        kept |= found is None
        lost += [found] if found is not None and found.candidates else []
    if lost and not kept and not allow_empty:
        sources, problems = campaign.diagnostics.sources, campaign.diagnostics.problems
        reasons = sum((one.reasons for one in lost), Counter[str]())
        late = next((one.late for one in lost if one.late), "")
        whole = _Lost("", sum(one.candidates for one in lost), reasons, late)
        where = f"{listing(sources, most=3)}: " if sources else ""
        first = f"; the first: {problems[0]}" if problems and reasons else ""
        unit = far.unit if late and (far := _far_late(campaign, horizons)) else None
        hint = f"{option('allow_empty', True, *sources)} scores these runs as runs that found nothing"
        hint = "; ".join([*(fix for reason, fix in _FIXES.items() if reason in reasons), hint])
        if unit:
            hint = f"{option('time_unit', unit, *sources)} if times are {IN_WORDS[unit]}; {hint}"
        raise TraceError(f"{where}expected a candidate that can be accepted, got none: {whole}{first}", hint=hint)
    return [f"{one.arm}: {one}; its runs count as empty" for one in lost]


def _lost_arm(campaign: Campaign, horizons: NDArray[np.float64], arm: str, rows: list[int]) -> _Lost | None:
    """Return why no candidate of an arm is accepted; None if one can be accepted."""
    candidates, reasons, late = 0, Counter[str](), ""
    for row in rows:
        first, count = campaign.runs["first"][row], campaign.runs["count"][row]
        part = slice(first, first + count)
        verdict, time = np.asarray(campaign.verdict[part]), np.asarray(campaign.time[part])
        is_candidate, rejected = verdict != VerdictCode.BOUND, verdict == VerdictCode.INVALID
        after = is_candidate & ~rejected & (time > horizons[row])
        if np.any(is_candidate & ~rejected & ~after):
            return None
        candidates += int(np.count_nonzero(is_candidate))
        codes = None if campaign.reason is None else np.asarray(campaign.reason[part])
        reasons.update(count_reasons(verdict, codes, campaign.reasons))
        if after.any() and not late:
            late = f"run {_key(campaign, row)}: at {time[after][0]:.12g} s, its horizon is {horizons[row]:.12g} s"
    return _Lost(arm, candidates, reasons, late)
