"""Coverage of the plan: which planned runs are done, under way, interrupted or missing."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.contract.ladders import find_ladders
from gapline.contract.row_groups import Numbered
from gapline.contract.tables import CELL, RUN_KEY, RunKey, RunStatus
from gapline.errors import GaplineError, listing
from gapline.journal.attempts import Attempt, CellRecord
from gapline.journal.read import JournalState, Outcome
from gapline.journal.verdicts import Judge, VerdictFacts, verdicts_of
from gapline.text import matches

if TYPE_CHECKING:
    from gapline.contract.contract import Contract
    from gapline.contract.plan import Plan


def every_arm_has_every_cell(runs: Numbered) -> bool:
    """Whether every arm has all its expected cells (`expected_cells`)."""
    if find_ladders(runs.table):
        return expected_cells(runs.table).height == runs.table.height
    arms, units = runs.by("arm"), runs.by("panel", "instance", "seed")
    return runs.by("panel", "instance", "seed", "arm").size == arms.size * units.size


def expected_cells(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the cells expected without a plan: those that any arm has, or any step of its ladder."""
    ladders = [list(steps) for steps in find_ladders(runs).values()]
    if not ladders:
        return _every_cell(runs)
    apart = [arm for steps in ladders for arm in steps]
    groups = [runs.filter(pl.col("arm").is_in(steps)) for steps in ladders]
    return pl.concat(map(_every_cell, [runs.filter(~pl.col("arm").is_in(apart)), *groups])).sort(CELL)


def _every_cell(runs: pl.DataFrame) -> pl.DataFrame:
    """Return every combination of the arms with the cells that any of them has."""
    union = runs.select("panel", "instance", "seed").unique()
    # Sorted before the cross join: the product of two sorted tables is sorted.
    arms, units = runs.select("arm").unique().sort("arm"), union.sort("panel", "instance", "seed")
    return arms.join(units, how="cross", maintain_order="left_right").select(CELL)


def runs_of_contract(campaign: Campaign, contract: "Contract | None", *, cells: bool) -> tuple[Campaign, int]:
    """Leave out runs that the contract does not ask for, by cell or by arm only; return how many were left out."""
    if contract is None:
        return campaign, 0
    if cells:
        keys = _plan(contract).keys()
        keep = [RunKey(*row) in keys for row in campaign.runs.select(RUN_KEY).iter_rows()]
    else:
        named = {arm.name for arm in contract.arms}
        keep = [arm in named for arm in campaign.runs["arm"]]
    # If nothing is left, the study.toml is probably wrong: raise instead of returning an empty campaign.
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
    campaign: Campaign,
    contract: "Contract | None",
    wanted: Mapping[str, tuple[str, ...]],
    waiting: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Return the planned cells that match the patterns in `wanted`, with their state.

    The state is done, unchecked, running, interrupted or missing. `waiting` holds whole runs without their verdict,
    which are not in the campaign.
    """
    if contract is None:
        parts = [campaign.runs, *([] if waiting is None else [waiting]), _begun(campaign)]
        planned = expected_cells(pl.concat(parts, how="diagonal_relaxed"))
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
        # There are as many cells as runs, and each run is one of the cells.
        return planned.with_columns(state=pl.lit("done"))
    schema = planned.select(RUN_KEY).schema
    begun, held = (pl.DataFrame(some, schema=schema, orient="row") for some in (campaign.interrupted, campaign.running))
    keys = planned.select(RUN_KEY).with_row_index("_row")
    unchecked = begun.clear() if waiting is None else waiting
    tables = (campaign.runs, unchecked, held, begun)
    done, checking, running, interrupted = (keys.join(some, on=RUN_KEY, how="semi")["_row"] for some in tables)
    # A cell with a whole run is done, whatever happened to its other attempts.
    state = (
        pl.when(pl.col("_row").is_in(done.implode()))
        .then(pl.lit("done"))
        .when(pl.col("_row").is_in(checking.implode()))
        .then(pl.lit("unchecked"))
        .when(pl.col("_row").is_in(running.implode()))
        .then(pl.lit("running"))
        .when(pl.col("_row").is_in(interrupted.implode()))
        .then(pl.lit("interrupted"))
        .otherwise(pl.lit("missing"))
    )
    return planned.with_columns(keys.select(state=state))


def _begun(campaign: Campaign) -> pl.DataFrame:
    """Return the cells that are running or interrupted, of instances that have at least one run."""
    schema = {name: campaign.runs.schema[name] for name in RUN_KEY}
    begun = pl.DataFrame([*campaign.interrupted, *campaign.running], schema=schema, orient="row")
    panels = campaign.runs.select("instance", "panel").unique(subset="instance", maintain_order=True)
    return begun.join(panels, on="instance", how="inner", maintain_order="left")


def with_empty_runs(campaign: Campaign, absent: pl.DataFrame, contract: "Contract | None") -> Campaign:
    """Add the absent cells as runs without a solution: the paper's rule for a closed campaign (section 6.1)."""
    rows = absent.select(
        *("arm", "instance", "panel", "seed"),
        status=pl.lit(RunStatus.LOST.value),
        first=pl.lit(0, pl.Int64),
        count=pl.lit(0, pl.Int64),
    )
    # Without a contract: the validation of the arm's other runs, and the horizon of other arms on this instance.
    if contract is None and "validation" in campaign.runs.columns:
        vouched = campaign.runs.group_by("arm").agg(pl.col("validation").drop_nulls().min())
        rows = rows.join(vouched, on="arm", how="left", maintain_order="left")
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
    # Imported here because the contract needs pydantic, which sources without a contract do not.
    from gapline.contract.plan import Plan

    return Plan.of(contract)


class CellState(StrEnum):
    """The state of a cell."""

    DONE = "done"
    UNCHECKED = "unchecked"  # the run is whole, but candidates wait for a verdict
    NOISY = "noisy"  # the run is whole but disturbed, and is to be repeated
    RUNNING = "running"
    INTERRUPTED = "interrupted"  # there are attempts, but none is whole
    QUARANTINED = "quarantined"  # interrupted, and a journal was changed after it was written
    MISSING = "missing"  # not begun


def cell_state(record: CellRecord[Attempt], *, waits: bool = False) -> CellState:
    """Return the state of a cell that no runner works on; `waits` is whether its run waits for a verdict."""
    if record.counting is not None:
        return CellState.UNCHECKED if waits else CellState.DONE
    if not record.interrupted:
        return CellState.MISSING
    changed = any(journal.state is JournalState.QUARANTINED for journal in record.attempts)
    return CellState.QUARANTINED if changed else CellState.INTERRUPTED


def waits_for_verdict(run: Outcome, stored: Iterable[VerdictFacts], judge: Judge | None) -> bool:
    """Whether a whole run has candidates without a verdict of the checker that counts.

    A run validated by its solver does not wait, and neither does a run without a solution to check.
    """
    if run.order is None or run.order.carried.get("validation") != "checker" or not run.asked:
        return False
    found = verdicts_of(stored, lambda head: head.judge == judge)
    return found is None or found.unchecked > 0 or found.candidates != run.asked
