"""How much of the plan was run, and how the rest is treated; captions count it either way."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.contract.choices import choice_values
from gapline.contract.instance_set import common_instances
from gapline.contract.ladders import find_ladders
from gapline.contract.reading import Coverage, ReferenceLabel
from gapline.contract.tables import RUN_KEY, RunKey, VerdictCode
from gapline.envelope.build import Unchecked
from gapline.errors import GaplineError, UsageError, listing
from gapline.journal.plan_coverage import every_arm_has_every_cell, planned_cells
from gapline.scoring.run_references import count_coverage

if TYPE_CHECKING:
    from gapline.contract.contract import Contract


def plan_cells(
    campaign: Campaign,
    planned: "Contract | None",
    wanted: Mapping[str, tuple[str, ...]],
    waiting: pl.DataFrame | None = None,
) -> pl.DataFrame | None:
    """Return the cells of the plan, None if there is no plan and nothing is missing.

    For a million runs the table takes longer than their scores, so it is only built when it is needed.
    """
    is_whole = not (campaign.running or campaign.interrupted) and (waiting is None or not waiting.height)
    if planned is None and is_whole and every_arm_has_every_cell(campaign.rows):
        return None
    return planned_cells(campaign, planned, wanted, waiting)


def without_waiting(campaign: Campaign, unchecked: Unchecked) -> tuple[Campaign, pl.DataFrame]:
    """Leave out complete runs with candidates that no checker has judged, and return them with the campaign.

    If no run has all its verdicts, none is left out: there is nothing to score, and building the envelopes says so.
    """
    runs, none = campaign.runs, campaign.runs.clear()
    refused = unchecked is Unchecked.REFUSE and "validation" in runs.columns
    if not refused or not campaign.diagnostics.unchecked:
        return campaign, none
    found = [np.empty(0, np.int64)]
    for rows, piece in campaign.pieces():
        first, count = piece.runs["first"].to_numpy(), piece.runs["count"].to_numpy()
        before = np.concatenate([[0], np.cumsum(np.asarray(piece.verdict) == VerdictCode.UNCHECKED)])
        found.append(rows[before[first + count] > before[first]])
    waiting = runs[np.sort(np.concatenate(found))].filter(pl.col("validation") == "checker")
    if not waiting.height or waiting.height == runs.height:
        return campaign, none
    return replace(campaign, runs=runs.join(waiting, on=RUN_KEY, how="anti", maintain_order="left")), waiting


def absent_cells(cells: pl.DataFrame | None, missing: str) -> pl.DataFrame:
    """Return the planned cells without a complete attempt; under the rule `refuse` of `--missing` they are an error."""
    if missing not in (rules := choice_values("missing")):
        raise UsageError(f"missing: expected {listing(rules)}, got {missing!r}")
    if cells is None:
        return pl.DataFrame()
    absent = cells.filter(pl.col("state") != "done")
    if missing == "refuse" and absent.height:
        rows = absent.select(*RUN_KEY, "state").iter_rows()
        shown = listing((f"{RunKey(*key)} ({state})" for *key, state in rows), most=5)
        states = set(absent["state"])
        how = "running, interrupted or missing" if "running" in states else "interrupted or missing"
        how = f"waiting for a verdict, {how}" if "unchecked" in states else how
        raise GaplineError(
            f"expected every planned run, got {absent.height:,} of {cells.height:,} {how}: {shown}",
            hint="run them (`gapline run`), or count them as empty (`--missing empty`)",
        )
    # A run that waits for its verdict is complete: it never counts as a run that found nothing.
    return absent.filter(pl.col("state") != "unchecked")


def shared_runs(
    campaign: Campaign, contract: "Contract | None", *, tier_two: Collection[str]
) -> tuple[Campaign, int, dict[str, int]]:
    """Keep the runs on the instances that every compared arm ran.

    Also returns how many instances are left out, and how many runs of each arm.
    """
    arms = set(campaign.rows.names("arm"))
    declared = [] if contract is None else [arm for arm in contract.arms if arm.name in arms]
    ladders = list(find_ladders(campaign.runs, declared).values())
    shared, lacking = common_instances(campaign.rows, tier_two=tier_two, ladders=ladders)
    if not lacking:
        return campaign, 0, {}
    dropped = dict(campaign.runs.filter(~shared).group_by("arm").len().iter_rows())
    return replace(campaign, runs=campaign.runs.filter(shared)), lacking, dropped


def shared_units(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the panels and instances of some runs, each once."""
    return runs.select("panel", "instance").unique()


def count_begun(campaign: Campaign, arms: Collection[str] | None = None) -> dict[str, int]:
    """Count the cells in progress and those that were cut short, of all arms or of some."""
    begun = {"running": campaign.running, "interrupted": campaign.interrupted}
    return {name: sum(arms is None or key.arm in arms for key in keys) for name, keys in begun.items()}


def count_cells(
    runs: pl.DataFrame,
    cells: pl.DataFrame | None,
    reference: ReferenceLabel,
    *,
    planned: bool,
    filled: bool,
    removed: int = 0,
    begun: Mapping[str, int] | None = None,
    shared: pl.DataFrame | None = None,
    **left_out: int,
) -> Coverage:
    """Count runs and cells; with `filled`, absent cells count as empty runs.

    `begun` has the numbers of running and interrupted cells of a campaign without a plan. `shared` has the panels and
    instances that count, if runs on others were left out. `left_out` are further counts of `Coverage`, unchanged.
    """
    found = replace(count_coverage(runs, reference.unreferenced), **left_out)
    if not planned and not filled:
        return replace(found, **(begun or {}))
    states = {} if cells is None else dict(cells.group_by("state").len().iter_rows())
    absent = {name: states.get(name, 0) for name in ("running", "interrupted", "missing")}
    aside = 0
    if shared is not None and cells is not None:
        aside = cells.filter(pl.col("state") != "done").join(shared, on=shared.columns, how="anti").height
    return replace(
        found,
        aside=aside,
        planned=cells.height if planned and cells is not None else None,
        **absent,
        filled=sum(absent.values()) if filled else 0,
        removed=removed,
    )
