"""Reference sensitivity: what another snapshot would have said of the same runs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gapline.analysis.orderings import Reversal, find_reversals
from gapline.analysis.readings import Readings
from gapline.model.document import as_document
from gapline.model.shown import Shown
from gapline.model.tables import REFERENCE_NEGATIVE, REFERENCE_SHIFT
from gapline.summary.cells import finite_or_none


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReferenceSensitivity(Shown):
    """The first snapshot against another one: pooled scores and runs below zero under both, and what reverses.

    Of the `instances` of the campaign, `changed` have references that differ by more than the tolerance.
    """

    before: str
    after: str
    changed: int
    instances: int
    shift: pl.DataFrame
    negative: pl.DataFrame
    reversals: tuple[Reversal, ...]
    weight: str
    weighting: str

    def to_polars(self) -> pl.DataFrame:
        """Return the pooled scores under both references."""
        return self.shift

    def caption(self) -> str:
        """Return what it is, in one line."""
        changed = f"{self.changed} of {self.instances} references changed"
        return f"{self.before} to {self.after}: {changed}, {len(self.reversals)} reversals"

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        found = as_document(self)
        return {"from": found.pop("before"), "to": found.pop("after"), **found}


def reference_sensitivity(readings: Readings, /) -> ReferenceSensitivity:
    """Compare what the first and the last snapshot say."""
    before, after = 0, len(readings.names) - 1
    cells = readings.cells
    one, other = readings.references[before], readings.references[after]
    # Against the larger of the two, so that the count is the same in both directions.
    differs = np.abs(one - other) > readings.tolerance * np.maximum(np.abs(one), np.abs(other))
    shift, negative, reversals = [], [], []
    for k, kernel in enumerate(readings.kernels):
        old, new = readings.pooled(before, k), readings.pooled(after, k)
        below = [
            np.bincount(cells.arm, weights=readings.scores[r][:, k] < -readings.tolerance, minlength=len(cells.arms))
            for r in (before, after)
        ]
        for row, arm in enumerate(cells.arms):
            values = (old[row], new[row], new[row] - old[row])
            shift.append((arm, kernel.name, *map(finite_or_none, values)))
            negative.append((arm, kernel.name, int(below[0][row]), int(below[1][row])))
        reversals += find_reversals(readings, (before, k), (after, k)) if before != after else []
    return ReferenceSensitivity(
        before=readings.names[before],
        after=readings.names[after],
        changed=len(np.unique(cells.unit[differs])),
        instances=len(cells.units),
        shift=pl.DataFrame(shift, schema=REFERENCE_SHIFT, orient="row"),
        negative=pl.DataFrame(negative, schema=REFERENCE_NEGATIVE, orient="row"),
        reversals=tuple(reversals),
        weight=readings.weight,
        weighting=readings.weighting,
    )
