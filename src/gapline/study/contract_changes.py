"""What a contract states today otherwise than it was recorded when the runs were made."""

from typing import TYPE_CHECKING

import polars as pl

from gapline.model.tables import RUN_KEY, RunKey

if TYPE_CHECKING:
    from gapline.model.contract import Contract

# The columns of the runs that record a field of the contract's table [time].
_FIELDS = {"clock": "clock", "charged": "charged", "granularity": "granularity", "machine": "machine_class"}
_BY_CELL = ("threads", "horizon")


def recorded_facts(runs: pl.DataFrame) -> list[str]:
    """Name the fields of [time] that the runner recorded with these runs."""
    if "attempt" not in runs.columns:
        return []
    ours = runs.filter(pl.col("attempt").is_not_null())
    columns = _FIELDS | {name: name for name in _BY_CELL}
    return [name for name, column in columns.items() if column in ours.columns and ours[column].count()]


def contract_changes(contract: "Contract", runs: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the fields of [time] that differ: what was recorded with the runs, and what the contract states today."""
    # A campaign without a contract loads none of it.
    from gapline.model.plan import Plan

    names = recorded_facts(runs)
    ours = runs.filter(pl.col("attempt").is_not_null()) if names else runs
    changes = {}
    for name in (name for name in names if name in _FIELDS):
        stated = getattr(contract.time, name)
        if others := [value for value in ours[_FIELDS[name]].drop_nulls().unique().sort() if value != stated]:
            changes[name] = (" and ".join(others), stated or "nothing")
    cells = {cell.key: cell for cell in Plan.of(contract).cells} if names else {}
    for name in (name for name in names if name in _BY_CELL):
        rows = ours.select(*RUN_KEY, name).drop_nulls().iter_rows()
        pairs = ((value, cells[RunKey(*key)]) for *key, value in rows if RunKey(*key) in cells)
        differing = {(value, stated) for value, cell in pairs if value != (stated := getattr(cell, name))}
        if differing:
            recorded, today = (
                " and ".join(f"{value:g}" for value in sorted(set(side))) for side in zip(*differing, strict=True)
            )
            changes[name] = (recorded, today)
    return changes
