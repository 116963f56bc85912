"""Counts of what was read, in words."""

from campaign.small_campaigns import arrays


def test_diagnostics_say_everything_in_words():
    text = str(arrays().diagnostics)
    assert "2 runs, 0 of them without a candidate; 3 candidates" in text
    assert "rejected 1 (declared invalid 1)" in text
    assert "unchecked 1" in text
