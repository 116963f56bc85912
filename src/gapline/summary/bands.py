"""Pointwise bootstrap bands of mean curves: instances are drawn, their seeds stay attached, panels are strata."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.model.reading import TOLERANCE
from gapline.reference.snapshot import Snapshot
from gapline.scoring.curve import common_horizon, curve_sum, evaluate_steps, group_rows
from gapline.scoring.endpoints import hitting_times
from gapline.scoring.kernels import Kernel, parse_kernel
from gapline.scoring.reading import reference_column
from gapline.scoring.weighting import Weighting, parse_weighting, run_weights
from gapline.summary.draws import draw_counts
from gapline.summary.intervals import check_level

Floats = NDArray[np.float64]


def curve_bands(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    kernel: str | Kernel = "squeezed",
    goal: float | None = None,
    by: str | Sequence[str] = "arm",
    weighting: str | Weighting = "panel",
    relative: bool = False,
    points: int = 200,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 1,
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Return a pointwise band of the mean curve, or of the attainment curve of `goal`, on a grid of times.

    Columns: the groups, time, value (the exact curve there), low, high. The band says what other instances of the same
    panels might have given; it is pointwise, not simultaneous.
    """
    check_level(level)
    groups = [by] if isinstance(by, str) else list(by)
    rule = parse_weighting(weighting)
    references = reference_column(snapshot, envelopes)
    frames = []
    for key, rows in group_rows(envelopes.runs, groups):
        part, part_references = envelopes.select(rows.tolist()), references[rows]
        # Past the shortest of several horizons a mean over all runs would be a guess, so that is refused.
        grid = np.linspace(0.0, common_horizon(part.runs, relative=relative), points)
        curves, shares, strata = _instance_curves(
            part, part_references, grid, parse_kernel(kernel, tolerance=tolerance), goal, relative, rule
        )
        counts = draw_counts(strata, draws=draws, seed=seed)
        # Shares of the drawn instances need not sum to one, so each draw is divided by its own sum.
        weights = counts * shares
        replicates = (weights @ curves) / weights.sum(axis=1, keepdims=True)
        low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)
        frames.append(
            pl.DataFrame({"time": grid, "value": shares @ curves, "low": low, "high": high})
            .with_columns(pl.lit(cell).alias(name) for name, cell in zip(groups, key, strict=True))
            .select(*groups, "time", "value", "low", "high")
        )
    return pl.concat(frames)


def _instance_curves(
    envelopes: Envelopes,
    references: Floats,
    grid: Floats,
    kernel: Kernel,
    goal: float | None,
    relative: bool,
    weighting: Weighting,
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the mean curve of each instance on the grid, its share of the mean, and the number of its panel."""
    runs = envelopes.runs
    weights = run_weights(runs, by=[], weighting=weighting)
    panels = {name: number for number, name in enumerate(sorted(runs["panel"].unique()))}
    curves, shares, strata = [], [], []
    for key, rows in group_rows(runs, ["panel", "instance"]):
        part = envelopes.select(rows.tolist())
        if goal is None:
            equal = np.full(len(rows), 1.0 / len(rows))
            time, value = curve_sum(part, references[rows], equal, kernel=kernel, relative=relative).curve()
            curves.append(evaluate_steps(time, value, grid))
        else:
            hits = hitting_times(part, references[rows], [goal], kernel.tolerance)[:, 0]
            hits = hits / part.runs["horizon"].to_numpy() if relative else hits
            curves.append(np.searchsorted(np.sort(hits), grid, side="right") / len(rows))
        shares.append(weights[rows].sum())
        strata.append(panels[str(key[0])])
    return np.array(curves), np.array(shares), np.array(strata, np.int64)
