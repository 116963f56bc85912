"""Metric sensitivity: what another kernel would have said of the same runs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gapline.analysis.orderings import Reversal, find_reversals, panel_signs
from gapline.analysis.readings import Readings
from gapline.model.document import as_document
from gapline.model.tables import METRIC_POOLED, METRIC_RATIOS, METRIC_SATURATED, METRIC_SIGNS
from gapline.reference.beaten import is_beaten
from gapline.scoring.kernels import KernelCode
from gapline.summary.cells import finite_or_none


@dataclass(frozen=True, slots=True, eq=False)
class MetricSensitivity:
    """Every run rescored under every kernel and reference; the columns stand in `model/tables.py`.

    `saturated` counts runs of which no candidate was accepted under a threshold, `signs` the runs by the sign of their
    score (within the tolerance is zero). A ratio of pooled means is null unless both are positive. `pairs` counts pairs
    of tier-1 arms × panels that are not tied under the default kernel and the first reference; reversals are against
    that kernel under the same reference, and against that reference under the same kernel.
    """

    pooled: pl.DataFrame
    saturated: pl.DataFrame
    signs: pl.DataFrame
    ratios: pl.DataFrame
    pairs: int
    reversals: tuple[Reversal, ...]
    weight: str
    weighting: str

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        negative = self.signs.select("kernel", "reference", runs=pl.col("negative"))
        return as_document(self) | {"negative": negative.to_dicts()}


def metric_sensitivity(readings: Readings, /) -> MetricSensitivity:
    """Compare what the kernels say.

    Empty runs stay in: they hold the kernel's value before the first incumbent. Berthold's gap under a beaten reference
    is shown, marked `out_of_envelope` and given no rank.
    """
    pooled, saturated, signs, ratios = [], [], [], []
    cells = readings.cells
    best = readings.envelopes.runs["best"].fill_null(np.inf).to_numpy()
    for r, reference in enumerate(readings.names):
        for k, kernel in enumerate(readings.kernels):
            means = readings.pooled(r, k)
            outside = np.any(readings.outside(r, k), axis=1)
            ranks = readings.ranks(r, k)
            for row, arm in enumerate(cells.arms):
                tier = 1 if arm in readings.tier_one else 2
                mean, beaten = finite_or_none(means[row]), bool(outside[row])
                pooled.append((arm, tier, kernel.name, reference, mean, ranks.get(row), beaten))
            # Only a threshold can saturate: no candidate of the run came below it.
            if kernel.code is KernelCode.DIMACS:
                accepted = is_beaten(best, kernel.parameter * readings.references[r], readings.tolerance)
                saturated.append((kernel.name, reference, int(np.count_nonzero(~accepted))))
            values, zero = readings.scores[r][:, k], readings.tolerance
            tests = (values < -zero, np.abs(values) <= zero, values > zero)
            signs.append((kernel.name, reference, *(int(np.count_nonzero(test)) for test in tests)))
            for one, other in readings.pairs:
                a, b = means[one], means[other]
                # A ratio with a score of zero or below says nothing of "how many times better".
                ratio = float(b / a) if a > 0 and b > 0 and np.isfinite(b / a) else None
                ratios.append((cells.arms[one], cells.arms[other], kernel.name, reference, ratio))
    return MetricSensitivity(
        pooled=pl.DataFrame(pooled, schema=METRIC_POOLED, orient="row"),
        saturated=pl.DataFrame(saturated, schema=METRIC_SATURATED, orient="row"),
        signs=pl.DataFrame(signs, schema=METRIC_SIGNS, orient="row"),
        ratios=pl.DataFrame(ratios, schema=METRIC_RATIOS, orient="row"),
        pairs=int(np.count_nonzero(panel_signs(readings, 0, 0))),
        reversals=tuple(_reversals(readings)),
        weight=readings.weight,
        weighting=readings.weighting,
    )


def _reversals(readings: Readings) -> list[Reversal]:
    found = []
    for r in range(len(readings.names)):
        for k in range(1, len(readings.kernels)):
            found += find_reversals(readings, (r, 0), (r, k))
    for r in range(1, len(readings.names)):
        for k in range(len(readings.kernels)):
            found += find_reversals(readings, (0, k), (r, k))
    return found
