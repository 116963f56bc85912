"""Campaigns with disjoint runs, put together."""

import sys
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from gapline.capture.spool import Spool
from gapline.errors import TraceError, listing
from gapline.model.campaign import Campaign
from gapline.model.tables import RUN_KEY, RunKey


def merge_campaigns(campaigns: Sequence[Campaign]) -> Campaign:
    """Put campaigns with disjoint runs into one; runs that clash, or facts that differ, are listed and refused."""
    if len(campaigns) == 1:
        return campaigns[0]
    whole = [campaign.compact() for campaign in campaigns]
    keys = pl.concat([campaign.runs.select(RUN_KEY) for campaign in whole])
    twins = keys.group_by(RUN_KEY).len().filter(pl.col("len") > 1).sort(RUN_KEY)
    if twins.height:
        clashing = listing(str(RunKey(*row)) for row in twins.select(RUN_KEY).iter_rows())
        raise TraceError(
            f"merge: expected disjoint runs, got {twins.height} in more than one source: {clashing}",
            hint="rename an arm, or leave one source out",
        )
    facts: dict[str, str] = {}
    for name, value in (fact for campaign in whole for fact in campaign.facts.items()):
        if facts.setdefault(name, value) != value:
            raise TraceError(f"merge: expected one {name}, got {facts[name]!r} and {value!r}")
    # In the order of the keys, so that a merge does not depend on the order of its sources.
    spool = Spool(in_memory=sys.maxsize)
    for campaign in whole:
        spool.add(_with_its_notes(campaign))
    # A cell that was interrupted in one source and ran to the end in another is a run.
    begun = {key for campaign in whole for key in campaign.interrupted}.difference(*(one.keys() for one in whole))
    merged = spool.finish(keys, facts=facts, diagnostics=replace(spool.diagnostics, notes=()))
    return replace(merged, interrupted=tuple(sorted(begun)))


def _with_its_notes(campaign: Campaign) -> Campaign:
    """Write what is said of a whole source to each of its runs: a filter takes it away with the last of them."""
    if not campaign.diagnostics.notes:
        return campaign
    own = campaign.runs.get_column("import_notes", default=pl.Series([None] * len(campaign), dtype=pl.String))
    whole = "\n".join(campaign.diagnostics.notes)
    noted = [whole if cell is None else f"{whole}\n{cell}" for cell in own]
    return replace(campaign, runs=campaign.runs.with_columns(import_notes=pl.Series(noted, dtype=pl.String)))
