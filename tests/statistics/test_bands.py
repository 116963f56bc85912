"""Bands: instances are drawn, seeds stay attached, panels are strata; the same numbers on every machine."""

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.errors import HorizonError, UsageError
from gapline.scoring.curve import evaluate_steps
from gapline.statistics.bands import drawn_bands


def prepared(instances=4, *, spread=True):
    runs = [
        {"arm": "a", "instance": f"i{k}", "panel": f"p{k % 2}", "seed": s, "horizon": 10,
         "trace": [(s, 20.0 + 5 * k * spread), (5, 12.0)]}
        for k in range(instances) for s in (1, 2)
    ]  # fmt: skip
    snapshot = gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(instances)}, name="mine")
    return gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot


@pytest.mark.parametrize("weighting", ["panel", "instance", "run"])
def test_the_band_holds_the_exact_curve(weighting):
    envelopes, snapshot = prepared()
    band = gl.curve_bands(envelopes, snapshot, points=41, draws=200, weighting=weighting)
    curve = gl.mean_curve(envelopes, snapshot, weighting=weighting).frame
    exact = evaluate_steps(curve["time"].to_numpy(), curve["value"].to_numpy(), band["time"].to_numpy())
    assert np.allclose(band["value"], exact, rtol=0, atol=1e-13)
    assert (band["low"] <= band["value"] + 1e-13).all()
    assert (band["value"] <= band["high"] + 1e-13).all()
    assert band["high"].to_numpy()[10] > band["low"].to_numpy()[10]
    assert band.equals(gl.curve_bands(envelopes, snapshot, points=41, draws=200, weighting=weighting))


@pytest.mark.parametrize("method", ["skew-t", "percentile"])
def test_instances_that_are_alike_leave_no_band(method):
    band = gl.curve_bands(*prepared(spread=False), points=11, draws=50, method=method, simultaneous=True)
    assert [band[name].null_count() for name in ("low", "high", "joint_low", "joint_high")] == [11] * 4
    assert drawn_bands(band) is None


def test_band_of_an_attainment_curve():
    envelopes, snapshot = prepared()
    band = gl.curve_bands(envelopes, snapshot, goal=0.2, points=11, draws=50)
    assert band["value"].to_list() == [float(time >= 5) for time in band["time"]]
    assert 0 < band["value"].sum() < band.height


def test_a_band_is_fine_where_curves_fall():
    """All that happens lies in the first hundredth of the time: a tenth of the moments lies there at least."""
    runs = [
        {"arm": "a", "instance": f"i{k}", "seed": 1, "horizon": 1000, "trace": [(0.5 + k, 20.0), (3 + k, 12.0)]}
        for k in range(4)
    ]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    band = gl.curve_bands(envelopes, gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(4)}, name="mine"))
    assert (band["time"] < 10).sum() >= band.height / 10
    assert band.height <= 200


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 95.0])
def test_a_level_is_a_share(level):
    with pytest.raises(UsageError, match="level: expected a share"):
        gl.curve_bands(*prepared(), level=level)


@pytest.mark.parametrize("goal", [None, 0.2])
def test_no_band_is_drawn_past_a_shorter_horizon(goal):
    runs = [{"arm": "a", "instance": f"i{h}", "seed": 1, "horizon": h, "trace": [(h / 2, 11.0)]} for h in (10, 40)]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values({"i10": 10.0, "i40": 10.0}, name="mine")
    with pytest.raises(HorizonError, match="expected one horizon, got 10, 40"):
        gl.curve_bands(envelopes, snapshot, goal=goal)
    assert gl.curve_bands(envelopes, snapshot, goal=goal, relative=True)["time"].max() == 1.0
    assert gl.curve_bands(envelopes, snapshot, goal=goal, by="instance")["time"].max() == 40.0


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("goal", [None, 0.2])
def test_an_instance_moves_the_mean_by_its_own_curve(goal, relative):
    """Instances with 1, 2 and 3 runs: the mean is that of the three curves, each of them made alone."""
    runs = [
        {"arm": "a", "instance": f"i{k}", "seed": s, "horizon": 10, "trace": [(s, 20.0 + k), (4 + k + s, 11.0 + k)]}
        for k in range(3) for s in range(k + 1)
    ]  # fmt: skip
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(3)}, name="mine")
    asked = {"goal": goal, "relative": relative, "points": 21}
    whole = gl.curve_bands(envelopes, snapshot, weighting="instance", **asked)
    alone = gl.curve_bands(envelopes, snapshot, by="instance", **asked)
    means = alone.group_by("time", maintain_order=True).agg(alone_mean=pl.col("value").mean())["alone_mean"]
    assert np.allclose(whole["value"], means, rtol=0, atol=1e-15)
    by_run = gl.curve_bands(envelopes, snapshot, weighting="run", **asked)["value"]
    sizes = alone.with_columns(runs=pl.col("instance").str.slice(1).cast(pl.Float64) + 1)
    shares = sizes.group_by("time", maintain_order=True).agg(mean=(pl.col("value") * pl.col("runs")).sum() / 6)["mean"]
    assert np.allclose(by_run, shares, rtol=0, atol=1e-15)
