"""Weights that are functions: as the weights they imitate, within the error that they state, under one name each."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import gapline as gl
from gapline.errors import MixedScoresError, UsageError
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.user_functions import as_weight, score_error, weight_error
from gapline.text import error_bound
from profiles import examples

HORIZONS = (10.0, 37.5)
steps = st.lists(st.tuples(st.floats(0, 37.5), st.floats(5, 100)), max_size=8)


def one(_):
    return 1.0


def two_steps(t):
    return 2.0 if t < 4.2 else 0.5


def decay(t):
    return math.exp(-t / 7)


def scored(trace, weight, kernels=("squeezed",)):
    runs = [
        {
            "arm": "a",
            "instance": f"i{h}",
            "seed": 1,
            "horizon": h,
            "trace": sorted(step for step in trace if step[0] <= h),
        }
        for h in HORIZONS
    ]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values({f"i{h}": 10.0 for h in HORIZONS}, name="ten")
    return gl.score(envelopes, snapshot, kernels=list(kernels), weight=weight)


@settings(max_examples=examples(50))
@given(steps, st.sampled_from([(one, "uniform"), (two_steps, "steps:0=2,4.2=0.5")]))
def test_a_function_scores_as_the_weight_that_it_imitates(trace, both):
    function, name = both
    kernels = ("squeezed", "maxform", "berthold", "dimacs:1.1")
    found, wanted = scored(trace, function, kernels), scored(trace, name, kernels)
    error = found.reading.weight_error
    assert 0 < error <= 1e-11
    for kernel in kernels:
        bound = score_error(parse_kernel(kernel), error) + 1e-14
        for got, exact in zip(found.frame[kernel], wanted.frame[kernel], strict=True):
            assert abs(got - exact) <= bound


@settings(max_examples=examples(25))
@given(steps.filter(bool))
def test_a_smooth_function_scores_as_scipy_integrates_it(trace):
    found = scored(trace, decay)
    for horizon, got in zip(HORIZONS, found.frame["squeezed"], strict=True):
        accepted: list[tuple[float, float]] = []
        best = math.inf
        for time, z in sorted((t, z) for t, z in trace if t <= horizon):
            if z < best:
                best = z
                accepted = [step for step in accepted if step[0] != time] + [(time, z)]
        points = [(0.0, None), *accepted, (horizon, None)]
        total = sum(
            (1.0 if z is None else (z - 10) / (z + 10)) * quad(decay, start, end, epsabs=1e-14, epsrel=1e-13)[0]
            for (start, z), (end, _) in pairwise(points)
        )
        whole = quad(decay, 0.0, horizon, epsabs=1e-14, epsrel=1e-13)[0]
        assert got == pytest.approx(total / whole, abs=score_error(parse_kernel("squeezed"), 1e-12) + 1e-11)


def test_an_empty_run_scores_its_worst_value_exactly():
    assert scored([], two_steps).frame["squeezed"].to_list() == [1.0, 1.0]


def test_a_score_does_not_depend_on_which_other_horizons_are_there():
    whole = scored([(1, 30.0), (6, 12.0)], decay).frame["squeezed"][0]
    alone = gl.primal_integral([1, 6], [30, 12], reference=10, horizon=10.0, weight=decay)
    assert whole == alone


def test_everything_names_the_function_its_digest_and_its_error():
    scores = scored([(1, 30.0)], decay, ("squeezed", "raw"))
    reading = scores.reading
    assert reading.weight.startswith("decay@")
    assert dict(reading.code)[reading.weight].startswith("sha256:" + reading.weight.split("@")[1])
    assert f"weight {reading.weight} (integrated to {error_bound(reading.weight_error)})" in reading.line()
    assert reading.document()["weight_error"] == reading.weight_error
    note = next(note for note in scores.notes if "integrated numerically" in note)
    assert f"squeezed off by at most {error_bound(2 * reading.weight_error)}" in note
    assert "times the range of its gaps" in note
    assert scored([(1, 30.0)], "uniform").reading.weight_error is None


def test_one_name_stands_for_one_function():
    made = gl.function_weight(lambda t: 1.0 + t, name="rising")
    assert as_weight("rising") is made
    with pytest.raises(MixedScoresError, match="expected one function under this name"):
        gl.function_weight(lambda t: 2.0 + t, name="rising")
    with pytest.raises(UsageError, match="expected a name that is not taken"):
        gl.function_weight(one, name="steps:mine")
    with pytest.raises(UsageError, match="expected a function of time"):
        gl.function_weight(3)

    # What a function closes over is part of it.
    def slope(by):
        return lambda t: by * t

    assert len({gl.function_weight(slope(by)).name for by in (1.0, 2.0)}) == 2
    assert gl.function_weight(slope(1.0)).name == gl.function_weight(slope(1.0)).name


def test_a_name_alone_says_how_it_is_loaded():
    with pytest.raises(UsageError, match="expected its code to be loaded"):
        as_weight("python:nowhere:weight")


def test_the_error_is_the_largest_over_the_horizons():
    weight = gl.function_weight(decay)
    each = [weight_error(weight, [h]) for h in HORIZONS]
    assert weight_error(weight, HORIZONS) == max(each)
    assert weight_error(as_weight("early-log:0.1"), HORIZONS) is None


def test_a_study_and_every_analysis_of_it_take_a_function():
    runs = [
        {"arm": arm, "instance": i, "seed": 1, "horizon": 10.0, "trace": [(at, 30.0), (at + 3, 12.0)]}
        for arm, at in (("a", 1), ("b", 2))
        for i in "ij"
    ]
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ij", 10.0), name="ten")
    study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot], weight=two_steps)
    like = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot], weight="steps:0=2,4.2=0.5")
    got, wanted = (gl.analyse(one).robustness.summary["holds"].to_list() for one in (study, like))
    assert got == wanted
    assert study.summary.frame["squeezed"].to_list() == pytest.approx(like.summary.frame["squeezed"].to_list())
    assert "integrated to" in study.reading.line()


def test_steps_under_a_name_of_the_users_own_score_and_open_a_study():
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 10.0, "trace": [(5, 30.0)]}]
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="ten")
    weight = gl.step_weight("first half", [0.0, 5.0], [1.0, 0.0])
    study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot], weight=weight)
    assert study.summary.frame["squeezed"].to_list() == [1.0]
    assert study.reading.weight == "first half"
    other = gl.step_weight("first half", [0.0, 6.0], [1.0, 0.0])
    with pytest.raises(UsageError, match="got that of another weight"):
        gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot], weight=other)
