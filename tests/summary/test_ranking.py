"""Rankings with their uncertainty."""

import numpy as np

from gapline.summary.ranking import rank_means, ranking
from summary_cases import boot_of


def test_ranks_share_the_better_place():
    assert rank_means(np.array([0.2, 0.1, 0.2 + 1e-14, 0.3])).tolist() == [2, 1, 2, 4]


def test_a_close_pair_has_uncertain_places_and_a_far_one_has_not():
    boot = boot_of({"a": [1, 3, 2, 4], "b": [2, 2, 3, 3], "c": [9, 9, 9, 9]}, draws=400)
    frame = ranking(boot).frame
    assert frame["arm"].to_list() == ["a", "b", "c"]
    assert frame["rank"].to_list() == [1, 1, 3]
    assert frame["rank_low"].to_list() == [1, 1, 3]
    assert frame["rank_high"].to_list() == [2, 2, 3]
    assert frame.filter(frame["arm"] == "c")["first"].item() == 0.0
    assert frame["wins"].sum() + frame["ties"].sum() // 2 == 4


def test_a_win_is_an_instance_on_which_no_other_arm_is_as_good():
    frame = ranking(boot_of({"a": [1, 3, 2, 5], "b": [1, 4, 1, 5], "c": [2, 5, 3, 4]}, draws=9)).frame.sort("arm")
    assert frame.select("arm", "wins", "ties", "losses").rows() == [("a", 1, 1, 2), ("b", 1, 1, 2), ("c", 1, 0, 3)]


def test_the_level_is_shared_by_both_tails():
    """Arm a is first in more than half of the draws and in fewer than three quarters: half of them hold both places."""
    frame = ranking(boot_of({"a": [1, 2, 2, 4], "b": [2, 2, 3, 2.5]}, draws=400), level=0.5).frame
    first = frame.row(0, named=True)
    assert (first["arm"], first["rank_low"], first["rank_high"]) == ("a", 1, 2)
    assert 0.5 < first["first"] < 0.75


def test_ranking_is_on_common_instances():
    boot = boot_of({"a": [1, 9], "b": [2]}, draws=50)
    found = ranking(boot)
    assert found.frame["arm"].to_list() == ["a", "b"]
    assert "1 of 2 instances" in found.notes[0]
