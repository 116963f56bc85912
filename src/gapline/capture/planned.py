"""What of the plan is there: runs that the contract asks for, cells under way, interrupted or never begun."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from gapline.errors import GaplineError, listing
from gapline.model.campaign import Campaign, matches
from gapline.model.numbered import Numbered
from gapline.model.tables import CELL, RUN_KEY, RunKey, RunStatus

if TYPE_CHECKING:
    from gapline.model.contract import Contract
    from gapline.model.plan import Plan


def every_arm_has_every_cell(runs: Numbered) -> bool:
    """Say whether every arm has all the cells that any arm has."""
    arms, units = runs.by("arm"), runs.by("panel", "instance", "seed")
    return runs.by("panel", "instance", "seed", "arm").size == arms.size * units.size


def expected_cells(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the cells that every arm should have where no plan says so: all that any arm has."""
    union = runs.select("panel", "instance", "seed").unique()
    # Sorted before they are multiplied: the product of two sorted tables is sorted.
    arms, units = runs.select("arm").unique().sort("arm"), union.sort("panel", "instance", "seed")
    return arms.join(units, how="cross", maintain_order="left_right").select(CELL)


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
    """Return every planned cell that fits the patterns in `wanted`: done, running, interrupted or missing."""
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
        planned = planned.select(CELL).sort(CELL)
    if contract is None and planned.height == len(campaign):
        # As many as there are runs, each of which is one of them.
        return planned.with_columns(state=pl.lit("done"))
    schema = planned.select(RUN_KEY).schema
    begun, held = (pl.DataFrame(some, schema=schema, orient="row") for some in (campaign.interrupted, campaign.running))
    keys = planned.select(RUN_KEY).with_row_index("_row")
    tables = (campaign.runs, held, begun)
    done, running, interrupted = (keys.join(some, on=RUN_KEY, how="semi")["_row"] for some in tables)
    # A cell with a whole run is done, whatever became of its other attempts.
    state = (
        pl.when(pl.col("_row").is_in(done.implode()))
        .then(pl.lit("done"))
        .when(pl.col("_row").is_in(running.implode()))
        .then(pl.lit("running"))
        .when(pl.col("_row").is_in(interrupted.implode()))
        .then(pl.lit("interrupted"))
        .otherwise(pl.lit("missing"))
    )
    return planned.with_columns(keys.select(state=state))


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
