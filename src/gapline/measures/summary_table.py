"""The classical measures next to each other, one row per arm, all from the same envelopes."""

from typing import Any

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.contract.reading import TOLERANCE
from gapline.envelope.build import Envelopes
from gapline.measures.areas import (
    area_over_curve,
    confined_primal_integral,
    dual_integral,
    primal_dual_integral,
    time_quality_hypervolume,
)
from gapline.measures.attainment_surface import LEVELS, final_attainment
from gapline.measures.running_times import (
    data_profile,
    expected_running_time,
    penalised_mean,
    performance_profile,
    target_ecdf,
)
from gapline.native.arrays import Floats
from gapline.references.snapshot import Snapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.weighting import run_weights

# The decay of the confined integral, as a share of the shortest horizon.
ALPHA = 0.1


def neighbours(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    goal: float = 0.01,
    factor: float = 10.0,
    shift: float = 10.0,
    weighting: str = "panel",
    campaign: Campaign | None = None,
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Tabulate every classical measure per arm.

    Columns: arm, goal, success_rate, ert, par10 (or another `factor`), geometric_mean (of times + `shift`),
    target_ecdf (share of the goal grid attained at the end), fastest (performance profile at 1), solved (data profile
    at the end), final_q25, final_q50, final_q75 (raw gap that this share of the runs ended at or below), confined,
    area_over_curve, hypervolume, and primal_dual and dual if the campaign has dual bounds. The docstring of each
    measure says how it treats missing incumbents and beaten references. On a scale of any sign, measures of the raw gap
    are left out.
    """
    alpha = ALPHA * float(envelopes.runs["horizon"].to_numpy().min())
    times = expected_running_time(envelopes, snapshot, goals=[goal], tolerance=tolerance)
    table = times.select("arm", "goal", "success_rate", "ert")
    missed: dict[str, Any] = {"goals": [goal], "weighting": weighting, "tolerance": tolerance}
    penalised = penalised_mean(envelopes, snapshot, factor=factor, **missed)
    shifted = penalised_mean(envelopes, snapshot, factor=1.0, shift=shift, **missed)
    signed = envelopes.scale.signed
    kernel = "berthold" if signed else "maxform"
    per_run = {"confined": confined_primal_integral(envelopes, snapshot, alpha=alpha, kernel=kernel)}
    if not signed:
        per_run["area_over_curve"] = area_over_curve(envelopes, snapshot)
        per_run["hypervolume"] = time_quality_hypervolume(envelopes, snapshot)
    if campaign is not None and campaign.bound is not None and not envelopes.scale.hierarchical:
        per_run["primal_dual"] = primal_dual_integral(campaign, envelopes, tolerance=tolerance).values
        per_run["dual"] = dual_integral(campaign, envelopes, snapshot, tolerance=tolerance).values
    curve = target_ecdf(envelopes, snapshot, weighting=weighting, tolerance=tolerance)
    columns = [
        penalised.select("arm", pl.col("mean").alias(f"par{factor:g}")),
        shifted.select("arm", geometric_mean="mean"),
        curve.group_by("arm").agg(target_ecdf=pl.col("value").last()),
        _at(performance_profile(envelopes, snapshot, goal=goal, tolerance=tolerance).frame, 1.0, "fastest"),
        _at(data_profile(envelopes, snapshot, goal=goal, tolerance=tolerance).frame, np.inf, "solved"),
        *([] if signed else [_final_quantiles(envelopes, snapshot)]),
        *(arm_means(envelopes.runs, values, name, weighting) for name, values in per_run.items()),
    ]
    for column in columns:
        table = table.join(column, on="arm", how="left", maintain_order="left")
    return table


def _final_quantiles(envelopes: Envelopes, snapshot: Snapshot) -> pl.DataFrame:
    """Return, per arm, the raw gap at or below which each share of its runs ended."""
    rows = [(arm, *ends) for arm, ends in final_attainment(envelopes, snapshot).items()]
    names = {f"final_q{100 * level:g}": pl.Float64 for level in LEVELS}
    return pl.DataFrame(rows, schema={"arm": pl.String, **names}, orient="row")


def _at(profile: pl.DataFrame, x: float, name: str) -> pl.DataFrame:
    return profile.filter(pl.col("x") <= x).group_by("arm").agg(pl.col("value").last().alias(name))


def arm_means(runs: pl.DataFrame, values: Floats, name: str, weighting: str = "panel") -> pl.DataFrame:
    """Return, per arm, the mean of a value that every run has."""
    weights = run_weights(runs, by=["arm"], weighting=weighting)
    rows = [(arm, float(values[chosen] @ weights[chosen])) for (arm,), chosen in group_rows(runs, ["arm"])]
    return pl.DataFrame(rows, schema={"arm": pl.String, name: pl.Float64}, orient="row")
