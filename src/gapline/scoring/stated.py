"""Integrals that a source printed of itself, computed again: a free check of what was imported."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from gapline.envelope.build import Envelopes
from gapline.model.names import parse_weight
from gapline.model.tables import RUN_KEY, RunKey
from gapline.reference.snapshot import Snapshot
from gapline.scoring.integral import integrate_envelopes
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.reading import reference_column


@dataclass(frozen=True, slots=True)
class StatedCheck:
    """How many printed integrals were computed again, and the run where both differ most."""

    checked: int
    run: RunKey
    kernel: str
    stated: float
    recomputed: float

    @property
    def largest(self) -> float:
        """The largest absolute difference, on the scale of the gap."""
        return abs(self.stated - self.recomputed)


def check_stated_integrals(
    envelopes: Envelopes, snapshot: Snapshot, stated: Mapping[RunKey, tuple[str, float]]
) -> StatedCheck | None:
    """Compute every printed integral again and return the largest difference; None where there is nothing to compare.

    `stated` gives (kernel, value) per run, the value on gapline's scale (a DIMACS print divided by 100).
    """
    worst: StatedCheck | None = None
    checked = 0
    for kernel in sorted({name for name, _ in stated.values()}):
        known = [
            row
            for row, key in enumerate(envelopes.runs.select(RUN_KEY).iter_rows())
            if stated.get(RunKey(*key), ("", 0.0))[0] == kernel and key[1] in snapshot.values
        ]
        if not known:
            continue
        part = envelopes.select(known)
        references = reference_column(snapshot, part)
        scores = integrate_envelopes(part, references, kernels=[parse_kernel(kernel)], weight=parse_weight("uniform"))
        printed = np.array([stated[RunKey(*key)][1] for key in part.runs.select(RUN_KEY).iter_rows()])
        row = int(np.argmax(np.abs(scores[:, 0] - printed)))
        checked += len(known)
        key = RunKey(*part.runs.select(pl.col(RUN_KEY)).row(row))
        found = StatedCheck(0, key, kernel, float(printed[row]), float(scores[row, 0]))
        worst = found if worst is None or found.largest > worst.largest else worst
    return None if worst is None else replace(worst, checked=checked)
