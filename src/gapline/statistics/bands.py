"""Confidence bands of mean curves, pointwise and simultaneous, from the curves of single instances."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl

from gapline.contract.argument_checks import expect
from gapline.contract.reading import TOLERANCE
from gapline.envelope.build import Envelopes
from gapline.files.scratch_arrays import piece_size
from gapline.native.arrays import Floats, Integers
from gapline.references.choice import References, as_snapshot
from gapline.scoring.curve import CurveSum, common_horizon, cumulate_arrays, curve_sum, evaluate_steps, group_rows
from gapline.scoring.endpoints import hitting_times
from gapline.scoring.kernels import Kernel, kernel_range, parse_kernel
from gapline.scoring.moments import log_start, moments_of_both
from gapline.scoring.run_references import reference_column
from gapline.scoring.weighting import Weighting, parse_weighting, run_weights
from gapline.statistics.cells import single_instance_panels
from gapline.statistics.estimate import DEFAULT_METHOD, Method, parse_method
from gapline.statistics.intervals import check_level, draw_counts, joint_level
from gapline.statistics.student import panel_centred, stratified_moments, student_interval


def curves_of_groups(total: CurveSum, run_ends: Integers, step_ends: Integers, moments: Floats) -> Floats:
    """Return, groups × moments, the mean of each group of runs, equal to the bit to the group's own curve.

    `run_ends` and `step_ends` are the ends of each group among the runs and steps; groups are consecutive.

    >>> total = CurveSum(1.0, np.ones(2), np.array([1.0, 3.0]), np.array([-0.5, -0.25]), 4.0)
    >>> curves_of_groups(total, np.array([1, 2]), np.array([1, 2]), np.array([0.0, 2.0, 4.0])).tolist()
    [[1.0, 0.5, 0.5], [1.0, 1.0, 0.75]]
    """
    out = np.empty((len(run_ends), len(moments)))
    runs, steps = (pairwise([0, *ends.tolist()]) for ends in (run_ends, step_ends))
    for group, (run, step) in enumerate(zip(runs, steps, strict=True)):
        time, delta, weights = total.time[slice(*step)], total.delta[slice(*step)], total.weights[slice(*run)]
        if len(time) > piece_size():
            alone = replace(total, weights=weights, time=time, delta=delta)
            out[group] = evaluate_steps(*alone.curve(), moments)
            continue
        # Not compiled: there are many groups, and they are short.
        order, weight = np.argsort(time, kind="stable"), math.fsum(weights)
        times, values = np.empty((2, len(order) + 1))
        size = cumulate_arrays(time[order], delta[order], total.before * weight, times, values)
        out[group] = evaluate_steps(times[:size], values[:size], moments) / weight
    return out


# Rounding leaves up to this much spread among equal instances.
_ROUNDING = 1e-12


def curve_bands(
    envelopes: Envelopes,
    snapshot: References,
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
    method: str | Method = DEFAULT_METHOD,
    simultaneous: bool = False,
) -> pl.DataFrame:
    """Return a band of the mean curve, or of the attainment curve of `goal`, at up to `points` moments.

    Half of these are equidistant, half have equal ratios from the first step on, where curves fall: the band follows
    its curve on a linear and on a logarithmic axis.

    Columns: the groups, time, value (the exact curve there), low, high, and with `simultaneous` also joint_low and
    joint_high. The band shows what other instances of the same panels might have given: the pointwise one at each time
    separately, the joint one at all times together. It uses Student's t over instances (guarded against skewness unless
    the method is `t`), or the percentile bootstrap if that is the method. If a panel has one instance, or all instances
    of each panel have the same curve, there is no spread to estimate: the ends are null.
    """
    expect(envelopes, Envelopes, "curve_bands")
    snapshot = as_snapshot(snapshot)
    check_level(level)
    chosen = band_method(method)
    groups = [by] if isinstance(by, str) else list(by)
    rule = parse_weighting(weighting)
    references = reference_column(snapshot, envelopes)
    frames = []
    # From all runs, so that groups with one horizon have the same moments.
    start = log_start(envelopes, relative=relative)
    for key, rows in group_rows(envelopes.runs, groups):
        part, part_references = envelopes.select(rows.tolist()), references[rows]
        # Several horizons are refused: beyond the shortest one, a mean over all runs would be a guess.
        grid = moments_of_both(start, common_horizon(part.runs, relative=relative), points)
        curves, shares, strata = _instance_curves(
            part, part_references, grid, parse_kernel(kernel, tolerance=tolerance), goal, relative, rule
        )
        # A band cannot extend beyond the range of a gap or a share.
        least, most = (0.0, 1.0) if goal is not None else kernel_range(parse_kernel(kernel).name)
        pull = None if single_instance_panels(strata).size else _pull(curves, shares, strata, rule)
        if pull is not None and np.abs(pull).max() <= _ROUNDING:
            pull = None
        levels = {"": level}
        if simultaneous:
            levels["joint_"] = level if pull is None else joint_level(pull, strata, level=level, seed=seed)
        columns = {"time": grid, "value": shares @ curves}
        for prefix, each in levels.items():
            ends = np.clip(_band(curves, shares, strata, pull, chosen, each, draws, seed), least, most)
            columns |= {f"{prefix}low": ends[0], f"{prefix}high": ends[1]}
        blank = [pl.col(name).fill_nan(None) for name in columns if name not in ("time", "value")]
        frames.append(
            pl.DataFrame(columns)
            .with_columns(*blank, *(pl.lit(cell).alias(name) for name, cell in zip(groups, key, strict=True)))
            .select(*groups, *columns)
        )
    return pl.concat(frames)


def drawn_bands(bands: pl.DataFrame) -> pl.DataFrame | None:
    """Return the bands that exist, None if every group has a panel with one instance."""
    kept = bands.drop_nulls("low")
    return kept if kept.height else None


def band_method(method: str | Method) -> Method:
    """Return the method that draws a band if this one was requested."""
    chosen = parse_method(method)
    return chosen if chosen in (Method.T, Method.PERCENTILE) else DEFAULT_METHOD


def _band(
    curves: Floats,
    shares: Floats,
    strata: Integers,
    pull: Floats | None,
    method: Method,
    level: float,
    draws: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Return the two ends at every time; NaN without a pull."""
    if pull is None:
        nothing = np.full(curves.shape[1], np.nan)
        return nothing, nothing
    if method is Method.PERCENTILE:
        # Shares of the drawn instances need not sum to one, so each draw is divided by its own sum.
        weights = draw_counts(strata, draws=draws, seed=seed) * shares
        replicates = (weights @ curves) / weights.sum(axis=1, keepdims=True)
        low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high
    return student_interval(
        shares @ curves, stratified_moments(pull, strata), level=level, guarded=method is not Method.T
    )


