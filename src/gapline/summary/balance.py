"""Missing runs: cells that an arm lacks on an instance that it ran, so that no mean is silently over fewer seeds."""

from dataclasses import dataclass

import polars as pl

from gapline.capture.planned import every_arm_has_every_cell
from gapline.errors import listing
from gapline.model.ladders import find_ladders
from gapline.model.numbered import Numbered
from gapline.model.tables import CELL


@dataclass(frozen=True, slots=True)
class Balance:
    """Whether any run is missing, and which.

    Without a plan a run is missing where other arms have more runs on an instance than this one has; that an arm ran
    other instances is said by `gapline.model.instance_set`.
    """

    missing: pl.DataFrame

    @property
    def complete(self) -> bool:
        """Whether no run is missing."""
        return self.missing.height == 0

    def notes(self) -> list[str]:
        """Return what a reader of the means has to know, empty where no run is missing."""
        if self.complete:
            return []
        shown = []
        for (arm,), cells in self.missing.sort(CELL).group_by("arm", maintain_order=True):
            instance, seed = cells.select("instance", "seed").row(0)
            more = f" and {cells.height - 1:,} more" if cells.height > 1 else ""
            shown.append(f"{arm} ({instance}, seed {seed}{more})")
        return [f"missing runs: {listing(shown, most=5)}; means are over the runs that are there"]


def check_balance(runs: pl.DataFrame | Numbered) -> Balance:
    """Look for instances on which an arm has fewer runs than another arm; seeds of other names are no missing ones."""
    numbered = runs if isinstance(runs, Numbered) else Numbered(runs)
    table = numbered.table.select(CELL)
    if every_arm_has_every_cell(numbered):
        return Balance(table.clear())
    # A ladder may have other seeds than the arms beside it: its steps are compared with each other.
    ladder = {arm: name for name, steps in find_ladders(numbered.table).items() for arm in steps}
    table = table.with_columns(ladder=pl.col("arm").replace_strict(ladder, default="", return_dtype=pl.String))
    unit = ["ladder", "panel", "instance"]
    sizes = table.group_by("arm", *unit).len()
    fewer = sizes.filter(pl.col("len") < pl.col("len").max().over(unit)).select("arm", *unit)
    seeds = table.select(*unit, "seed").unique()
    return Balance(fewer.join(seeds, on=unit).select(CELL).join(table, on=CELL, how="anti").sort(CELL))
