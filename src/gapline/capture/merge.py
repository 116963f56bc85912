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
        spool.add(campaign)
    # A cell that was interrupted in one source and ran to the end in another is a run.
    begun = {key for campaign in whole for key in campaign.interrupted}.difference(*(one.keys() for one in whole))
    merged = spool.finish(keys, facts=facts, diagnostics=spool.diagnostics)
    return replace(merged, interrupted=tuple(sorted(begun)))
