"""Power from a pilot: the promised number of instances does show the difference."""

import numpy as np
import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.statistics.estimate import panel_equal
from gapline.statistics.power import NO_SPREAD, ONE_SEED, Design, power_table
from gapline.statistics.spread import Spread


def pilot(values):
    """Scores of runs given as {(arm, panel, instance): [scores between 0.5 and 1]}."""
    runs = [
        {"arm": a, "panel": p, "instance": i, "seed": s, "horizon": 10, "trace": [(20 * (v - 0.5), 30.0)]}
        for (a, p, i), row in values.items()
        for s, v in enumerate(row)
    ]
    snapshot = gl.Snapshot.from_values({i: 10.0 for _, _, i in values}, name="mine")
    return gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot)


def noisy(seed=2, panels="pq", instances=8, seeds=3):
    draw = np.random.default_rng(seed)
    return pilot(
        {
            (arm, p, f"{p}{k}"): (0.7 + 0.05 * draw.standard_normal(seeds)).clip(0.5, 1).tolist()
            for arm in "ab"
            for p in panels
            for k in range(instances)
        }
    )


def known(counts, instance, rest, seeds=3):
    """The spread of a pilot that knows the truth."""
    counts, instance, rest = np.array(counts), np.array(instance, float), np.array(rest, float)
    df = (counts - 1.0) * (seeds - 1)
    names = tuple(f"p{k}" for k in range(len(counts)))
    noise = rest / seeds
    return Spread(names, counts, instance + noise, noise, instance, rest, df, None, None, float(seeds))


def simulated_power(delta, sizes, variances, *, campaigns=1500):
    """Draw campaigns of these sizes and judge each as `gapline compare` does."""
    draw = np.random.default_rng(7)
    strata = np.repeat(np.arange(len(sizes)), sizes)
    shown = 0
    for _ in range(campaigns):
        drawn = delta + np.sqrt(variances)[strata] * draw.standard_normal(len(strata))
        shown += panel_equal(drawn, strata, draws=1).judge(method="skew-t").low > 0
    return shown / campaigns


@pytest.mark.parametrize(
    ("counts", "instance", "delta", "seeds", "power"),
    [
        ([10], [1], 1.0, 1, 0.8), ([10], [1], 0.5, 5, 0.8), ([10], [1], 0.9, 2, 0.9), ([5, 5], [1, 1], 1.0, 1, 0.8),
        ([4] * 10, [1] * 10, 0.7, 2, 0.8), ([4, 4, 40], [1, 3, 1], 1.0, 2, 0.8), ([5, 10], [1, 4], 1.5, 2, 0.8),
        ([6] * 5, [0.1] * 4 + [9], 1.0, 1, 0.8),
    ],
)  # fmt: skip
def test_the_promised_number_of_instances_has_the_promised_power(counts, instance, delta, seeds, power):
    design = Design(known(counts, instance, np.ones(len(counts))), power, 0.95)
    variances = design.spread.variances(seeds)
    sizes = design.fewest(delta, variances)
    found = simulated_power(delta, sizes, variances)
    assert found > power - 0.05
    # Panels grow by whole instances, all at once, so that the power may lie above: then as far as is stated.
    assert found == pytest.approx(design.shown(delta, sizes, variances), abs=0.05)
    if len(sizes) == 1:
        assert found == pytest.approx(power, abs=0.05)


@pytest.mark.parametrize("sizes", [(4,), (6,), (5, 5), (3, 3, 3)])
def test_the_pilot_shows_what_it_says_with_few_instances_too(sizes):
    """Here the guard of the default method costs most: by Student's t alone the power would be 50 to 65 %."""
    design = Design(known(sizes, np.ones(len(sizes)), np.ones(len(sizes))), 0.8, 0.95)
    assert simulated_power(design.detectable(), sizes, design.spread.seen) == pytest.approx(0.8, abs=0.05)


@pytest.mark.slow
def test_many_instances_of_one_panel_are_the_classical_sample_size():
    from statsmodels.stats.power import TTestPower

    design = Design(known([10], [1.0], [0.0]), 0.8, 0.95)
    expected = TTestPower().solve_power(effect_size=0.15, alpha=0.05, power=0.8)
    assert design.fewest(0.15, design.spread.variances(1)) == (int(np.ceil(expected)),)


def test_more_seeds_or_larger_differences_need_fewer_instances():
    frame = power_table(noisy(), pairs=[("a", "b")], deltas=[0.01, 0.02], seeds=[1, 5]).frame
    needed = {(row["delta"], row["seeds"]): row["instances"] for row in frame.to_dicts()}
    assert needed[0.01, 1] > needed[0.01, 5] > needed[0.02, 5]
    for row in frame.to_dicts():
        assert row["instances_low"] <= row["instances"] <= row["instances_high"]
        assert row["runs"] == 2 * row["seeds"] * row["instances"]
        assert row["hours"] == pytest.approx(row["runs"] * 10 / 3600)
        assert row["per_panel"] == f"{row['instances'] // 2} each"


def test_the_stated_interval_holds_the_true_number():
    """Pilots of ten instances drawn from a known law: 95 % of them hold the number that the law needs."""
    truth = Design(known([10], [1.0], [1.0]), 0.8, 0.95)
    true = sum(truth.fewest(0.5, truth.spread.variances(1)))
    draw, held = np.random.default_rng(8), 0
    for _ in range(300):
        table = draw.standard_normal((10, 1)) + draw.standard_normal((10, 3))
        residual = table - table.mean(axis=1, keepdims=True)
        rest, seen = np.sum(residual**2) / 20, np.var(table.mean(axis=1), ddof=1)
        spread = known([10], [max(0.0, seen - rest / 3)], [rest])
        _, low, high, *_ = Design(spread, 0.8, 0.95).needed(0.5, 1, None)
        held += low <= true <= high
    assert held / 300 == pytest.approx(0.95, abs=0.035)


