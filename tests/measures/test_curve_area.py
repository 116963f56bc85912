"""The area between two curves: the difference of scores, and a slow twin on a fine walk through both."""

from itertools import pairwise

import pytest

import gapline as gl
from gapline.measures.areas import curve_areas
from traces_of_runs import random_campaign


def value_at(curve, time):
    return [value for t, value in curve if t <= time][-1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighting", ["panel", "run"])
def test_areas_equal_a_walk_through_every_breakpoint(seed, weighting):
    _, envelopes, snapshot = random_campaign(seed=seed, instances=3)
    (found,) = curve_areas(envelopes, snapshot, [("a", "b")], weighting=weighting).rows(named=True)
    frame = gl.mean_curve(envelopes, snapshot, weighting=weighting).frame
    curves = [frame.filter(arm=arm).select("time", "value").rows() for arm in ("a", "b")]
    end = envelopes.runs["horizon"][0]
    times = sorted({t for curve in curves for t, _ in curve} | {end})
    signed = absolute = ahead = 0.0
    for start, stop in pairwise(times):
        difference = value_at(curves[0], start) - value_at(curves[1], start)
        signed += (stop - start) * difference
        absolute += (stop - start) * abs(difference)
        ahead += (stop - start) * (difference < -1e-12)
    want = (signed / end, absolute / end, ahead / end)
    assert (found["signed"], found["absolute"], found["ahead"]) == pytest.approx(want, abs=1e-12)


def test_the_signed_area_is_the_difference_of_mean_scores():
    _, envelopes, snapshot = random_campaign(seed=9, instances=3)
    means = dict(gl.summarise(gl.score(envelopes, snapshot)).frame.select("arm", "squeezed").iter_rows())
    (found,) = curve_areas(envelopes, snapshot, [("b", "a")]).rows(named=True)
    assert found["signed"] == pytest.approx(means["b"] - means["a"], abs=1e-12)


def test_unbalanced_arms_are_compared_on_what_both_ran():
    """On i, which both ran, a starts at 2 and b at 4; j, which a alone ran, does not matter."""
    runs = [
        {"arm": arm, "instance": i, "seed": 1, "horizon": 10, "trace": [(t, 30.0)]}
        for arm, i, t in (("a", "i", 2), ("b", "i", 4), ("a", "j", 9), ("c", "k", 1))
    ]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ijk", 10.0), name="mine")
    found = curve_areas(envelopes, snapshot, [("a", "b"), ("a", "c")])
    assert found.row(0)[2:] == pytest.approx((-0.1, 0.1, 0.2))
    assert found.row(1)[2:] == (None, None, None)


def test_relative_time_where_horizons_differ():
    runs = [
        {"arm": arm, "instance": i, "seed": 1, "horizon": h, "trace": [(t, 30.0)]}
        for arm, i, h, t in (("a", "i", 10, 1), ("b", "i", 10, 2), ("a", "j", 100, 10), ("b", "j", 100, 20))
    ]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ij", 10.0), name="mine")
    found = curve_areas(envelopes, snapshot, [("a", "b")], relative=True)
    assert found.row(0)[2:] == pytest.approx((-0.05, 0.05, 0.1))
