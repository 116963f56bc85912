"""Completeness of the cells: which runs are missing, so that no mean is silently over what happens to be there."""

from dataclasses import dataclass

import polars as pl

from gapline.capture.planned import every_arm_has_every_cell, expected_cells
from gapline.errors import listing
from gapline.model.numbered import Numbered
from gapline.model.tables import CELL


@dataclass(frozen=True, slots=True)
class Balance:
    """Whether every arm ran the same seeds on the same instances, and the cells that one lacks and another has."""

    complete: bool
    missing: pl.DataFrame

    def notes(self) -> list[str]:
        """Return what a reader of the means has to know, empty when all cells are there."""
        if self.complete:
            return []
        per_arm = self.missing.group_by("arm").len().sort("arm")
        shown = listing(f"{arm} lacks {count:,} cells" for arm, count in per_arm.iter_rows())
        first = listing(
            (f"{a}/{i}/{s}" for a, _, i, s in self.missing.select("arm", "panel", "instance", "seed").iter_rows()),
            most=3,
        )
        return [f"unbalanced: {shown} that other arms have ({first}); each mean is over what its arm has"]


def check_balance(runs: pl.DataFrame | Numbered) -> Balance:
    """Compare the cells of every arm with the union of all arms' cells."""
    numbered = runs if isinstance(runs, Numbered) else Numbered(runs)
    table = numbered.table.select(CELL)
    if every_arm_has_every_cell(numbered):
        return Balance(complete=True, missing=table.clear())
    missing = expected_cells(table).join(table, on=CELL, how="anti").sort(CELL)
    return Balance(complete=missing.height == 0, missing=missing)
