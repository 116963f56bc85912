"""Bradley-Terry ratings equal a likelihood maximised by scipy and a logistic regression by statsmodels."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from gapline.errors import UsageError
from gapline.measures.compared_arms import compare_cells
from gapline.measures.rating import ratings
from gapline.statistics.intervals import draw_counts
from measures.compared_runs import random_scores, scores_of

POINTS = 400 / math.log(10)


def win_table(means):
    """Wins of each arm over each other, ties half, by loops."""
    arms, instances = means.shape
    wins = np.zeros((arms, arms, instances))
    for i in range(arms):
        for j in range(arms):
            for k in range(instances):
                if i != j:
                    difference = round(means[i, k] - means[j, k], 10)
                    wins[i, j, k] = 1.0 if difference < 0 else 0.5 if difference == 0 else 0.0
    return wins


def likeliest(wins):
    arms = len(wins)

    def loss(free):
        strength = np.append(free, -free.sum())
        chance = strength[:, None] - strength[None, :]
        return float(np.sum(wins * np.logaddexp(0, -chance)))

    free = minimize(loss, np.zeros(arms - 1), method="BFGS", options={"gtol": 1e-10}).x
    return 1500 + POINTS * np.append(free, -free.sum())


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prior", [0.5, 2.0])
def test_equal_to_a_maximised_likelihood(seed, ties, prior):
    compared, values = random_scores(seed, arms=5, instances=9, ties=ties, seeds=1)
    wins = win_table(values[:, :, 0]).sum(axis=2) + prior * (1 - np.eye(5))
    found = dict(ratings(compared, prior=prior, draws=5).frame.select("arm", "rating").iter_rows())
    assert [found[f"a{k}"] for k in range(5)] == pytest.approx(likeliest(wins).tolist(), abs=1e-3)


@pytest.mark.slow
def test_without_a_prior_equal_to_a_logistic_regression():
    import statsmodels.api as sm

    compared, values = random_scores(11, arms=4, instances=40, seeds=1)
    wins = win_table(values[:, :, 0])
    rows, outcome = [], []
    for i in range(4):
        for j in range(i):
            for k in range(40):
                row = np.zeros(4)
                row[i], row[j] = 1, -1
                rows.append(row)
                outcome.append(wins[i, j, k])
    design = np.array(rows)[:, 1:]
    fitted = sm.GLM(np.array(outcome), design, family=sm.families.Binomial()).fit(tol=1e-14).params
    want = np.append(0.0, fitted)
    want = 1500 + POINTS * (want - want.mean())
    found = ratings(compared, prior=0)
    table = dict(found.frame.select("arm", "rating").iter_rows())
    assert [table[f"a{k}"] for k in range(4)] == pytest.approx(want.tolist(), abs=1e-6)
    assert found.frame["low"].null_count() == 4
    assert "intervals need a prior" in found.reason


def test_intervals_refit_every_draw_of_instances():
    compared, values = random_scores(5, arms=3, instances=6, seeds=1, panels=2)
    wins = win_table(values[:, :, 0])
    position = [int(name[1:]) for _, name in compared.cells.units]
    counts = draw_counts(compared.cells.panel, draws=60, seed=3)
    drawn = [likeliest(wins[:, :, position] @ row + 0.5 * (1 - np.eye(3))) for row in counts]
    # Six instances in two panels: four degrees of freedom, and a third of the variance to be put back.
    reach = stats.t.ppf(0.9, 4) * np.std(drawn, axis=0, ddof=1) * np.sqrt(6 / 4)
    found = ratings(compared, draws=60, seed=3, level=0.8).frame.sort("arm")
    assert found["low"].to_list() == pytest.approx((found["rating"].to_numpy() - reach).tolist(), abs=1e-2)
    assert found["high"].to_list() == pytest.approx((found["rating"].to_numpy() + reach).tolist(), abs=1e-2)


def test_an_arm_that_always_wins_is_said_to_and_has_a_rating_by_the_prior_alone():
    """One arm wins 3 games of 3: with half a win to each side the odds are 3.5 to 0.5, 400·log10(7) points."""
    table = {"a": {"i": [0.6], "j": [0.6], "k": [0.6]}, "b": {"i": [0.7], "j": [0.7], "k": [0.7]}}
    found = ratings(scores_of(table))
    assert found.unbounded == "a never lost to b: without the prior there are no finite ratings"
    assert found.frame["rating"][0] - found.frame["rating"][1] == pytest.approx(400 * math.log10(7))
    assert found.frame.select("arm", "wins", "ties", "losses").rows() == [("a", 3, 0, 0), ("b", 0, 0, 3)]
    # No draw of instances differs from another, so there is no interval.
    assert found.frame["low"].null_count() == found.frame["high"].null_count() == 2
    assert found.reason == "the 3 instances are all alike: no spread to judge by"
    bare = ratings(scores_of(table), prior=0)
    assert bare.frame["rating"].null_count() == 2
    assert bare.unbounded is not None


def test_a_group_that_never_lost_to_the_rest():
    table = {
        "a": {"i": [0.6], "j": [0.7]}, "b": {"i": [0.7], "j": [0.6]},
        "c": {"i": [0.8], "j": [0.9]}, "d": {"i": [0.9], "j": [0.8]},
    }  # fmt: skip
    assert ratings(scores_of(table), draws=5).unbounded.startswith("a, b never lost to c, d:")


def test_one_arm_no_common_instance_and_one_instance_per_panel():
    assert "needs two arms" in ratings(scores_of({"a": {"i": [0.6]}})).reason
    assert "got 0" in ratings(scores_of({"a": {"i": [0.6]}, "b": {"j": [0.6]}})).reason
    single = ratings(scores_of({"a": {"i": [0.6]}, "b": {"i": [0.7]}}))
    assert single.reason == "one instance alone"
    assert single.frame["rating"].null_count() == 0
    assert single.frame["low"].null_count() == 2


def test_tier_two_is_not_rated_and_a_negative_prior_is_refused():
    table = {arm: {"i": [score], "j": [0.7]} for arm, score in (("a", 0.6), ("b", 0.7), ("c", 0.5))}
    assert ratings(scores_of(table, tier_two=["c"]), draws=5).frame["arm"].to_list() == ["a", "b"]
    with pytest.raises(UsageError, match="prior"):
        ratings(compare_cells(scores_of(table)), prior=-1)
