"""Profiles, PAR-k, geometric means and the primal-dual integral, by hand."""

import math

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.analysis.neighbours.par import par, shifted_geometric_mean
from gapline.analysis.neighbours.primal_dual import primal_dual_integral
from gapline.analysis.neighbours.profiles import data_profile, performance_profile
from gapline.capture.assemble import RunTrace, campaign_from_traces
from gapline.errors import TraceError, UsageError

SNAPSHOT = gl.Snapshot.from_values(dict.fromkeys("ijk", 10.0), name="mine")


def envelopes_of(times):
    """Hitting times {(arm, instance): [time or None per seed]} of runs with horizon 10."""
    runs = [
        {"arm": arm, "instance": i, "seed": s, "horizon": 10, "trace": [] if t is None else [(t, 10.0)]}
        for (arm, i), row in times.items()
        for s, t in enumerate(row)
    ]
    return gl.build_envelopes(gl.Campaign.from_runs(runs))


def test_profiles_by_hand():
    envelopes = envelopes_of(
        {("a", "i"): [1], ("a", "j"): [4], ("a", "k"): [None], ("b", "i"): [2], ("b", "j"): [2], ("b", "k"): [None]}
    )
    performance = performance_profile(envelopes, SNAPSHOT).frame
    assert performance.filter(pl.col("arm") == "a").select("x", "value").rows() == [(1.0, 1 / 3), (2.0, 2 / 3)]
    assert performance.filter(pl.col("arm") == "b").select("x", "value").rows() == [(1.0, 1 / 3), (2.0, 2 / 3)]
    data = data_profile(envelopes, SNAPSHOT, unit=2.0).frame
    assert data.filter(pl.col("arm") == "a").select("x", "value").rows() == [(0.0, 0.0), (0.5, 1 / 3), (2.0, 2 / 3)]


def test_a_best_time_of_zero_leaves_no_finite_ratio_to_others():
    envelopes = envelopes_of({("a", "i"): [0], ("b", "i"): [3]})
    frame = performance_profile(envelopes, SNAPSHOT).frame
    assert frame.rows() == [("a", 1.0, 1.0), ("b", 1.0, 0.0)]


def test_the_time_of_an_instance_counts_its_failed_seeds():
    envelopes = envelopes_of({("a", "i"): [2, None]})
    assert data_profile(envelopes, SNAPSHOT).frame.rows() == [("a", 0.0, 0.0), ("a", 12.0, 1.0)]


def test_par_and_geometric_mean_by_hand():
    envelopes = envelopes_of({("a", "i"): [2, None], ("a", "j"): [5, 5]})
    frame = par(envelopes, SNAPSHOT, factor=10).frame
    assert frame.row(0) == ("a", 0.01, 4, 1, pytest.approx((51 + 5) / 2))
    mean = shifted_geometric_mean(envelopes, SNAPSHOT, shift=1.0).frame["mean"][0]
    assert mean == pytest.approx(math.exp((math.log(3) + math.log(11) + 2 * math.log(6)) / 4) - 1)
    with pytest.raises(UsageError, match="factor"):
        par(envelopes, SNAPSHOT, factor=0.5)
    with pytest.raises(UsageError, match="shift"):
        shifted_geometric_mean(envelopes, SNAPSHOT, shift=0.0)


def dual_campaign(time, objective, bound, verdict=None):
    trace = RunTrace("a", "i", 1, time, objective, bound=bound, verdict=verdict, horizon=10.0)
    campaign = campaign_from_traces([trace])
    return campaign, gl.build_envelopes(campaign)


def test_primal_dual_integral_by_hand():
    """Nothing until 2; 20 against 10 from 2 (gap 0.5); 16 against 12 from 6 (0.25); the bound of 11 falls back."""
    campaign, envelopes = dual_campaign([2.0, 4.0, 6.0], [20.0, 19.99, 16.0], [10.0, np.nan, 12.0])
    found = primal_dual_integral(campaign, envelopes)
    want = (2 * 1 + 2 * 0.5 + 2 * (19.99 - 10) / 19.99 + 4 * 0.25) / 10
    assert found.runs[0] == pytest.approx(want, abs=1e-12)
    assert found.frame.select("runs", "bounded", "crossed").row(0) == (1, 1, 0)


def test_bound_only_events_and_falling_bounds():
    campaign, envelopes = dual_campaign([1.0, 5.0, 7.0], [20.0, np.nan, np.nan], [np.nan, 10.0, 8.0], verdict=[1, 3, 3])
    assert primal_dual_integral(campaign, envelopes).runs[0] == pytest.approx((5 * 1 + 5 * 0.5) / 10)


def test_a_bound_beyond_the_incumbent_is_counted_as_crossed():
    campaign, envelopes = dual_campaign([0.0], [20.0], [25.0])
    found = primal_dual_integral(campaign, envelopes)
    assert (found.runs[0], found.frame["crossed"][0]) == (0.0, 1)


def test_no_bounds_is_an_error_that_says_so():
    campaign = gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 2.0)]}])
    with pytest.raises(TraceError, match="captured `bound` column"):
        primal_dual_integral(campaign, gl.build_envelopes(campaign))