def _pull(curves: Floats, shares: Floats, strata: Integers, rule: Weighting) -> Floats:
    """Return, instances × times, how far each instance pulls the mean curve from that of its panel."""
    # A mean of runs is a ratio, so an instance is centred on the mean curve first.
    centred = curves - shares @ curves if rule is Weighting.RUN else panel_centred(curves, strata)
    return panel_centred(shares[:, None] * centred, strata)


def _instance_curves(
    envelopes: Envelopes,
    references: Floats,
    grid: Floats,
    kernel: Kernel,
    goal: float | None,
    relative: bool,
    weighting: Weighting,
) -> tuple[Floats, Floats, Integers]:
    """Return the mean curve of each instance on the grid, its share of the mean, and the number of its panel."""
    runs = envelopes.runs
    weights = run_weights(runs, by=[], weighting=weighting)
    panels = {name: number for number, name in enumerate(sorted(runs["panel"].unique()))}
    groups = group_rows(runs, ["panel", "instance"])
    # All runs in one pass, those of an instance next to each other; each instance then takes its part of the result.
    placed = np.concatenate([rows for _, rows in groups]) if groups else np.empty(0, np.int64)
    part = envelopes.select(placed.tolist())
    sizes = np.array([len(rows) for _, rows in groups], np.int64)
    run_ends = np.cumsum(sizes)
    if goal is None:
        total = curve_sum(part, references[placed], np.repeat(1.0 / sizes, sizes), kernel=kernel, relative=relative)
        steps = np.concatenate(([0], np.cumsum(part.runs["count"].to_numpy())))
        curves = curves_of_groups(total, run_ends, steps[run_ends], grid)
    else:
        hits = hitting_times(part, references[placed], [goal], kernel.tolerance)[:, 0]
        hits = hits / part.runs["horizon"].to_numpy() if relative else hits
        curves = _shares_by(hits, sizes, grid)
    strata = np.array([panels[str(panel)] for (panel, _), _ in groups], np.int64)
    return curves, _sums(weights[placed], sizes), strata


def _shares_by(hits: Floats, sizes: Integers, grid: Floats) -> Floats:
    """Return, instances × times, the share of an instance's runs that have attained the goal; runs are in order."""
    wide = len(grid) + 1
    place = np.repeat(np.arange(len(sizes)), sizes) * wide + np.searchsorted(grid, hits, side="left")
    there = np.cumsum(np.bincount(place, minlength=len(sizes) * wide).reshape(-1, wide)[:, :-1], axis=1)
    return np.asarray(there / sizes[:, None])


def _sums(values: Floats, sizes: Integers) -> Floats:
    """Return the sums of consecutive groups of values; groups of equal size are summed together."""
    first, out = np.cumsum(sizes) - sizes, np.empty(len(sizes))
    for size in np.unique(sizes):
        alike = sizes == size
        out[alike] = values[first[alike, None] + np.arange(size)].sum(axis=1)
    return out
