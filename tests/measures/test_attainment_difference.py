"""Differences of attainment equal moocore's `eafdiff`."""

import numpy as np
import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.measures.attainment_surface import attainment_difference
from traces_of_runs import REFERENCE, random_campaign


def points_of(runs, arm):
    rows = [
        (time, (objective - REFERENCE) / REFERENCE, number)
        for number, run in enumerate((run for run in runs if run["arm"] == arm), 1)
        for time, objective in run["trace"]
    ]
    return np.array(rows)


def inside(rectangles, time, gap):
    """The difference at a point, by looking at every rectangle."""
    hits = [
        row["difference"]
        for row in rectangles
        if row["time"] <= time < row["until"] and row["gap"] <= gap and (row["below"] is None or gap < row["below"])
    ]
    assert len(hits) <= 1, "rectangles do not overlap"
    return hits[0] if hits else 0.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("instances", [1, 2])
def test_equal_to_moocore(seed, instances):
    import moocore

    runs, envelopes, snapshot = random_campaign(seed=seed, instances=instances, empty=False)
    found = attainment_difference(envelopes, snapshot, "a", "b")
    ours = found.rectangles().to_dicts()
    first, second = points_of(runs, "a"), points_of(runs, "b")
    sets = len(np.unique(first[:, 2]))
    for time, gap, difference in moocore.eafdiff(first, second, intervals=sets):
        # A point of theirs is the corner of the region; ours is as good an ulp above it.
        assert sets * inside(ours, time, gap * (1 + 1e-12) + 1e-15) == pytest.approx(difference, abs=1e-9)
    theirs = moocore.eafdiff(first, second, intervals=sets, rectangles=True)
    times = np.unique(np.concatenate([first[:, 0], second[:, 0]]))
    gaps = np.unique(np.concatenate([first[:, 1], second[:, 1]]))
    times = np.append((times[1:] + times[:-1]) / 2, (times[-1] + found.end) / 2)
    gaps = np.append((gaps[1:] + gaps[:-1]) / 2, gaps[-1] * 1.5)
    grid = found.at(times, gaps)
    draw = np.random.default_rng(seed)
    for i, j in zip(draw.integers(0, len(times), 300), draw.integers(0, len(gaps), 300), strict=True):
        t, g = times[i], gaps[j]
        want = [row[4] for row in theirs if row[0] <= t < row[2] and row[1] <= g < row[3]]
        assert len(want) <= 1
        assert sets * inside(ours, t, g) == pytest.approx(want[0] if want else 0.0, abs=1e-9)
        assert sets * grid[i, j] == pytest.approx(want[0] if want else 0.0, abs=1e-9)


def test_the_area_of_all_rectangles_is_the_difference_of_mean_volumes():
    """∫∫ (attained share) up to gap G is the mean over runs of ∫ max(0, G - gap): exact, empty runs included."""
    _, envelopes, snapshot = random_campaign(seed=5, instances=2)
    found = attainment_difference(envelopes, snapshot, "a", "b")
    worst = 1.0
    total = 0.0
    for row in found.rectangles().to_dicts():
        high = worst if row["below"] is None else min(worst, row["below"])
        total += row["difference"] * (row["until"] - row["time"]) * max(0.0, high - row["gap"])
    volumes = {"a": [], "b": []}
    for k, arm in enumerate(envelopes.runs["arm"]):
        times, objectives = envelopes.steps(k)
        ends = np.append(times[1:], found.end)
        volumes[arm].append(float(np.sum((ends - times) * np.maximum(0.0, worst - (objectives / REFERENCE - 1)))))
    assert total == pytest.approx(np.mean(volumes["a"]) - np.mean(volumes["b"]), abs=1e-9)


def test_shares_of_different_numbers_of_runs_and_an_empty_run():
    """Of a one run of two attains 0.2 from time 2 on, the other is empty; b attains it from 4 on with its only run."""
    runs = [
        {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(2, 12.0)]},
        {"arm": "a", "instance": "i", "seed": 2, "horizon": 10, "trace": []},
        {"arm": "b", "instance": "i", "seed": 1, "horizon": 10, "trace": [(4, 12.0)]},
    ]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    found = attainment_difference(envelopes, snapshot, "a", "b")
    assert found.rectangles().rows() == [(2.0, 4.0, 0.2, None, 0.5), (4.0, 10.0, 0.2, None, -0.5)]
    with pytest.raises(UsageError, match="arm 'c'"):
        attainment_difference(envelopes, snapshot, "a", "c")


def test_relative_time_where_horizons_differ():
    runs = [
        {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(2, 12.0)]},
        {"arm": "b", "instance": "i", "seed": 1, "horizon": 10, "trace": []},
        {"arm": "b", "instance": "j", "seed": 1, "horizon": 20, "trace": []},
    ]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    found = attainment_difference(envelopes, gl.Snapshot.from_values(dict.fromkeys("ij", 10.0), name="m"), "a", "b")
    assert (found.relative, found.end) == (True, 1.0)
    assert found.rectangles().rows() == [(0.2, 1.0, 0.2, None, 1.0)]


def test_more_rectangles_than_asked_for_are_none():
    _, envelopes, snapshot = random_campaign(seed=5, instances=2)
    found = attainment_difference(envelopes, snapshot, "a", "b")
    assert found.rectangles(most=10) is None
    assert found.rectangles(most=10_000).height > 10
