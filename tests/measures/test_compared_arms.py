"""What the classical comparisons start from."""

import numpy as np
import pytest

import gapline as gl
from gapline.errors import MixedScoresError, UsageError
from gapline.measures.compared_arms import compare_cells
from measures.compared_runs import random_scores, scores_of


def test_means_of_instances_over_their_seeds():
    compared, values = random_scores(1)
    np.testing.assert_allclose(compared.means, values.mean(axis=2), atol=1e-12)
    means, chosen = compared.common()
    assert chosen.all()
    np.testing.assert_array_equal(means, compared.means)


def test_only_arms_that_ran_the_same_instances_are_compared_and_a_pair_on_what_both_ran():
    table = {"a": {"i": [0.6], "j": [0.7]}, "b": {"i": [0.6], "j": [0.8]}, "c": {"i": [0.5], "k": [0.5]}}
    compared = compare_cells(scores_of(table))
    assert compared.arms == ("a", "b")
    assert compared.common()[1].tolist() == [True, True, False]
    assert compared.pair("a", "b")[2].tolist() == [True, True, False]
    assert compared.pair("a", "c")[2].tolist() == [True, False, False]


def test_tier_two_is_never_compared():
    table = {"a": {"i": [0.6]}, "b": {"i": [0.7]}, "c": {"i": [0.5]}}
    compared = compare_cells(scores_of(table, tier_two=["c"]))
    assert compared.arms == ("a", "b")
    with pytest.raises(UsageError, match="'c' of tier 2"):
        compared.pair("a", "c")


def test_a_run_without_a_score_and_a_kernel_that_is_not_there_are_refused():
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(2, 30.0)]}]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    scores = gl.score(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"), kernels=["raw"])
    with pytest.raises(MixedScoresError, match="got none for 1"):
        compare_cells(scores)
    with pytest.raises(UsageError, match="'maxform'"):
        compare_cells(scores, kernel="maxform")
