"""Bootstrap: the draws and intervals of scipy on the same resamples, strata, pairing, and what has no interval."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats._resampling import BootstrapResult

import gapline as gl
from gapline.errors import MixedScoresError, UsageError
from gapline.statistics.bootstrap import Bootstrap, arm_intervals
from gapline.statistics.estimate import Method
from gapline.statistics.intervals import draw_counts, two_sided_p


def scores_of(table, *, horizon=10.0):
    """Scores from {(arm, panel, instance): [first times]}: a run at 3 z* from time t on scores 0.5 + t / 20."""
    runs = [
        {"arm": arm, "panel": panel, "instance": instance, "seed": seed, "horizon": horizon, "trace": [(time, 30.0)]}
        for (arm, panel, instance), times in table.items()
        for seed, time in enumerate(times)
    ]
    instances = {instance for _, _, instance in table}
    snapshot = gl.Snapshot.from_values(dict.fromkeys(instances, 10.0), name="mine")
    return gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot)


def two_arms(*, seed=3, instances=15, panels=("p",), seeds=2):
    rng = np.random.default_rng(seed)
    table = {}
    for panel in panels:
        for i in range(instances):
            for arm, shift in (("a", 0.0), ("b", 1.0)):
                times = np.minimum(rng.exponential(2.0, seeds) + shift, 10.0)
                table[arm, panel, f"{panel}{i:02d}"] = times.tolist()
    return scores_of(table)


def oracle(data, draws, *, level):
    """The interval scipy reads from our own draws of one stratum."""
    given = BootstrapResult(None, draws, float(np.std(draws, ddof=1)))
    result = stats.bootstrap(
        (data,),
        np.mean,
        n_resamples=0,
        bootstrap_result=given,
        method="percentile",
        confidence_level=level,
        vectorized=True,
    )
    return result.confidence_interval


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_intervals_of_a_mean_and_a_difference_equal_scipys(level):
    boot = Bootstrap(two_arms(), draws=999)
    difference = boot.means[0] - boot.means[1]
    for estimate, data in ((boot.mean("a"), boot.means[0]), (boot.difference("a", "b"), difference)):
        low, high = oracle(data, estimate.draws, level=level)
        got = estimate.interval(method="percentile", level=level)
        assert got == pytest.approx((low, high), abs=1e-12)
        assert estimate.value == pytest.approx(float(np.mean(data)), abs=1e-14)


def test_draws_are_means_over_the_drawn_instances():
    boot = Bootstrap(two_arms(panels=("p", "q"), instances=4), draws=50, seed=9)
    counts = draw_counts(boot.cells.panel, draws=50, seed=9)
    for draw in range(50):
        drawn = np.repeat(np.arange(8), counts[draw].astype(int))
        slow = np.mean([boot.means[0, drawn[drawn < 4]].mean(), boot.means[0, drawn[drawn >= 4]].mean()])
        assert boot.mean("a").draws[draw] == pytest.approx(slow, abs=1e-13)


def test_panels_of_unequal_size_count_alike_in_a_draw():
    table = {("a", "p", f"p{k}"): [float(k)] for k in range(5)} | {("a", "q", f"q{k}"): [4.0 + k] for k in range(2)}
    boot = Bootstrap(scores_of(table), draws=40, seed=4)
    counts = draw_counts(boot.cells.panel, draws=40, seed=4)
    inside = [counts[:, boot.cells.panel == panel] @ boot.means[0, boot.cells.panel == panel] for panel in (0, 1)]
    assert boot.mean("a").draws == pytest.approx((inside[0] / 5 + inside[1] / 2) / 2, abs=1e-13)
    alike = Bootstrap(scores_of(table), draws=40, seed=4, weighting="instance")
    assert alike.mean("a").draws == pytest.approx((inside[0] + inside[1]) / 7, abs=1e-13)


def test_arms_see_the_same_draws():
    boot = Bootstrap(two_arms(), draws=200)
    paired = boot.mean("a").draws - boot.mean("b").draws
    assert np.allclose(boot.difference("a", "b").draws, paired, atol=1e-14)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    scores = two_arms()
    assert np.array_equal(Bootstrap(scores, draws=100).replicates(), Bootstrap(scores, draws=100).replicates())
    assert not np.array_equal(
        Bootstrap(scores, draws=100).replicates(), Bootstrap(scores, draws=100, seed=2).replicates()
    )
    # Pinned: these are the draws on every machine.
    assert draw_counts(np.array([0, 0, 0, 1, 1]), draws=2, seed=1).tolist() == [[0, 2, 1, 0, 2], [2, 0, 1, 2, 0]]


def test_weighting_by_run_is_the_ratio_of_drawn_runs():
    table = {("a", "p", f"i{k}"): [float(k)] * (k + 1) for k in range(5)}
    boot = Bootstrap(scores_of(table), draws=80, weighting="run")
    counts = draw_counts(np.zeros(5, np.int64), draws=80, seed=1)
    runs = np.arange(1, 6)
    slow = (counts * runs * boot.means[0]).sum(axis=1) / (counts * runs).sum(axis=1)
    assert np.allclose(boot.mean("a").draws, slow, atol=1e-14)


def test_an_arm_that_lacks_instances_is_compared_on_common_ones():
    table = {("a", "p", f"i{k}"): [float(k)] for k in range(6)} | {("b", "p", f"i{k}"): [2.0] for k in range(4)}
    boot = Bootstrap(scores_of(table), draws=100)
    difference = boot.difference("a", "b")
    assert difference.instances == 4
    assert difference.value == pytest.approx((0 + 1 + 2 + 3) / 4 / 20 - 2 / 20, abs=1e-14)
    assert boot.mean("a").instances == 6
    with pytest.raises(MixedScoresError, match="every arm on every instance"):
        boot.replicates()


def test_one_instance_per_panel_has_a_mean_and_a_reason_but_no_interval():
    boot = Bootstrap(scores_of({("a", "p", "i"): [1.0, 3.0], ("a", "q", "j"): [5.0]}), draws=10)
    estimate = boot.mean("a")
    assert estimate.value == pytest.approx(0.5 + (2 + 5) / 2 / 20)
    assert all(estimate.interval(method=method) is None for method in Method)
    assert estimate.reason == "every panel has one instance"
    row = arm_intervals(boot).frame.row(0, named=True)
    assert (row["low"], row["high"], row["reason"]) == (None, None, "every panel has one instance")


def test_a_one_instance_panel_beside_others_leaves_nothing_to_say():
    """Its spread cannot be seen, and it counts as much as the others: an interval without it would be too short."""
    table = {("a", "p", f"i{k}"): [float(k)] for k in range(5)} | {("a", "q", "j"): [3.0]}
    estimate = Bootstrap(scores_of(table), draws=300).mean("a")
    assert estimate.reason == "q has one instance: the spread of such a panel cannot be seen"
    assert estimate.judge() == (None, None, None, None, estimate.reason)


def test_draws_without_an_instance_are_draws_of_the_others():
    """What one arm lacks is drawn from what is left: the spread is that of the rest, and other panels stay as drawn."""
    table = {(arm, panel, f"{panel}{k}"): [float(k * k % 7)] for arm in "ab" for panel in "pq" for k in range(6)}
    whole = Bootstrap(scores_of(table), draws=4000)
    del table["b", "p", "p5"]
    boot = Bootstrap(scores_of(table), draws=4000)
    both = boot.counts.min(axis=0) > 0
    rest = boot.means[0][both & (boot.cells.panel == 0)]
    assert boot.draws_on(both)[:, 0].mean() == pytest.approx(
        boot.cells.pooled(np.where(both, boot.means, np.nan))[0], abs=3e-3
    )
    want = np.var(rest) / 5 + np.var(boot.means[0][boot.cells.panel == 1]) / 6
    assert np.var(boot.draws_on(both)[:, 0]) == pytest.approx(want / 4, rel=0.08)
    assert np.array_equal(boot.draws_on(boot.counts[0] > 0)[:, 0], whole.draws_on(np.ones(12, bool))[:, 0])


def test_a_difference_inside_a_panel_rests_on_its_instances_alone():
    times = {("p", "i"): (1.0, 3.0), ("p", "j"): (2.0, 6.0), ("q", "k"): (9.0, 1.0)}
    table = {(arm, *cell): [both[k]] for cell, both in times.items() for k, arm in enumerate("ab")}
    boot = Bootstrap(scores_of(table), draws=9)
    found = boot.panel_difference("a", "b", "p")
    assert (found.instances, found.value) == (2, pytest.approx(-(2 + 4) / 2 / 20))
    assert boot.panel_difference("a", "b", "q").value == pytest.approx(8 / 20)


def test_the_pull_of_an_instance_on_a_mean_of_runs_is_its_pull_on_that_mean():
    """One run at 0.5 and three at 0.7: the mean is 0.65, and both instances pull it by 1/4 · 0.15."""
    boot = Bootstrap(scores_of({("a", "p", "i"): [0.0], ("a", "p", "j"): [4.0] * 3}), draws=9, weighting="run")
    assert boot.mean("a").value == pytest.approx(0.65)
    assert boot.mean("a").pull.tolist() == pytest.approx([-0.0375, 0.0375], abs=1e-15)


def test_arms_of_tier_two_are_drawn_and_not_compared():
    runs = [
        {"arm": arm, "tier": tier, "instance": "i", "seed": 1, "horizon": 10, "trace": [(1.0, 30.0)]}
        for arm, tier in (("a", 1), ("b", 2), ("c", 1))
    ]
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    boot = Bootstrap(gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot), draws=9)
    assert boot.compared == ("a", "c")
    assert arm_intervals(boot).frame["arm"].to_list() == ["a", "b", "c"]


def test_ties_everywhere_give_no_interval_and_p_one():
    boot = Bootstrap(scores_of({(arm, "p", f"i{k}"): [float(k)] for arm in "ab" for k in range(4)}), draws=50)
    difference = boot.difference("a", "b")
    assert difference.tied
    assert [difference.interval(method=method) for method in Method] == [None] * len(Method)
    assert difference.judge().p == 1.0
    assert two_sided_p(difference.draws, difference.value) == 1.0


def test_an_arm_with_only_empty_runs_scores_one_everywhere():
    for count in (3, 10):
        runs = [{"arm": "a", "instance": f"i{k}", "seed": 1, "horizon": 9, "trace": []} for k in range(count)]
        snapshot = gl.Snapshot.from_values({f"i{k}": 1.0 for k in range(count)}, name="mine")
        boot = Bootstrap(gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot), draws=20)
        assert boot.mean("a").value == 1.0
        assert boot.mean("a").interval() is None
        assert boot.mean("a").judge().reason == f"the {count} instances are all alike: no spread to judge by"


@pytest.mark.parametrize("method", list(Method))
def test_an_interval_of_a_mean_stays_within_the_range_of_the_kernel(method):
    """Five of six instances empty: Student's t alone would end at 1.69."""
    ends = {name: [10.0] * (name == "i0") for name in (f"i{k}" for k in range(6))}
    runs = [
        {"arm": "a", "instance": name, "seed": 1, "horizon": 10, "trace": [(1.0, value) for value in found]}
        for name, found in ends.items()
    ]
    snapshot = gl.Snapshot.from_values(dict.fromkeys(ends, 10.0), name="mine")
    for kernel, most in (("squeezed", 1.0), ("berthold", 1.0), ("dimacs:1.5", 0.5)):
        scores = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot, kernels=[kernel])
        (row,) = arm_intervals(Bootstrap(scores, draws=200), method=method).frame.to_dicts()
        assert row["low"] is None or -1 <= row["low"] <= row["mean"] <= row["high"] <= most


def test_wrong_use_is_refused_with_a_reason():
    scores = two_arms(instances=3)
    with pytest.raises(UsageError, match="did you mean"):
        Bootstrap(scores, draws=5).mean("aa")
    with pytest.raises(UsageError, match="expected at least 1"):
        Bootstrap(scores, draws=0)
    with pytest.raises(UsageError, match="share between 0 and 1"):
        Bootstrap(scores, draws=5).mean("a").interval(level=95)
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": [(s, 30.0)]} for s in (0, 1)]
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    raw = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot, kernels=["raw"])
    with pytest.raises(MixedScoresError, match="expected a score of every run, got none for 1"):
        Bootstrap(raw, draws=5)
