"""The primal-dual integral, by hand."""

import numpy as np
import pytest

import gapline as gl
from gapline.campaign.assembly import RunTrace, campaign_from_traces
from gapline.errors import TraceError
from gapline.measures.areas import dual_integral, primal_dual_integral


def dual_campaign(time, objective, bound, verdict=None):
    trace = RunTrace(time, objective, bound=bound, verdict=verdict, horizon=10.0, arm="a", instance="i", seed=1)
    campaign = campaign_from_traces([trace])
    return campaign, gl.build_envelopes(campaign)


def test_primal_dual_integral_by_hand():
    """Nothing until 2; 20 against 10 from 2 (gap 0.5); 16 against 12 from 6 (0.25); the bound of 11 falls back."""
    campaign, envelopes = dual_campaign([2.0, 4.0, 6.0], [20.0, 19.99, 16.0], [10.0, np.nan, 12.0])
    found = primal_dual_integral(campaign, envelopes)
    want = (2 * 1 + 2 * 0.5 + 2 * (19.99 - 10) / 19.99 + 4 * 0.25) / 10
    assert found.values[0] == pytest.approx(want, abs=1e-12)
    assert (found.bounded.tolist(), found.crossed.tolist()) == ([True], [False])


def test_bound_only_events_and_falling_bounds():
    campaign, envelopes = dual_campaign([1.0, 5.0, 7.0], [20.0, np.nan, np.nan], [np.nan, 10.0, 8.0], verdict=[1, 3, 3])
    assert primal_dual_integral(campaign, envelopes).values[0] == pytest.approx((5 * 1 + 5 * 0.5) / 10)


def test_a_bound_beyond_the_incumbent_is_counted_as_crossed():
    campaign, envelopes = dual_campaign([0.0], [20.0], [25.0])
    found = primal_dual_integral(campaign, envelopes)
    assert (found.values[0], found.crossed.tolist()) == (0.0, [True])


def test_no_bounds_is_an_error_that_says_so():
    campaign = gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 2.0)]}])
    with pytest.raises(TraceError, match="captured `bound` column"):
        primal_dual_integral(campaign, gl.build_envelopes(campaign))


def slow_dual(times, bounds, reference, horizon):
    """Walk through every moment at which the best bound may change."""
    total, best, now = 0.0, None, 0.0
    for time, bound in sorted(zip(times, bounds, strict=True), key=lambda row: row[0]):
        if time > horizon or np.isnan(bound):
            continue
        total += slow_gap(best, reference) * (time - now)
        now, best = time, bound if best is None else max(best, bound)
    return (total + slow_gap(best, reference) * (horizon - now)) / horizon


def slow_gap(bound, reference):
    if bound is None:
        return 1.0
    if bound >= reference:
        return 0.0
    return 1.0 if (bound > 0) != (reference > 0) else abs(reference - bound) / max(abs(reference), abs(bound))


@pytest.mark.parametrize("seed", range(20))
def test_the_dual_integral_equals_a_slow_walk(seed):
    draw = np.random.default_rng(seed)
    size = int(draw.integers(1, 9))
    times = np.sort(draw.uniform(0, 12, size))
    bounds = np.where(draw.random(size) < 0.2, np.nan, draw.uniform(-5, 22, size))
    campaign, envelopes = dual_campaign(times.tolist(), [30.0] * size, bounds.tolist())
    snapshot = gl.Snapshot.from_values({"i": 20.0}, name="mine")
    found = dual_integral(campaign, envelopes, snapshot)
    assert found.values[0] == pytest.approx(slow_dual(times, bounds, 20.0, 10.0), abs=1e-12)
    seen = bounds[(times < 10) & ~np.isnan(bounds)]
    assert found.bounded[0] == (len(seen) > 0)
    assert found.crossed[0] == bool((seen > 20.0).any())


def test_the_dual_integral_needs_no_incumbent():
    """Nothing until 5, then a bound of 10 against a reference of 20: (5 + 5 · 0.5) / 10; the run itself is empty."""
    campaign, envelopes = dual_campaign([5.0], [np.nan], [10.0], verdict=[3])
    found = dual_integral(campaign, envelopes, gl.Snapshot.from_values({"i": 20.0}, name="mine"))
    assert found.values[0] == pytest.approx(0.75)
    assert primal_dual_integral(campaign, envelopes).values[0] == 1.0
