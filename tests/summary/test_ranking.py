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


def test_ranking_is_on_common_instances():
    boot = boot_of({"a": [1, 9], "b": [2]}, draws=50)
    found = ranking(boot)
    assert found.frame["arm"].to_list() == ["a", "b"]
    assert "1 of 2 instances" in found.notes[0]
