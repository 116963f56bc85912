"""What lies on disk is never believed: the trials of `torture` in small."""

import pytest
from torture import campaigns, journals, parts, verdicts

pytestmark = pytest.mark.slow


def test_a_damaged_campaign_is_refused_by_name_or_scores_to_the_same_bits(tmp_path):
    found = campaigns.trial(300, 14, tmp_path)
    assert sum(found.values()) == 300
    assert found["refused"] > 240


def test_a_damaged_campaign_in_parts_is_refused_by_name_or_scores_to_the_same_bits(tmp_path):
    found = parts.trial(200, 14, tmp_path)
    assert sum(found.values()) == 200
    assert found["refused"] > 160


def test_a_damaged_journal_is_the_same_run_or_none(tmp_path):
    found = journals.trial(200, 14, tmp_path)
    assert found["quarantined and named"] > 80
    assert found["cut short, interrupted"] > 5


def test_a_damaged_verdict_file_never_gives_another_verdict(tmp_path):
    found = verdicts.trial(200, 14, tmp_path)
    assert found["quarantined and named"] > 140