def test_the_pilot_shows_what_its_own_interval_shows():
    """The detectable difference rests on the standard error of the contrast itself."""
    scores = noisy()
    table = power_table(scores, pairs=[("a", "b")], deltas=[0.01], seeds=[3])
    moments = gl.Bootstrap(scores).difference("a", "b").moments
    row = table.pilot.row(0, named=True)
    # 2.98 standard errors with 14 degrees of freedom and no guard; the guard asks for some more.
    assert 2.95 < row["detectable"] / moments.error[0] < 3.4
    assert row["instance"] + row["seed"] + row["rest"] == pytest.approx(1.0)


def test_words_say_which_of_the_two_helps_more():
    spread = known([20], [0.9], [0.3])
    _, seeds, _, double, instance, seed, rest, _, double_seeds, endless, one_seed, _ = Design(spread, 0.8, 0.95).pilot()
    assert (seeds, seed, instance, rest) == (3.0, None, pytest.approx(0.75), pytest.approx(0.25))
    assert double_seeds == pytest.approx(1 - np.sqrt(0.95 / 1.0))
    assert endless == pytest.approx(1 - np.sqrt(0.9))
    # Half the variance, and Student's quantile of 39 degrees of freedom in place of 19.
    assert double == pytest.approx(1 - np.sqrt(0.5) * 2.022691 / 2.093024, abs=1e-6)
    assert one_seed == pytest.approx(1 - np.sqrt(1.2 / 3) * 2.000995 / 2.093024, abs=1e-4)
    words = power_table(noisy(), pairs=[("a", "b")], deltas=[0.01], seeds=[1]).words()
    assert any("of the variance, seeds" in line and "more instances help more" in line for line in words)
    assert any("with what you have (16 instances, 3 seeds)" in line for line in words)


@pytest.mark.slow
def test_instances_that_count_alike_are_planned_alike():
    """With one panel the weightings agree; with unequal ones they do not."""
    from statsmodels.stats.power import TTestPower

    one = noisy(panels="p")
    table = {w: power_table(one, pairs=[("a", "b")], weighting=w).frame for w in ("panel", "instance")}
    assert table["panel"].equals(table["instance"])
    design = Design(known([2, 18], [1, 1], [0, 0]), 0.8, 0.95, by_panel=False)
    classical = TTestPower().solve_power(effect_size=0.15, alpha=0.05, power=0.8)
    assert sum(design.fewest(0.15, np.ones(2))) == pytest.approx(classical, abs=3)


def test_what_a_pilot_cannot_say_has_a_reason():
    one_seed = pilot({(a, "p", f"i{k}"): [0.6 + 0.01 * k * (a == "a")] for a in "ab" for k in range(4)})
    table = power_table(one_seed, pairs=[("a", "b")], deltas=[0.01], seeds=[1, 5])
    assert table.frame["instances"].is_null().to_list() == [False, True]
    assert table.frame["reason"][1] == ONE_SEED
    assert any("cannot tell instances from seeds" in line for line in table.words())
    lone = pilot({(a, "p", "i"): [0.6, 0.7] for a in "ab"})
    table = power_table(lone, pairs=[("a", "b")], deltas=[0.01], seeds=[1])
    assert table.words() == ["a - b: nothing can be said: one instance alone"]
    alike = pilot({(a, "p", f"i{k}"): [0.6 + 0.1 * (a == "a")] * 2 for a in "ab" for k in range(4)})
    assert power_table(alike, pairs=[("a", "b")], deltas=[0.01], seeds=[1]).frame["reason"].to_list() == [NO_SPREAD]


def test_a_difference_that_no_campaign_is_large_enough_for_has_a_reason():
    for delta in (1e-9, 1e-320):
        (row,) = power_table(noisy(), pairs=[("a", "b")], deltas=[delta], seeds=[1]).frame.iter_rows(named=True)
        assert (row["instances"], row["reason"]) == (None, "more than 1,000,000,000,000 instances")


def test_questions_that_make_no_sense_are_refused():
    scores = noisy()
    with pytest.raises(UsageError, match="positive differences"):
        power_table(scores, pairs=[("a", "b")], deltas=[0.0])
    with pytest.raises(UsageError, match="shares between 0 and 1"):
        power_table(scores, pairs=[("a", "b")], power=1.0)
    with pytest.raises(UsageError, match="got 'a' twice"):
        power_table(scores, pairs=[("a", "a")])


def test_the_rounding_of_means_is_no_spread():
    """0.035 on every instance but for the last bits: no number of instances follows from that."""
    times = [0.1, 0.2, 0.3, 0.4, 0.55, 0.65, 0.85]
    runs = [
        {"arm": arm, "instance": f"i{k}", "seed": seed, "horizon": 10, "trace": [(time + shift, 30.0)]}
        for arm, shift in (("a", 0.0), ("b", 0.7))
        for k, time in enumerate(times)
        for seed in (1, 2)
    ]
    snapshot = gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(7)}, name="mine")
    scores = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot)
    assert set(gl.power_table(scores, pairs=[("a", "b")]).frame["reason"]) == {
        "all instances differ alike: no spread to judge by"
    }
