"""What of the plan is there, and what becomes of the rest: it is counted in every caption either way."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

import polars as pl

from gapline.capture.planned import every_arm_has_every_cell, planned_cells
from gapline.errors import GaplineError, UsageError, listing
from gapline.model.campaign import Campaign
from gapline.model.reading import Coverage, ReferenceLabel
from gapline.model.tables import RUN_KEY, RunKey
from gapline.scoring.reading import count_coverage

if TYPE_CHECKING:
    from gapline.model.contract import Contract


class Missing(StrEnum):
    """What becomes of planned cells without a whole attempt; they are counted in every caption either way."""

    LEAVE_OUT = "leave-out"
    EMPTY = "empty"
    REFUSE = "refuse"


def plan_cells(
    campaign: Campaign, planned: "Contract | None", wanted: Mapping[str, tuple[str, ...]]
) -> pl.DataFrame | None:
    """Return the cells of the plan, None where there is no plan and nothing lacks.

    Of a million runs the table costs more than their scores: it is then made where somebody asks for it.
    """
    if planned is None and every_arm_has_every_cell(campaign.rows):
        return None
    return planned_cells(campaign, planned, wanted)


def absent_cells(cells: pl.DataFrame | None, missing: str | Missing) -> tuple[Missing, pl.DataFrame]:
    """Return what becomes of planned cells without a whole attempt, and these cells."""
    try:
        rule = Missing(missing)
    except ValueError:
        raise UsageError(f"missing: expected {listing(Missing)}, got {missing!r}") from None
    if cells is None:
        return rule, pl.DataFrame()
    absent = cells.filter(pl.col("state") != "done")
    if rule is Missing.REFUSE and absent.height:
        shown = listing(
            (f"{RunKey(*row[:3])} ({row[3]})" for row in absent.select(*RUN_KEY, "state").iter_rows()), most=5
        )
        how = "running, interrupted or missing" if (absent["state"] == "running").any() else "interrupted or missing"
        raise GaplineError(
            f"expected every planned run, got {absent.height:,} of {cells.height:,} {how}: {shown}",
            hint="run them (`gapline run`), or count them as empty (`--missing empty`)",
        )
    return rule, absent


def count_cells(
    runs: pl.DataFrame,
    cells: pl.DataFrame | None,
    reference: ReferenceLabel,
    *,
    planned: bool,
    filled: bool,
    removed: int,
    unscorable: int = 0,
) -> Coverage:
    """Count runs and cells; `filled` where absent cells count as empty runs."""
    found = replace(count_coverage(runs, reference.unreferenced), unscorable=unscorable)
    if not planned and not filled:
        return found
    states = {} if cells is None else dict(cells.group_by("state").len().iter_rows())
    absent = {name: states.get(name, 0) for name in ("running", "interrupted", "missing")}
    return replace(
        found,
        planned=cells.height if planned and cells is not None else None,
        **absent,
        filled=sum(absent.values()) if filled else 0,
        removed=removed,
    )
