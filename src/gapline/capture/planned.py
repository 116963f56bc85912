"""What of the plan is there: runs that the contract asks for, cells that were interrupted or never begun."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from gapline.errors import GaplineError, listing
from gapline.model.campaign import Campaign, matches
from gapline.model.tables import CELL, RUN_KEY, RunKey, RunStatus

if TYPE_CHECKING:
    from gapline.model.contract import Contract
    from gapline.model.plan import Plan


def expected_cells(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the cells that every arm should have where no plan says so: all that any arm has."""
    union = runs.select("panel", "instance", "seed").unique()
    return runs.select("arm").unique().join(union, how="cross").select(CELL).sort(CELL)


def runs_of_contract(campaign: Campaign, contract: "Contract | None", *, cells: bool) -> tuple[Campaign, int]:
    """Leave out runs that the contract does not ask for, by their cell or by their arm alone; return how many."""
    if contract is None:
        return campaign, 0
    if cells:
        keys = _plan(contract).keys()
        keep = [RunKey(*row) in keys for row in campaign.runs.select(RUN_KEY).iter_rows()]
    else:
        named = {arm.name for arm in contract.arms}
        keep = [arm in named for arm in campaign.runs["arm"]]
    # Nothing left is rather a wrong study.toml than a campaign of no runs.
    if not any(keep) and len(campaign):
        arms = listing(sorted(set(campaign.runs["arm"])))
        raise GaplineError(
            f"expected runs that the contract asks for, got {len(campaign):,} others (arms {arms})",
            hint="score the campaign directory itself, or name its arms, instances and seeds in study.toml",
        )
    if all(keep):
        return campaign, 0
    return replace(campaign, runs=campaign.runs.filter(pl.Series(keep, dtype=pl.Boolean))), keep.count(False)


def planned_cells(
    campaign: Campaign, contract: "Contract | None", wanted: Mapping[str, tuple[str, ...]]
) -> pl.DataFrame:
    """Return every planned cell that fits the patterns in `wanted`, and its state: done, interrupted or missing."""
    if contract is None:
        planned = expected_cells(campaign.runs)
    else:
        rows = [(c.arm.name, c.instance.panel, c.instance.name, c.seed) for c in _plan(contract).cells]
        planned = pl.DataFrame(rows, schema=dict.fromkeys(CELL, pl.String) | {"seed": pl.Int64}, orient="row")
        for name, patterns in wanted.items():
            if patterns:
                excluded = name == "exclude"
                fits = [matches(value, patterns) != excluded for value in planned["instance" if excluded else name]]
                planned = planned.filter(pl.Series(fits, dtype=pl.Boolean))
    # A cell with a whole run is done, whatever became of its other attempts: the later state overrides.
    state = dict.fromkeys(campaign.interrupted, "interrupted") | dict.fromkeys(campaign.keys(), "done")
    planned = planned.select(CELL).sort(CELL)
    states = [state.get(RunKey(*key), "missing") for key in planned.select(RUN_KEY).iter_rows()]
    return planned.with_columns(state=pl.Series(states, dtype=pl.String))


def with_empty_runs(campaign: Campaign, absent: pl.DataFrame, contract: "Contract | None") -> Campaign:
    """Add the absent cells as runs that found nothing: the paper's rule for a closed campaign (section 6.1)."""
    rows = absent.select(
        *("arm", "instance", "panel", "seed"),
        status=pl.lit(RunStatus.LOST.value),
        first=pl.lit(0, pl.Int64),
        count=pl.lit(0, pl.Int64),
    )
    # Without a contract, the horizon that the other arms had on this instance.
    known = campaign.runs.group_by("instance").agg(pl.col("horizon").max())
    rows = rows.join(known, on="instance", how="left", maintain_order="left")
    if contract is not None:
        horizons = {cell.key: cell.horizon for cell in _plan(contract).cells}
        rows = rows.with_columns(
            horizon=pl.Series([horizons[RunKey(*key)] for key in rows.select(RUN_KEY).iter_rows()], dtype=pl.Float64),
            validation=pl.lit(contract.objective.validation),
        )
    return replace(campaign, runs=pl.concat([campaign.runs, rows], how="diagonal_relaxed"))


def _plan(contract: "Contract") -> "Plan":
    # The contract brings pydantic, which sources without one do not need.
    from gapline.model.plan import Plan

    return Plan.of(contract)
