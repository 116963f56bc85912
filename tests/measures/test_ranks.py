"""Ranks, Friedman and Nemenyi against scipy and scikit-posthocs, and by hand."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from gapline.measures.ranks import average_ranks, critical_difference, friedman, mean_ranks
from measures.compared_runs import random_scores, scores_of


@pytest.mark.slow
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("arms", "instances"), [(3, 4), (4, 8), (6, 15), (10, 30)])
def test_friedman_and_nemenyi_equal_the_reference_implementations(seed, arms, instances, ties):
    import scikit_posthocs

    compared, values = random_scores(seed, arms=arms, instances=instances, seeds=1, ties=ties)
    found = mean_ranks(compared)
    table = np.round(values[:, :, 0], 9)
    known = stats.friedmanchisquare(*table)
    assert found.friedman.chi2 == pytest.approx(known.statistic, rel=1e-10)
    assert found.friedman.p_chi2 == pytest.approx(known.pvalue, rel=1e-9)
    means = dict(found.frame.select("arm", "mean_rank").iter_rows())
    want = stats.rankdata(table, axis=0).mean(axis=1)
    assert [means[f"a{k}"] for k in range(arms)] == pytest.approx(want.tolist(), rel=1e-12)
    medians = dict(found.frame.select("arm", "median_rank").iter_rows())
    assert [medians[f"a{k}"] for k in range(arms)] == np.median(stats.rankdata(table, axis=0), axis=1).tolist()
    order = [int(name[1:]) for name in found.frame["arm"]]
    theirs = scikit_posthocs.posthoc_nemenyi_friedman(table.T).to_numpy()[np.ix_(order, order)]
    np.testing.assert_allclose(found.nemenyi, theirs, atol=1e-10)


def test_iman_and_davenport_f():
    compared, values = random_scores(3, arms=4, instances=30, seeds=1)
    found = mean_ranks(compared).friedman
    chi2 = stats.friedmanchisquare(*values[:, :, 0]).statistic
    f = 29 * chi2 / (30 * 3 - chi2)
    assert found.f == pytest.approx(f, rel=1e-10)
    assert found.p_f == pytest.approx(stats.f.sf(f, 3, 87), rel=1e-9)
    assert (found.p, found.exact) == (found.p_f, False)


@pytest.mark.parametrize(("arms", "instances"), [(3, 3), (3, 4), (4, 3)])
@pytest.mark.parametrize("ties", [False, True])
def test_the_exact_p_counts_every_order_of_every_instance(arms, instances, ties):
    for seed in range(4):
        compared, _ = random_scores(seed, arms=arms, instances=instances, seeds=1, ties=ties)
        ranks = average_ranks(compared.common()[0])
        columns = [list(permutations(ranks[:, k])) for k in range(instances)]
        sums = [np.sum(np.sum(orders, axis=0) ** 2) for orders in product(*columns)]
        seen = np.sum(ranks.sum(axis=1) ** 2)
        assert friedman(ranks).p == pytest.approx(np.mean(np.array(sums) >= seen - 1e-9), rel=1e-12)


def test_three_instances_of_one_mind_say_the_smallest_p_that_they_can_give():
    """Three arms in the same order on three instances: 3! of the 6³ orders are as extreme, p = 1/36."""
    table = {arm: {name: [score] for name in "ijk"} for arm, score in (("a", 0.6), ("b", 0.7), ("c", 0.8))}
    found = mean_ranks(scores_of(table))
    assert found.friedman.p == pytest.approx(1 / 36)
    assert found.friedman.smallest == pytest.approx(1 / 36)
    assert math.isinf(found.friedman.f)
    assert "p 0.0278 exact (the smallest that they can give)" in found.verdict()
    assert found.document()["friedman"]["f"] is None


def test_the_critical_difference_of_demsars_table():
    """q(0.05) of Demšar's Table 5(a), 2.569 for four and 2.850 for six classifiers, times √(k(k+1)/6n)."""
    assert critical_difference(4, 14) == pytest.approx(2.569 * math.sqrt(20 / 84), abs=5e-4)
    assert critical_difference(6, 30) == pytest.approx(2.850 * math.sqrt(42 / 180), abs=5e-4)


def test_cliques_are_the_longest_groups_within_the_critical_difference():
    compared, _ = random_scores(2, arms=6, instances=40, seeds=1)
    found = mean_ranks(compared)
    means = dict(found.frame.select("arm", "mean_rank").iter_rows())
    arms = list(means)
    for i, a in enumerate(arms):
        for b in arms[i + 1 :]:
            together = any(a in clique and b in clique for clique in found.cliques)
            assert together == (means[b] - means[a] <= found.critical_difference)
    for one in found.cliques:
        assert not any(set(one) < set(other) for other in found.cliques)


def test_two_arms_one_instance_and_all_ties_have_words_and_no_number():
    two = mean_ranks(scores_of({"a": {"i": [0.6], "j": [0.7]}, "b": {"i": [0.7], "j": [0.7]}}))
    assert two.friedman is None
    assert "needs three arms that ran the same instances, got 2" in two.verdict()
    assert two.frame.rows() == [("a", 1.25, 1.25), ("b", 1.75, 1.75)]
    one = mean_ranks(scores_of({arm: {"i": [0.6]} for arm in "abc"}))
    assert "two instances that all arms ran, got 1" in one.verdict()
    tied = mean_ranks(scores_of({arm: {"i": [0.6], "j": [0.7]} for arm in "abc"}))
    assert tied.reason == "all arms are tied on every instance"
    assert tied.document()["nemenyi"] == []


def test_an_arm_with_other_instances_and_one_of_tier_two_have_no_rank():
    table = {arm: {"i": [0.6], "j": [0.7], "k": [0.8]} for arm in "abcd"}
    del table["b"]["k"]
    found = mean_ranks(scores_of(table, tier_two=["d"]))
    assert found.frame["arm"].to_list() == ["a", "c"]
    assert "on 3 instances" in found.caption()
    assert "other instances, not ranked: b (2 of these 3)" in found.caption()


def test_means_nearer_than_the_tolerance_are_tied():
    assert average_ranks(np.array([[0.1], [0.1 + 1e-14], [0.2]])).ravel().tolist() == [1.5, 1.5, 3.0]
