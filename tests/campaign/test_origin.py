"""A campaign knows the directory that its columns are mapped from, as long as they are."""

from gapline.campaign.campaign import Campaign
from gapline.campaign.store import open_campaign, read_manifest

RUNS = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 5.0)]} for arm in ("a", "b")]


def test_origin_follows_what_is_done_to_the_columns(tmp_path):
    place = Campaign.from_runs(RUNS).save(tmp_path / "campaign")
    campaign = open_campaign(place)
    assert campaign.origin is not None
    assert (campaign.origin.directory, campaign.origin.seal) == (str(place), read_manifest(place)["seal"])
    assert campaign.filter(arm="a").origin == campaign.origin
    assert campaign.negate("a").origin.negated == ("a",)
    assert campaign.negate("a").negate("*").origin.negated == ("b",)


def test_columns_that_were_made_anew_lie_nowhere(tmp_path):
    campaign = open_campaign(Campaign.from_runs(RUNS).save(tmp_path / "campaign"))
    assert campaign.filter(arm="b").compact().origin is None
    assert Campaign.from_runs(RUNS).origin is None
