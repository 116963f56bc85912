"""Summaries: three weightings against the oracle, robust statistics by hand, and what is never pooled."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import oracle
import strategies
from gapline.errors import MixedScoresError, UsageError
from gapline.statistics.means import trimmed_mean, weighted_mean, weighted_quantile
from scored_runs import run, scored


@given(strategies.campaigns(objectives=st.integers(1, 60).map(float)), st.sampled_from(["panel", "instance", "run"]))
def test_means_are_the_oracles(drawn, weighting):
    runs, references = drawn
    frame = gl.summarise(scored(runs, references, kernels=strategies.KERNELS), weighting=weighting).frame
    for row in frame.iter_rows(named=True):
        mine = [r for r in runs if r["arm"] == row["arm"]]
        envelopes = [oracle.envelope(r["trace"], r["horizon"]) for r in mine]
        assert (row["runs"], row["empty"]) == (len(mine), sum(not steps for steps in envelopes))
        for kernel in strategies.KERNELS:
            cells = [
                (r["panel"], r["instance"], oracle.integral(s, references[r["instance"]], r["horizon"], kernel=kernel))
                for r, s in zip(mine, envelopes, strict=True)
            ]
            assert oracle.close(row[kernel], oracle.mean(cells, weighting=weighting)), kernel
        ends = [
            (r["panel"], r["instance"], oracle.final_gap(s, references[r["instance"]]))
            for r, s in zip(mine, envelopes, strict=True)
            if s
        ]
        assert oracle.close(row["final_gap"], oracle.mean(ends, weighting=weighting) if ends else None)


def test_three_weightings_by_hand():
    """Panel p has instances i (two runs: 0 and 1/3) and j (1/3); panel q has k (an empty run: 1)."""
    runs = [
        run(seed=1, trace=[(0, 10.0)]), run(seed=2), run(instance="j"), run(instance="k", panel="q", trace=[])
    ]  # fmt: skip
    scores = scored(runs, {"i": 10.0, "j": 10.0, "k": 10.0})
    means = {w: gl.summarise(scores, weighting=w).frame["squeezed"][0] for w in ("panel", "instance", "run")}
    assert means["panel"] == pytest.approx(((1 / 6 + 1 / 3) / 2 + 1) / 2, abs=1e-15)
    assert means["instance"] == pytest.approx((1 / 6 + 1 / 3 + 1) / 3, abs=1e-15)
    assert means["run"] == pytest.approx((0 + 1 / 3 + 1 / 3 + 1) / 4, abs=1e-15)
    row = gl.summarise(scores, weighting="run").frame.row(0, named=True)
    assert (row["empty"], row["final_gap"]) == (1, pytest.approx(2 / 3, abs=1e-15))


def test_an_arm_of_empty_runs_has_a_mean_of_one_and_no_final_gap():
    row = gl.summarise(scored([run(trace=[]), run(seed=2, trace=[])])).frame.row(0, named=True)
    assert (row["squeezed"], row["final_gap"], row["final_squeezed"], row["empty"]) == (1.0, None, 1.0, 2)


def test_a_raw_mean_exists_only_where_every_run_has_one():
    scores = scored([run(), run(seed=2, trace=[(1, 20.0)]), run(arm="b")], kernels=["raw"])
    assert gl.summarise(scores).frame["raw"].to_list() == [None, 1.0]


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("mean", 22.0),
        ("median", 3.0),
        ("quantile:0", 1.0),
        ("quantile:1", 100.0),
        ("quantile:0.25", 2.0),
        ("trimmed:0.2", 3.0),
    ],
)
def test_statistics_by_hand(statistic, expected):
    values = [1.0, 2.0, 3.0, 4.0, 100.0]
    kernel = gl.register_kernel("test identity", lambda z, ref: z + 0 * ref, before=0.0, replace=True)
    scores = scored([run(seed=k, trace=[(0, v)]) for k, v in enumerate(values)], kernels=[kernel])
    frame = gl.summarise(scores, statistic=statistic, weighting="run").frame
    assert frame["test identity"][0] == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 1)), min_size=1, max_size=9), st.floats(0, 0.49))
def test_robust_statistics_lie_between_the_extremes(pairs, share):
    values, weights = np.array([v for v, _ in pairs]), np.array([w for _, w in pairs])
    for got in (
        weighted_quantile(values, weights, share),
        trimmed_mean(values, weights, share),
        weighted_mean(values, weights),
    ):
        assert values.min() - 1e-15 <= got <= values.max() + 1e-15
    assert trimmed_mean(values, weights, 0.0) == pytest.approx(weighted_mean(values, weights), abs=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=15))
def test_the_median_of_equal_weights_is_the_usual_one(values):
    assert weighted_quantile(np.array(values), np.full(len(values), 1 / len(values)), 0.5) == np.median(values)


@pytest.mark.parametrize(
    "statistic", ["mode", "mean:2", "quantile", "quantile:1.5", "trimmed:0.5", "trimmed:x", "median:1"]
)
def test_unknown_statistics_are_refused(statistic):
    with pytest.raises(UsageError, match="statistic: expected mean, median"):
        gl.summarise(scored([run()]), statistic=statistic)


def test_unknown_groups_are_refused():
    with pytest.raises(UsageError, match="by: expected columns of the runs, got solver"):
        gl.summarise(scored([run()]), by="solver")


def test_groups_of_several_columns_and_of_none():
    scores = scored([run(), run(instance="j", panel="q"), run(arm="b")])
    assert gl.summarise(scores, by=["arm", "panel"]).frame.select("arm", "panel").rows() == [
        ("a", "p"),
        ("a", "q"),
        ("b", "p"),
    ]
    assert gl.summarise(scores, by=[]).frame["runs"].to_list() == [3]


def test_parts_of_one_reading_are_pooled():
    parts = [scored([run(seed=s)]) for s in (1, 2)]
    whole = gl.summarise(scored([run(seed=1), run(seed=2)]))
    assert gl.summarise(parts).frame.equals(whole.frame)
    assert gl.summarise(parts).reading.coverage == whole.reading.coverage
    assert gl.summarise(parts).reading.coverage.runs == 2


def test_attainment_is_the_share_of_runs_that_reached_the_goal_each_weighed_as_in_the_mean():
    """Of instance i one run of two gets within 1 %, of j the only one: 2/3 of the runs, 3/4 of the instances."""
    hit, missed = [(0, 10.05)], [(0, 20.0)]
    scores = scored([run(trace=hit), run(seed=2, trace=missed), run(instance="j", trace=hit)])
    for weighting, share in (("run", 2 / 3), ("instance", 3 / 4)):
        found = gl.summarise(scores, weighting=weighting).frame["attainment:0.01"].to_list()
        assert found == pytest.approx([share], abs=1e-15)


@pytest.mark.parametrize(
    ("other", "what", "groups"),
    [
        ({"references": {"i": 11.0}}, "reference", ["mine"]),
        ({"kernels": ["maxform"]}, "kernels", ["squeezed", "maxform"]),
        ({"weight": "early-log:0.1"}, "weight", ["uniform", "early-log:0.1"]),
        ({"goals": [0.02]}, "goals", ["0.01", "0.02"]),
        ({"transform": "shift:1"}, "transform", ["none", "shift:1"]),
        ({"tolerance": 1e-3}, "tolerance", ["1e-09", "0.001"]),
    ],
)
def test_mixed_readings_are_refused_with_their_groups(other, what, groups):
    parts = [scored([run(seed=1)], {"i": 10.0}), scored([run(seed=2)], **({"references": {"i": 10.0}} | other))]
    with pytest.raises(MixedScoresError, match=f"expected scores of one {what}, got 2") as caught:
        gl.summarise(parts)
    assert all(group in str(caught.value) for group in groups)


def test_transforms_that_differ_in_the_last_digits_are_different():
    parts = [scored([run(seed=s)], transform=f"shift:{c}") for s, c in ((1, 1234567), (2, 1234568))]
    with pytest.raises(MixedScoresError, match="shift:1234567, shift:1234568"):
        gl.summarise(parts)


def test_the_same_run_in_two_parts_is_refused():
    with pytest.raises(MixedScoresError, match="expected disjoint runs"):
        gl.summarise([scored([run()]), scored([run()])])
    with pytest.raises(MixedScoresError, match="expected disjoint runs"):
        gl.summarise([scored([run(), run(seed=2)]), scored([run(seed=2), run(seed=3)])])


def test_two_horizons_of_one_instance_are_refused_and_of_two_instances_normal():
    with pytest.raises(MixedScoresError, match="one horizon per instance, got several for 1: i: 30, 60 s"):
        gl.summarise(scored([run(), run(seed=2, horizon=60)]))
    assert gl.summarise(scored([run(), run(instance="j", horizon=60)])).reading.horizons == (30.0, 60.0)


def test_a_final_gap_that_overflows_is_infinite_and_said():
    scores = scored([run(trace=[(0, 1e308)])], {"i": 1e-308})
    assert scores.frame["final_gap"].to_list() == [math.inf]
    assert any("overflows in 1 runs" in note for note in scores.notes)
    assert gl.summarise(scores).frame["final_gap"].to_list() == [math.inf]


def test_sums_are_exact_where_plain_ones_are_not():
    values = np.array([1e16, 1.0, -1e16, 1.0])
    assert weighted_mean(values, np.ones(4)) == float(Fraction(2, 4))


def test_a_summary_says_what_made_it():
    summary = gl.summarise(scored([run()], weight="end-log:1"), weighting="instance")
    for word in ("mean", "instance-equal", "mine", "end-log:1", "30 s", "solver"):
        assert word in summary.caption()
    assert isinstance(summary.frame, pl.DataFrame)
