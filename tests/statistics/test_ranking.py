"""Rankings with their uncertainty."""

from itertools import combinations

import numpy as np

from gapline.statistics.contrasts import holm
from gapline.statistics.ranking import rank_means, ranking
from summary_cases import boot_of


def test_ranks_share_the_better_place():
    assert rank_means(np.array([0.2, 0.1, 0.2 + 1e-14, 0.3])).tolist() == [2, 1, 2, 4]


def test_a_close_pair_has_uncertain_places_and_a_far_one_has_not():
    boot = boot_of({"a": [1, 3, 2, 4], "b": [2, 2, 3, 3], "c": [9, 8, 9, 9.5]})
    frame = ranking(boot).frame
    assert frame["arm"].to_list() == ["a", "b", "c"]
    assert frame["rank"].to_list() == [1, 1, 3]
    assert frame["rank_low"].to_list() == [1, 1, 3]
    assert frame["rank_high"].to_list() == [2, 2, 3]
    assert frame["wins"].sum() + frame["ties"].sum() // 2 == 4


def test_places_are_those_that_adjusted_comparisons_leave_open():
    """By hand: an arm is behind those whose difference from it has a Holm-adjusted p of at most 5 %."""
    rng = np.random.default_rng(2)
    times = {
        name: np.clip(2 + shift + rng.normal(size=9), 0, 10).tolist()
        for name, shift in zip("abcd", (0, 1, 1.5, 5), strict=True)
    }
    boot = boot_of(times)
    frame = ranking(boot).frame
    for arm, low, high in frame.select("arm", "rank_low", "rank_high").iter_rows():
        others = [other for other in "abcd" if other != arm]
        judged = {other: boot.difference(arm, other) for other in others}
        adjusted = dict(zip(others, holm([judged[other].judge().p for other in others]), strict=True))
        behind = sum(adjusted[other] <= 0.05 and judged[other].value > 0 for other in others)
        ahead = sum(adjusted[other] <= 0.05 and judged[other].value < 0 for other in others)
        assert (low, high) == (1 + behind, 4 - ahead)
    assert frame["rank_low"].max() > 1
    # Some difference counts alone and not among three: the adjustment decides here.
    alone = [boot.difference(a, b).judge().p for a, b in combinations("abcd", 2)]
    assert any(0.05 / 3 < p <= 0.05 for p in alone)


def test_one_instance_leaves_every_place_open_and_says_so():
    found = ranking(boot_of({"a": [1], "b": [2]}))
    assert found.frame["rank_low"].null_count() == 2
    assert found.notes == ("no places can be ruled out: one instance alone",)


def test_a_win_is_an_instance_on_which_no_other_arm_is_as_good():
    frame = ranking(boot_of({"a": [1, 3, 2, 5], "b": [1, 4, 1, 5], "c": [2, 5, 3, 4]}, draws=9)).frame.sort("arm")
    assert frame.select("arm", "wins", "ties", "losses").rows() == [("a", 1, 1, 2), ("b", 1, 1, 2), ("c", 1, 0, 3)]


def test_arms_are_ranked_that_ran_the_same_instances_and_named_ones_on_those_that_all_ran():
    boot = boot_of({"a": [1, 9], "b": [2], "c": [2, 7]}, draws=50)
    assert ranking(boot).frame["arm"].to_list() == ["c", "a"]
    assert "other instances, not ranked: b (1 of these 2)" in ranking(boot).caption()
    found = ranking(boot, arms=["a", "b"])
    assert found.frame["arm"].to_list() == ["a", "b"]
    assert "1 of 2 instances" in found.notes[0]
    # Where nobody is ranked, nothing is said of the instances that "all 0 arms" ran.
    assert ranking(boot_of({"a": [1, 9], "b": [2]}, draws=50)).notes == ("no two arms ran the same instances",)
