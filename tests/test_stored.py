"""What lies on disk is never believed: the trials of `torture` in small."""

from torture import campaigns


def test_a_damaged_campaign_is_refused_by_name_or_scores_to_the_same_bits(tmp_path):
    found = campaigns.trial(500, 14, tmp_path)
    assert sum(found.values()) == 500
    assert found["refused"] > 400
