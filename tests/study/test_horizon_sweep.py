"""Horizon sweep: the exact score at every horizon, and swaps that rescoring confirms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gapline as gl
import planted
from gapline.errors import UsageError
from gapline.study.horizon_sweep import horizon_sweep
from profiles import examples
from traces_of_runs import random_runs

SNAPSHOT = gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(3)}, name="mine")


def pooled(campaign, horizon, arm):
    scores = gl.score(gl.build_envelopes(campaign, horizon=horizon), SNAPSHOT)
    return dict(gl.summarise(scores).frame.select("arm", "squeezed").iter_rows())[arm]


@given(st.integers(0, 10_000), st.floats(0.01, 100.0))
@settings(max_examples=examples(40), deadline=None)
def test_the_curve_is_the_score_at_that_horizon(seed, horizon):
    campaign = gl.Campaign.from_runs(random_runs(seed=seed, instances=2, seeds=3))
    sweep = horizon_sweep(gl.build_envelopes(campaign), SNAPSHOT)
    for arm in ("a", "b"):
        assert float(sweep.curves[arm].at(horizon)) == pytest.approx(pooled(campaign, horizon, arm), abs=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=examples(40), deadline=None)
def test_arms_swap_where_it_says_and_nowhere_else(seed):
    campaign = gl.Campaign.from_runs(random_runs(seed=seed, instances=2, seeds=2))
    sweep = horizon_sweep(gl.build_envelopes(campaign), SNAPSHOT)
    swaps = sweep.swaps_of("a", "b")
    edges = [swap.horizon for swap in swaps]
    assert edges == sorted(edges)
    for swap in swaps:
        one, other = sweep.curves["a"].at(swap.horizon), sweep.curves["b"].at(swap.horizon)
        assert float(one) == pytest.approx(float(other), abs=1e-9)
    grid = np.linspace(0.05, 100.0, 4001)
    difference = sweep.curves["a"].at(grid) - sweep.curves["b"].at(grid)
    signs = np.sign(np.where(np.abs(difference) < 1e-9, 0, difference))
    signs = signs[signs != 0]
    assert np.count_nonzero(signs[1:] != signs[:-1]) <= len(swaps)
    for low, high, leader in zip(
        [0.0, *edges], [*edges, 100.0], [*(s.before for s in swaps), swaps[-1].after if swaps else None], strict=True
    ):
        inside = (grid > low) & (grid < high) & (np.abs(difference) > 1e-9)
        if leader is not None and inside.any():
            assert np.all((difference[inside] < 0) == (leader == "a"))


def test_horizons_that_differ_are_swept_on_relative_time():
    runs = [
        {
            "arm": arm,
            "instance": f"i{k}",
            "seed": 1,
            "horizon": 10.0 * (k + 1),
            "trace": [(share * 10.0 * (k + 1), 30.0)],
        }
        for arm, share in (("a", 0.25), ("b", 0.5))
        for k in range(3)
    ]
    sweep = horizon_sweep(gl.build_envelopes(gl.Campaign.from_runs(runs)), SNAPSHOT)
    assert sweep.relative
    assert float(sweep.curves["a"].at(0.5)) == pytest.approx(0.5 * 1 + 0.5 * 0.5)
    assert float(sweep.curves["b"].at(1.0)) == pytest.approx(0.75)


def test_an_arm_of_empty_runs_stays_at_one():
    runs = [{"arm": "a", "instance": "i0", "seed": 1, "horizon": 10, "trace": []}]
    sweep = horizon_sweep(gl.build_envelopes(gl.Campaign.from_runs(runs)), SNAPSHOT)
    assert sweep.curves["a"].at(np.array([0.0, 5.0, 10.0])).tolist() == [1.0, 1.0, 1.0]


def test_equal_arms_never_swap():
    runs = [{"arm": arm, "instance": "i0", "seed": 1, "horizon": 10, "trace": [(3, 12.0)]} for arm in "ab"]
    assert horizon_sweep(gl.build_envelopes(gl.Campaign.from_runs(runs)), SNAPSHOT).swaps_of("a", "b") == ()


def test_raw_has_no_sweep():
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(random_runs(instances=1)))
    with pytest.raises(UsageError, match="before the first incumbent"):
        horizon_sweep(envelopes, SNAPSHOT, kernel="raw")


@pytest.mark.parametrize("head", ["early-log", "end-log"])
def test_logarithmic_weights_equal_the_integral_of_every_run(head):
    campaign = gl.Campaign.from_runs(random_runs(seed=3, instances=2))
    envelopes = gl.build_envelopes(campaign)
    sweep = horizon_sweep(envelopes, SNAPSHOT)
    cutoffs = [0.1, 5.0, 99.0]
    for arm in ("a", "b"):
        mine = sweep.curves[arm].log_weighted(100.0, cutoffs, end=head == "end-log")
        for cutoff, value in zip(cutoffs, mine.tolist(), strict=True):
            frame = gl.summarise(gl.score(envelopes, SNAPSHOT, weight=f"{head}:{cutoff:g}")).frame
            assert value == pytest.approx(dict(frame.select("arm", "squeezed").iter_rows())[arm], abs=1e-12)


def test_horizon_sweep_equals_scoring_at_that_horizon(analysis, slow):
    sweep = analysis.horizon
    for arm in planted.ARMS:
        for horizon in (3.0, 40.0, 333.0, 1024.0):
            want = slow.pooled(arm, "squeezed", "given", horizon)
            assert float(sweep.curves[arm].at(horizon)) == pytest.approx(want, abs=1e-12)
