"""Join campaigns with disjoint runs: their tables are concatenated, their columns are not copied."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign
from gapline.campaign.columns import MappedFile, PartedColumn
from gapline.campaign.diagnostics import Diagnostics
from gapline.campaign.runs_table import check_parts, complete_runs, twin_runs
from gapline.contract.tables import CARRIED, RUN_KEY
from gapline.errors import TraceError, listing
from gapline.files.scratch_arrays import scratch_array, spans
from gapline.text import counted

# Codes are bytes; the remaining ones are for reasons that gapline adds itself.
MOST_REASONS = 240
OTHER_REASON = "other reasons"


def join_campaigns(campaigns: Sequence[Campaign]) -> Campaign:
    """Join campaigns with disjoint runs, sorted by run key; no column but the reason codes is copied.

    Duplicate runs and conflicting facts are refused with an error that lists them. A cell that was interrupted in one
    campaign and finished in another is a run, and a recording that was never closed is superseded by another one of the
    same run. Notes on a whole campaign are copied to each of its runs.
    """
    if len(campaigns) == 1:
        return campaigns[0]
    given, campaigns = campaigns, without_superseded(campaigns)
    superseded = sum(len(campaign) for campaign in given) - sum(len(campaign) for campaign in campaigns)
    facts: dict[str, str] = {}
    for name, value in (fact for campaign in campaigns for fact in campaign.facts.items()):
        if facts.setdefault(name, value) != value:
            raise TraceError(f"merge: expected one {name}, got {facts[name]!r} and {value!r}")
    reasons, codes = join_reasons(campaigns)
    names = [
        name
        for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS)
        if any(getattr(campaign, name) is not None for campaign in campaigns)
    ]
    columns: dict[str, Any] = {
        name: PartedColumn([part for pair in zip(campaigns, codes, strict=True) for part in _parts(*pair, name)])
        for name in names
    }
    tables = [_with_its_notes(campaign).runs for campaign in campaigns]
    # The runs may have been filtered; then the columns hold more than their candidates.
    try:
        rows = complete_runs(joined_runs(tables, [len(one.time) for one in campaigns]), candidates=None)
    except TraceError:
        # `complete_runs` finds duplicate runs, but cannot say that they come from two sources.
        if twins := twin_runs(pl.concat([campaign.runs.select(RUN_KEY) for campaign in campaigns])):
            raise TraceError(
                f"merge: expected disjoint runs, got {len(twins)} in more than one source: {listing(twins)}",
                hint="give repeated runs a seed each, rename an arm, or leave one source out",
            ) from None
        raise
    check_parts(rows.table, columns)
    running = {key for campaign in campaigns for key in campaign.running}
    begun = {key for campaign in campaigns for key in campaign.interrupted}
    if running or begun:
        whole = {key for campaign in campaigns for key in campaign.keys()}  # noqa: SIM118 (a method of its own)
        running -= whole
        begun -= whole | running
    return Campaign(
        runs=rows.table,
        known=rows,
        reasons=reasons,
        facts=facts,
        diagnostics=replace(sum((c.diagnostics for c in campaigns), Diagnostics()), notes=_superseded_note(superseded)),
        interrupted=tuple(sorted(begun)),
        running=tuple(sorted(running)),
        files=tuple(files for campaign in campaigns for files in _files(campaign)),
        **columns,
    )


def without_superseded(campaigns: Sequence[Campaign]) -> list[Campaign]:
    """Leave out recordings that were never closed if another campaign has a closed or an earlier one of the run."""
    if not any("unclosed" in campaign.runs.columns for campaign in campaigns):
        return list(campaigns)
    tables = [
        campaign.runs.select(
            *RUN_KEY,
            unclosed=pl.col("unclosed").is_not_null() if "unclosed" in campaign.runs.columns else pl.lit(False),
            started=pl.col("started").cast(pl.String)
            if "started" in campaign.runs.columns
            else pl.lit(None, pl.String),
            place=pl.lit(place),
        )
        for place, campaign in enumerate(campaigns)
    ]
    # Of several open recordings, the one that started first counts, whatever the order of the files.
    ranked = pl.concat(tables).sort("unclosed", "started", nulls_last=True, maintain_order=True)
    later = ranked.filter(pl.col("unclosed") & ~pl.struct(RUN_KEY).is_first_distinct())
    if not later.height:
        return list(campaigns)
    kept = []
    for place, campaign in enumerate(campaigns):
        lost = later.filter(pl.col("place") == place)
        if lost.height:
            runs = campaign.runs.join(lost, on=RUN_KEY, how="anti", maintain_order="left")
            counts = campaign.diagnostics + Diagnostics(superseded={"cut short": lost.height})
            kept.append(replace(campaign, runs=runs, known=None, diagnostics=counts))
        else:
            kept.append(campaign)
    return kept


def _superseded_note(number: int) -> tuple[str, ...]:
    recordings = counted(number, "recording")
    return (f"{recordings} that never closed superseded by another one of the same run",) if number else ()


def join_tables(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Concatenate tables vertically; a column that a table lacks is null there."""
    try:
        return pl.concat(tables, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise TraceError(f"expected run columns of like types in all files, got {error}") from error


def joined_runs(
    tables: Sequence[pl.DataFrame], sizes: Sequence[int], identities: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Concatenate runs tables and sort them by run; `first` is shifted to the concatenated columns.

    Parameters
    ----------
    sizes
        Number of candidates in the columns of each table.
    identities
        Columns that replace those of the tables, one row per run in the order of the tables.
    """
    table = join_tables(tables)
    offsets = np.repeat(np.cumsum([0, *sizes[:-1]]), [part.height for part in tables])
    named = () if identities is None else identities.iter_columns()
    table = table.with_columns(*named, first=pl.col("first") + pl.Series(offsets))
    table = table.with_columns(pl.col(n).cast(t) for n, t in CARRIED.items() if n in table.columns)
    # A `resolution` column without values would mean that every time stamp is known to be exact.
    if "resolution" in table.columns and table["resolution"].null_count() == table.height:
        table = table.drop("resolution")
    return table.sort(RUN_KEY, maintain_order=True)


def join_reasons(campaigns: Sequence[Campaign]) -> tuple[tuple[str, ...], list[list[int]]]:
    """Return the reasons of all campaigns, and for each campaign the joined code of each of its codes."""
    reasons = {"": 0}
    codes: list[list[int]] = []
    for campaign in campaigns:
        own = []
        for reason in campaign.reasons if campaign.reason is not None else ():
            # A code is a byte: reasons beyond the limit are pooled.
            kept = reason if reason in reasons or len(reasons) < MOST_REASONS else OTHER_REASON
            own.append(reasons.setdefault(kept, len(reasons)))
        codes.append(own)
    return tuple(reasons), codes


def _parts(campaign: Campaign, codes: list[int], name: str) -> list[Any]:
    """Return the parts of a column, reasons under the joined codes; a missing column is filled with blanks."""
    column = getattr(campaign, name)
    if column is None:
        blank = np.array(0 if name == "reason" else np.nan, OPTIONAL_COLUMNS[name])
        # A broadcast view of one value takes no memory.
        return [np.broadcast_to(blank, (len(part),)) for part in _arrays(campaign.time)]
    if name == "reason" and codes != list(range(len(codes))):
        campaign.check_files()
        return [_translated(part, np.array(codes, np.uint8)) for part in _arrays(column)]
    return list(_arrays(column))


def _translated(column: NDArray[np.uint8], meant: NDArray[np.uint8]) -> NDArray[np.uint8]:
    out = scratch_array(len(column), np.uint8)
    for part in spans(len(column)):
        out[part] = meant[column[part]]
    return out


def _arrays(column: Any) -> tuple[Any, ...]:
    return column.parts if isinstance(column, PartedColumn) else (column,)


def _files(campaign: Campaign) -> tuple[tuple[MappedFile, ...], ...]:
    return campaign.files or ((),) * len(_arrays(campaign.time))


def _with_its_notes(campaign: Campaign) -> Campaign:
    """Copy the notes on a whole source to each of its runs, so that filtering out these runs removes the notes too."""
    if not campaign.diagnostics.notes:
        return campaign
    own = campaign.runs.get_column("import_notes", default=pl.Series([None] * len(campaign), dtype=pl.String))
    whole = "\n".join(campaign.diagnostics.notes)
    noted = [whole if cell is None else f"{whole}\n{cell}" for cell in own]
    return replace(campaign, runs=campaign.runs.with_columns(import_notes=pl.Series(noted, dtype=pl.String)))
