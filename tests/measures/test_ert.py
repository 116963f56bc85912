"""Expected running times equal cocopp's and iohinspector's on the same traces."""

import warnings

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.measures.running_times import expected_running_time, target_ecdf
from traces_of_runs import HORIZON, REFERENCE, random_campaign

GOALS = (0.0, 0.125, 0.25, 0.5, 1.0)


def quietly(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


def hitting_time(trace, goal):
    times = [time for time, objective in trace if objective - REFERENCE <= goal * REFERENCE]
    return min(times, default=None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ert_equals_cocopps(seed):
    toolsstats = quietly("cocopp.toolsstats")
    runs, envelopes, snapshot = random_campaign(seed=seed)
    frame = expected_running_time(envelopes, snapshot, goals=GOALS)
    assert frame.height == 2 * len(GOALS)
    for arm, goal, count, successes, rate, ert, _ in frame.iter_rows():
        hits = [hitting_time(run["trace"], goal) for run in runs if run["arm"] == arm]
        spent = [HORIZON if hit is None else hit for hit in hits]
        want, want_rate, want_successes = toolsstats.sp(spent, issuccessful=[hit is not None for hit in hits])
        assert (count, successes, rate) == (8, want_successes, want_rate)
        assert (ert is None) == np.isinf(want)
        assert ert is None or ert == pytest.approx(want, abs=1e-12)


def test_recorded_values_of_cocopp():
    """toolsstats.sp of cocopp 2.9.1 on three runs hitting at 2 and 4 of 10: (8.0, 2/3, 2)."""
    traces = ([(2, 10.0)], [(4, 10.0)], [])
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": t} for s, t in enumerate(traces)]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    frame = expected_running_time(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"))
    assert frame.select("ert", "success_rate", "successes").row(0) == (8.0, 2 / 3, 2)


@pytest.mark.slow
def test_ert_equals_iohinspectors():
    """Iohinspector has no row for a run without a candidate, so the runs here all have one."""
    metrics = quietly("iohinspector.metrics")
    runs, envelopes, snapshot = random_campaign(seed=4, empty=False)
    rows = [
        (f"{run['arm']}{run['seed']}", run["arm"], float(time), objective / REFERENCE - 1)
        for run in runs
        for time, objective in run["trace"]
    ]
    data = pl.DataFrame(rows, schema=["data_id", "algorithm_name", "evaluations", "raw_y"], orient="row")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = metrics.aggregate_running_time(
            data, f_min=0.125, f_max=1.0, scale_f_log=False, eval_max=HORIZON, return_as_pandas=False
        )
    goals = sorted(theirs["raw_y"].unique().to_list())
    # Their goals are some of the gaps themselves, which they compare to the last bit.
    ours = expected_running_time(envelopes, snapshot, goals=goals, tolerance=0.0)
    compared = 0
    for row in theirs.iter_rows(named=True):
        mine = ours.filter((pl.col("arm") == row["algorithm_name"]) & (pl.col("goal") == row["raw_y"])).row(
            0, named=True
        )
        if row["success_count"] == 0:
            assert mine["ert"] is None
            continue
        assert mine["success_rate"] == pytest.approx(row["success_ratio"])
        assert mine["ert"] == pytest.approx(row["ERT"], rel=1e-12)
        compared += 1
    assert compared > 10


def test_target_ecdf_is_the_share_of_run_goal_pairs():
    runs, envelopes, snapshot = random_campaign(seed=5)
    curve = target_ecdf(envelopes, snapshot, goals=GOALS, weighting="run")
    for arm in ("a", "b"):
        hits = [hitting_time(run["trace"], goal) for run in runs if run["arm"] == arm for goal in GOALS]
        part = curve.filter(pl.col("arm") == arm)
        for time, value in part.select("time", "value").iter_rows():
            want = sum(hit is not None and hit <= time for hit in hits) / len(hits)
            assert value == pytest.approx(want, abs=1e-12)
    assert curve.group_by("arm").agg(pl.col("time").first())["time"].to_list() == [0.0, 0.0]


def test_an_arm_with_only_empty_runs_has_no_ert_and_a_flat_ecdf():
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": []} for s in range(2)]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    row = expected_running_time(envelopes, snapshot).row(0, named=True)
    assert (row["ert"], row["success_rate"], row["spent"]) == (None, 0.0, 20.0)
    assert target_ecdf(envelopes, snapshot).rows() == [("a", 0.0, 0.0)]
