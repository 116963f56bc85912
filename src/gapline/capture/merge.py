"""Campaigns with disjoint runs, put together."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from gapline.capture.assemble import MOST_REASONS, OTHER_REASON
from gapline.errors import TraceError, listing
from gapline.model.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS, Campaign
from gapline.model.diagnostics import Diagnostics
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
    for campaign in whole:
        for name, value in campaign.facts.items():
            if facts.setdefault(name, value) != value:
                raise TraceError(f"merge: expected one {name}, got {facts[name]!r} and {value!r}")
    reasons = tuple(dict.fromkeys(reason for campaign in whole for reason in campaign.reasons))
    if len(reasons) > MOST_REASONS:
        reasons = (*reasons[:MOST_REASONS], OTHER_REASON)
    code = {name: number for number, name in enumerate(reasons)}
    columns = {}
    for name, dtype in (REQUIRED_COLUMNS | OPTIONAL_COLUMNS).items():
        present = [getattr(campaign, name) for campaign in whole]
        if all(column is None for column in present):
            continue
        blank = 0 if name == "reason" else np.nan
        pieces = []
        for campaign, column in zip(whole, present, strict=True):
            piece = np.full(len(campaign.time), blank, dtype) if column is None else column
            if name == "reason" and column is not None:
                piece = np.array([code.get(reason, len(reasons) - 1) for reason in campaign.reasons], np.uint8)[column]
            pieces.append(piece)
        columns[name] = np.concatenate(pieces)
    offsets = np.cumsum([0, *(len(campaign.time) for campaign in whole)])
    tables = [
        campaign.runs.with_columns(pl.col("first") + int(offset))
        for campaign, offset in zip(whole, offsets, strict=False)
    ]
    try:
        runs = pl.concat(tables, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise TraceError(f"merge: expected run columns of like types, got {error}") from error
    diagnostics = sum((campaign.diagnostics for campaign in whole), Diagnostics())
    # A cell that was interrupted in one source and ran to the end in another is a run.
    begun = {key for campaign in whole for key in campaign.interrupted}
    merged = Campaign.from_arrays(
        runs=runs,
        reasons=reasons,
        facts=facts,
        diagnostics=diagnostics,
        interrupted=begun.difference(*(campaign.keys() for campaign in whole)),
        **columns,
    )
    # In the order of the keys, so that a merge does not depend on the order of its sources.
    return replace(merged, runs=merged.runs.sort(RUN_KEY))
