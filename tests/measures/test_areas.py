"""Neighbouring areas: moocore's hypervolume, iohinspector's convergence area, hand-made confined integrals."""

import math
import warnings
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy import integrate

import gapline as gl
from gapline.errors import UsageError
from gapline.measures.areas import area_over_curve, confined_primal_integral, time_quality_hypervolume
from traces_of_runs import HORIZON, REFERENCE, random_campaign


def gap_at(trace, time, *, before):
    value = before
    for stamp, objective in trace:
        if stamp <= time:
            value = objective / REFERENCE - 1
    return value


@pytest.mark.slow
def test_hypervolume_equals_moocores():
    moocore = pytest.importorskip("moocore")
    runs, envelopes, snapshot = random_campaign(seed=2, instances=2)
    worst = 1.2
    mine = time_quality_hypervolume(envelopes, snapshot, worst_gap=worst)
    order = envelopes.runs.select("arm", "instance", "seed").rows()
    for run in runs:
        value = mine[order.index((run["arm"], run["instance"], run["seed"]))]
        front = [(time, objective / REFERENCE - 1) for time, objective in run["trace"]]
        want = moocore.hypervolume(np.array(front), ref=[HORIZON, worst]) / (HORIZON * worst) if front else 0.0
        assert value == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("logarithmic", [True, False])
def test_area_over_curve_equals_its_integral(logarithmic):
    runs, envelopes, snapshot = random_campaign(seed=3)
    low, high = 1e-2, 2.0
    mine = area_over_curve(envelopes, snapshot, lower=low, upper=high, logarithmic=logarithmic)
    order = envelopes.runs.select("arm", "instance", "seed").rows()
    scale = math.log10 if logarithmic else float
    for run in runs:
        stamps = [0.0, *(time for time, _ in run["trace"]), HORIZON]
        want = 0.0
        for start, end in pairwise(stamps):
            gap = min(max(gap_at(run["trace"], start, before=high), low), high)
            want += (1 - (scale(gap) - scale(low)) / (scale(high) - scale(low))) * (end - start)
        value = mine[order.index((run["arm"], run["instance"], run["seed"]))]
        assert value == pytest.approx(want / HORIZON, abs=1e-12)


@pytest.mark.slow
def test_area_over_curve_equals_iohinspectors_where_it_does_not_back_fill():
    """Its area gives the time before the first candidate to the smallest value seen; ours is 0 there, the same here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metrics = pytest.importorskip("iohinspector.metrics")
    trace = [(0, 15.0), (20, 12.5), (60, 11.0)]
    envelopes = gl.build_envelopes(
        gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 100, "trace": trace}])
    )
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    mine = area_over_curve(envelopes, snapshot, lower=0.0, upper=1.0, logarithmic=False)[0]
    attained = [1 - (objective / 10 - 1) for _, objective in trace]
    data = pl.DataFrame(
        {"data_id": [1] * 3, "function_name": ["i"] * 3, "algorithm_name": ["a"] * 3,
         "evaluations": [0.0, 20.0, 60.0], "eaf": attained}
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = metrics.get_aocc(data, eval_max=100, return_as_pandas=False)
    assert mine == pytest.approx(float(theirs["AOCC"][0]), abs=1e-12)


@pytest.mark.parametrize("kernel", ["squeezed", "maxform", "berthold", "dimacs:1.5"])
def test_confined_integral_equals_numerical_integration(kernel):
    runs, envelopes, snapshot = random_campaign(seed=4)
    alpha = 20.0
    mine = confined_primal_integral(envelopes, snapshot, alpha=alpha, kernel=kernel)
    order = envelopes.runs.select("arm", "instance", "seed").rows()
    functions = {
        "squeezed": lambda g: g / (g + 2),
        "maxform": lambda g: g / (1 + g),
        "berthold": lambda g: g / (1 + g),
        "dimacs:1.5": lambda g: g if g < 0.5 else 0.5,
    }
    for run in runs[:6]:
        stamps = [0.0, *(time for time, _ in run["trace"]), HORIZON]
        total = 0.0
        for start, end in pairwise(stamps):
            gap = gap_at(run["trace"], start, before=None)
            value = (0.5 if kernel.startswith("dimacs") else 1.0) if gap is None else functions[kernel](gap)
            total += value * integrate.quad(lambda t: math.exp(-t / alpha), start, end)[0]
        want = total / (alpha * (1 - math.exp(-HORIZON / alpha)))
        assert mine[order.index((run["arm"], run["instance"], run["seed"]))] == pytest.approx(want, abs=1e-10)


def test_a_longer_horizon_cannot_invert_the_confined_order():
    """The fast arm stays ahead however long the other one sits on a slightly better value."""
    for horizon in (50.0, 5_000.0, 500_000.0):
        runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": horizon, "trace": trace}
                for arm, trace in (("fast", [(1, 10.2)]), ("slow", [(30, 10.1)]))]  # fmt: skip
        envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
        snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
        fast, slow = confined_primal_integral(envelopes, snapshot, alpha=10.0)
        assert fast < slow


def test_empty_runs_and_beaten_references():
    runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 10, "trace": trace}
            for arm, trace in (("empty", []), ("below", [(0, 5.0)]))]  # fmt: skip
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    assert confined_primal_integral(envelopes, snapshot, alpha=3.0).tolist() == pytest.approx([-0.5, 1.0])
    assert area_over_curve(envelopes, snapshot).tolist() == [1.0, 0.0]
    assert time_quality_hypervolume(envelopes, snapshot).tolist() == [1.5, 0.0]


def test_bad_parameters_are_refused():
    _, envelopes, snapshot = random_campaign()
    with pytest.raises(UsageError, match="alpha"):
        confined_primal_integral(envelopes, snapshot, alpha=0.0)
    with pytest.raises(UsageError, match="built-in"):
        confined_primal_integral(envelopes, snapshot, alpha=1.0, kernel="raw")
    with pytest.raises(UsageError, match="lower < upper"):
        area_over_curve(envelopes, snapshot, lower=2.0, upper=1.0)
    with pytest.raises(UsageError, match="positive raw gap"):
        time_quality_hypervolume(envelopes, snapshot, worst_gap=0.0)
