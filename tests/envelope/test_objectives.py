"""Captured objectives on the scale that is scored."""

from gapline.campaign.campaign import Campaign
from gapline.campaign.scale import choose_scale, scored_objectives

RUNS = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 5.0), (2, 4.0)]}]


def test_without_a_transform_it_is_the_column_itself():
    campaign = Campaign.from_runs(RUNS)
    assert scored_objectives(campaign, choose_scale(campaign)) is campaign.objective


def test_a_transform_makes_a_read_only_copy():
    campaign = Campaign.from_runs(RUNS)
    found = scored_objectives(campaign, choose_scale(campaign, "shift:10"))
    assert found.tolist() == [15.0, 14.0]
    assert not found.flags.writeable
