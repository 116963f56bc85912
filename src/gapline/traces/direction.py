"""Detect whether a source of unstated direction maximises, from its accepted candidates in time order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.campaign import Campaign
from gapline.campaign.scale import Senses, instance_senses
from gapline.contract.fact_origins import COLUMN, FactOrigin, read_origins, set_origin
from gapline.contract.tables import VerdictCode
from gapline.errors import ObjectiveError, TraceError, UsageError, listing
from gapline.text import counted
from gapline.traces.columns import option

# A minimising solver reports no rises, or it reports all candidates and has more new lowest values than new highest.
_RISES = 3
_RECORDS, _RATIO = 10, 9
# Endings of notes on an assumed direction; --sense makes them obsolete.
ASSUMED = (" confirms it", "; --sense says which")
# Candidates per piece.
_PIECE = 1 << 20
# If more than one in this many candidates is a move, sum the flags instead of searching for them.
_DENSE = 64

Integers = NDArray[np.int64]


class _Moves(NamedTuple):
    """How often objectives rise and fall from one candidate of a run to the next."""

    rises: int
    falls: int
    highest: int = 0
    lowest: int = 0

    @property
    def is_maximised(self) -> bool:
        """Whether the moves are those of a maximised objective."""
        only_rises = self.rises >= _RISES and not self.falls
        return only_rises or (self.highest >= _RECORDS and self.highest >= _RATIO * self.lowest)

    @property
    def is_doubtful(self) -> bool:
        """Whether all moves are rises, but too few to decide."""
        return 0 < self.rises < _RISES and not self.falls

    def __str__(self) -> str:
        if not self.falls:
            return f"{counted(self.rises, 'rise')} and no fall from one candidate to the next"
        return f"{counted(self.highest, 'new highest value')} and {self.lowest:,} new lowest"


def state_sense(campaign: Campaign, sense: str | None) -> Campaign:
    """Write the stated sense to the runs whose source does not state one."""
    if sense is None:
        return campaign
    campaign = _without_assumed(campaign)
    known = instance_senses(campaign)
    open_ones = [name for name, own in known.items() if own is None]
    if known and not {None, sense} & set(known.values()):
        raise UsageError(
            f"--sense {sense}: the source states {', '.join(sorted(map(str, set(known.values()))))}",
            hint="leave --sense out: it is for sources that do not state the direction",
        )
    return fill_senses(campaign, dict.fromkeys(open_ones, sense), FactOrigin.OPTION) if open_ones else campaign


def fill_senses(campaign: Campaign, senses: Mapping[str, str], origin: FactOrigin) -> Campaign:
    """Write the given senses of instances to their runs."""
    column = campaign.runs.get_column("sense", default=pl.Series([None] * len(campaign), dtype=pl.String))
    silent = campaign.runs["instance"].is_in(list(senses))
    given = campaign.runs["instance"].replace_strict(senses, default=None, return_dtype=pl.String)
    runs = campaign.runs.with_columns(sense=column.zip_with(~silent, given))
    return replace(campaign, runs=set_origin(runs, "sense", origin, silent))


def _without_assumed(campaign: Campaign) -> Campaign:
    """Remove the senses that an import assumed, and its notes on them."""
    if not {COLUMN, "sense"} <= {*campaign.runs.columns}:
        return campaign
    is_assumed = pl.Series(
        [read_origins(text).get("sense") == FactOrigin.NOT_STATED for text in campaign.runs[COLUMN]], dtype=pl.Boolean
    )
    if not is_assumed.any():
        return campaign
    runs = campaign.runs.with_columns(sense=pl.when(~is_assumed).then("sense"))
    facts = {name: value for name, value in campaign.facts.items() if name != "sense"}
    read = campaign.diagnostics
    notes = tuple(note for note in read.notes if not note.endswith(ASSUMED))
    return replace(campaign, runs=runs, facts=facts, diagnostics=replace(read, notes=notes))


def with_notes(campaign: Campaign, notes: Sequence[str]) -> Campaign:
    """Return the campaign with further notes on its source."""
    read = campaign.diagnostics
    return replace(campaign, diagnostics=replace(read, notes=(*read.notes, *notes))) if notes else campaign


def check_direction(campaign: Campaign, declared: Senses = None) -> list[str]:
    """Refuse a source of unstated direction whose objectives rise; return a note if they rise only once or twice.

    The source as a whole and each of its arms are judged by the runs on instances whose sense is stated neither by the
    source nor by `declared`. While runs are in progress nothing is judged, because there are too few candidates.
    """
    try:
        senses = instance_senses(campaign, declared)
    except ObjectiveError:
        # The stated senses contradict each other; scoring refuses them unless `--negate` reverses an arm.
        return []
    silent = [name for name, sense in senses.items() if sense is None]
    if not silent or campaign.running:
        return []
    if len(silent) < len(senses):
        campaign = replace(campaign, runs=campaign.runs.filter(pl.col("instance").is_in(silent)))
    moves = _moves_by_arm(campaign)
    whole = _Moves(*map(sum, zip(*moves.values(), strict=True)))
    rising = {arm: one for arm, one in moves.items() if one.is_maximised}
    if whole.is_maximised or rising:
        _refuse(campaign, whole, rising, has_contract=isinstance(declared, Mapping))
    doubtful = {f"arm {arm} has {one}" for arm, one in moves.items() if one.is_doubtful}
    if whole.is_doubtful:
        doubtful = {f"there are {whole}"}
    confirm = option("sense", "min", *campaign.diagnostics.sources)
    return [f"the objective is taken as minimised, although {one}; {confirm}{ASSUMED[0]}" for one in sorted(doubtful)]


def _refuse(campaign: Campaign, whole: _Moves, rising: Mapping[str, _Moves], *, has_contract: bool) -> None:
    sources = campaign.diagnostics.sources
    where = f"{sources[0]}: " if len(sources) == 1 else ""
    larger, smaller = (option("sense", name, *sources) for name in ("max", "min"))
    if whole.is_maximised:
        hint = f"{larger} if larger values are better, {smaller} if smaller ones are"
        if has_contract:
            hint = f"`[objective] sense` of study.toml states it, and so does `gapline score`: {hint}"
        raise TraceError(
            f"{where}the objective seems to be maximised, but its direction is not stated: {whole}", hint=hint
        )
    arms = listing((f"{arm} ({moves})" for arm, moves in rising.items()), most=3)
    raise TraceError(
        f"{where}the objectives of some arms seem to be maximised, but their direction is not stated: {arms}",
        hint=f"{smaller} if smaller values are better in all arms, {larger} if larger ones are; "
        "`gapline score --negate ARM` turns an arm whose source reports the negated objective",
    )


def _moves_by_arm(campaign: Campaign) -> dict[str, _Moves]:
    """Count the moves of each arm, and new highest and lowest values if they can matter."""
    arms, names = campaign.rows.by("arm"), campaign.runs["arm"]
    rises, falls, highest, lowest = np.zeros((4, arms.size), np.int64)
    for rows, objective, counts in _accepted(campaign):
        up, still = (_count_moves(moved, objective, counts) for moved in (np.greater, np.equal))
        np.add.at(rises, arms.row[rows], up)
        np.add.at(falls, arms.row[rows], counts - 1 - up - still)
    # If objectives only rise or only fall, the moves are enough.
    mixed = (falls > 0) & (rises.sum() >= _RECORDS)
    if mixed.any():
        some = replace(campaign, runs=campaign.runs.filter(pl.Series(mixed[arms.row])))
        own = arms.row[mixed[arms.row]]
        for rows, objective, counts in _accepted(some):
            for total, found in zip((highest, lowest), _count_records(objective, counts), strict=True):
                np.add.at(total, own[rows], found)
    # Without a fall, each rise is a new highest value, and vice versa.
    highest, lowest = np.where(mixed, highest, rises), np.where(mixed, lowest, falls)
    moves = zip(*(one.tolist() for one in (rises, falls, highest, lowest)), strict=True)
    return {names[int(row)]: _Moves(*each) for row, each in zip(arms.first_row, moves, strict=True)}


def _accepted(campaign: Campaign) -> Iterator[tuple[Integers, NDArray[np.float64], Integers]]:
    """Yield, piece by piece, the rows of runs with accepted candidates, the objectives, and their number per run."""
    for rows, piece in campaign.pieces(_PIECE):
        first, count = (piece.runs[name].to_numpy() for name in ("first", "count"))
        # In the order of the columns, in which the slices of runs are usually contiguous.
        order = np.argsort(first, kind="stable")
        own, first, count = rows[order], first[order], count[order]
        starts = np.cumsum(count) - count
        verdict, objective = np.asarray(piece.verdict), np.asarray(piece.objective)
        if not (len(verdict) == count.sum() and (first == starts)[count > 0].all()):
            places = np.repeat(first - starts, count) + np.arange(count.sum())
            verdict, objective = verdict[places], objective[places]
        accepted = verdict == VerdictCode.VALID
        if not accepted.all():
            accepted |= verdict == VerdictCode.UNCHECKED
            kept = np.concatenate(([0], np.cumsum(accepted)))
            count, objective = kept[starts + count] - kept[starts], objective[accepted]
        yield own[count > 0], objective, count[count > 0]


def _count_moves(moved: np.ufunc, objective: NDArray[np.float64], counts: Integers) -> Integers:
    """Count, for each run, the candidates for which `moved(candidate, previous)` is true."""
    if not len(objective):
        return counts
    found = np.empty(len(objective), np.bool_)
    moved(objective[1:], objective[:-1], out=found[1:])
    starts = np.cumsum(counts) - counts
    # The first candidate of a run has no predecessor.
    found[starts] = False
    if np.count_nonzero(found) * _DENSE > len(found):
        return np.add.reduceat(found, starts, dtype=np.int64)
    # If few moves are found, as in most sources, locating them is much cheaper than summing all flags.
    return np.bincount(np.searchsorted(starts, np.flatnonzero(found), "right") - 1, minlength=len(counts))


def _count_records(objective: NDArray[np.float64], counts: Integers) -> tuple[Integers, Integers]:
    """Count, for each run, the candidates that are higher, and those that are lower, than all previous ones."""
    starts = np.cumsum(counts) - counts
    found = np.zeros((2, len(counts)), np.int64)
    # Group runs of similar length into matrices; a shorter run is padded with its last candidate.
    size = np.frexp(counts)[1]
    for group in np.unique(size):
        rows = np.flatnonzero(size == group)
        width = int(counts[rows].max())
        if len(rows) == 1:
            z = objective[starts[rows[0]] :][:width][np.newaxis]
        else:
            z = objective[starts[rows, np.newaxis] + np.minimum(np.arange(width), counts[rows, np.newaxis] - 1)]
        for total, best, moved in zip(found, (np.maximum, np.minimum), (np.greater, np.less), strict=True):
            total[rows] = moved(z[:, 1:], best.accumulate(z, axis=1)[:, :-1]).sum(axis=1)
    return found[0], found[1]
