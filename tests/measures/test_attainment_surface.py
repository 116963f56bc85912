"""Attainment surfaces equal moocore's on the same traces."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.errors import UsageError
from gapline.measures.attainment_surface import attainment_surface, final_attainment, surfaces
from gapline.scoring.events import Events
from traces_of_runs import REFERENCE, random_campaign


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("instances", [1, 3])
def test_surfaces_equal_moocores(seed, instances):
    moocore = pytest.importorskip("moocore")
    levels = (0.25, 0.5, 0.75, 1.0)
    runs, envelopes, snapshot = random_campaign(seed=seed, instances=instances, empty=False)
    found = attainment_surface(envelopes, snapshot, levels=levels)
    for arm in ("a", "b"):
        points, sets = [], []
        for number, run in enumerate(run for run in runs if run["arm"] == arm):
            for time, objective in run["trace"]:
                points.append((time, (objective - REFERENCE) / REFERENCE))
                sets.append(number)
        theirs = moocore.eaf(np.array(points), np.array(sets), percentiles=[100 * level for level in levels])
        for level in levels:
            want = theirs[np.isclose(theirs[:, 2], 100 * level)][:, :2]
            want = want[np.argsort(want[:, 0])]
            mine = found.filter((pl.col("arm") == arm) & (pl.col("level") == level)).select("time", "gap").to_numpy()
            assert np.allclose(mine, want, atol=1e-12), (arm, level)


def test_an_empty_run_attains_nothing_and_stays_in_the_denominator():
    _, envelopes, snapshot = random_campaign(seed=1, arms=("a",))
    found = attainment_surface(envelopes, snapshot, levels=(1.0, 7 / 8))
    assert found.filter(pl.col("level") == 1.0).height == 0
    assert found.filter(pl.col("level") == 7 / 8).height > 0


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("empty", [True, False])
def test_the_ends_of_the_surfaces_are_known_without_walking_along_them(seed, empty):
    _, envelopes, snapshot = random_campaign(seed=seed, instances=2, empty=empty)
    levels = (0.25, 0.3, 0.5, 7 / 8, 1.0)
    ends = final_attainment(envelopes, snapshot, levels=levels)
    for arm, found in ends.items():
        for level, gap in zip(levels, found, strict=True):
            walked = attainment_surface(envelopes, snapshot, levels=levels).filter(arm=arm, level=level)["gap"]
            assert gap == (walked[-1] if len(walked) else None)
    assert any(gap is None for found in ends.values() for gap in found) == empty


def test_the_median_surface_is_the_median_of_gaps():
    _, envelopes, snapshot = random_campaign(seed=7, arms=("a",), seeds=9, empty=False)
    found = attainment_surface(envelopes, snapshot, levels=(0.5,))
    for time in (10.0, 50.0, 100.0):
        gaps = []
        for row in range(len(envelopes)):
            times, objectives = envelopes.steps(row)
            reached = objectives[times <= time]
            gaps.append(reached[-1] / REFERENCE - 1 if len(reached) else np.inf)
        median = sorted(gaps)[4]
        part = found.filter(pl.col("time") <= time)
        mine = part["gap"][-1] if part.height else np.inf
        assert mine == pytest.approx(median, abs=1e-12)


def test_levels_are_shares():
    _, envelopes, snapshot = random_campaign()
    with pytest.raises(UsageError, match="shares above 0"):
        attainment_surface(envelopes, snapshot, levels=(50,))


# Few times and few objectives, so that many are equal; some are below the reference, some runs have no step.
STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 12), st.sampled_from([8.0, 9.5, 10.0, 10.1, 12.0, 15.0])))


def slow_surface(events, level):
    """Sort the gaps of all runs anew at every time."""
    rank = max(1, math.ceil(level * events.runs - 1e-9))
    best, found = [math.inf] * events.runs, []
    for now in sorted(set(events.time.tolist())):
        for run, time, gap in zip(events.run, events.time, events.gaps(), strict=True):
            if time == now:
                best[run] = gap
        value = sorted(best)[rank - 1]
        if value < math.inf and (not found or value < found[-1][1]):
            found.append((now, value))
    return found


@given(steps=STEPS, levels=st.lists(st.sampled_from([0.01, 0.25, 0.3, 0.5, 0.75, 1.0]), min_size=1))
def test_the_walk_equals_sorting_at_every_time(steps, levels):
    best, kept = {}, []
    for time, run, objective in sorted(steps, key=lambda step: step[:2]):
        if objective < best.get(run, math.inf):
            best[run] = objective
            kept.append((run, float(time), objective))
    run, time, objective = (np.array(column) for column in zip(*kept, strict=True)) if kept else (np.empty(0),) * 3
    events = Events(13, run.astype(np.int64), time, objective, np.full(len(kept), 10.0))
    for level, (times, gaps) in zip(levels, surfaces(events, levels), strict=True):
        assert list(zip(times.tolist(), gaps.tolist(), strict=True)) == slow_surface(events, level)
