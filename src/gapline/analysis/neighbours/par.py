"""Penalised average running time (PAR-k) and the shifted geometric mean of times to a goal."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.analysis.neighbours.ert import hits_and_horizons
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.model.reading import TOLERANCE
from gapline.model.tables import PENALISED_TIMES
from gapline.reference.snapshot import Snapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.weighting import run_weights

Floats = NDArray[np.float64]


def par(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    goals: Sequence[float] = (0.01,),
    factor: float = 10.0,
    weighting: str = "panel",
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Return PAR-k: the mean time to a goal, a run that misses it counted as `factor` times its horizon.

    Missing incumbents: an empty run is a miss like any other, so it costs the penalty, which is a choice of the analyst
    and often decides the ranking. Beaten references: the goal is attained when it is passed; what follows is not seen.
    Unbalanced cells: the mean is over what each arm ran.

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": t}
    ...         for s, t in ((1, [(2, 10.0)]), (2, []))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> par(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"))["par"].to_list()
    [51.0]
    """
    if not (math.isfinite(factor) and factor >= 1):
        raise UsageError(f"factor: expected 1 or more, got {factor}")
    return _means(envelopes, snapshot, goals, tolerance, weighting, factor=factor, shift=None, name="par")


def shifted_geometric_mean(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    goals: Sequence[float] = (0.01,),
    shift: float = 10.0,
    factor: float = 1.0,
    weighting: str = "panel",
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Return exp(mean ln(t + shift)) - shift of the times to a goal; that of scores is in `arm_averages`.

    Missing incumbents: a run that misses the goal counts with `factor` times its horizon (the time limit by default),
    which understates it. Beaten references and unbalanced cells as in `par`.
    """
    if not (math.isfinite(shift) and shift > 0 and math.isfinite(factor) and factor >= 1):
        raise UsageError(
            f"shift and factor: expected a positive shift and a factor of 1 or more, got {shift}, {factor}"
        )
    return _means(envelopes, snapshot, goals, tolerance, weighting, factor=factor, shift=shift, name="mean")


def _means(
    envelopes: Envelopes,
    snapshot: Snapshot,
    goals: Sequence[float],
    tolerance: float,
    weighting: str,
    *,
    factor: float,
    shift: float | None,
    name: str,
) -> pl.DataFrame:
    hits, horizons = hits_and_horizons(envelopes, snapshot, goals, tolerance)
    missed = ~np.isfinite(hits)
    times = np.where(missed, factor * horizons[:, None], hits)
    weights = run_weights(envelopes.runs, by=["arm"], weighting=weighting)
    rows = []
    for (arm,), chosen in group_rows(envelopes.runs, ["arm"]):
        for column, goal in enumerate(goals):
            t, w = times[chosen, column], weights[chosen]
            mean = float(t @ w) if shift is None else math.exp(float(np.log(t + shift) @ w)) - shift
            rows.append((arm, float(goal), len(chosen), int(missed[chosen, column].sum()), mean))
    return pl.DataFrame(rows, schema=PENALISED_TIMES | {name: pl.Float64()}, orient="row")
