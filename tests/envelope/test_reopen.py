"""Another process opens the same runs of a campaign directory, and notices where it is not the same any more."""

import pytest

from gapline.campaign.campaign import Campaign
from gapline.campaign.store import open_campaign
from gapline.campaign.time_scale import scale_times, settle_time_scale
from gapline.envelope.worker_steps import origin_of, reopen
from gapline.errors import IntegrityError, UsageError

RUNS = [
    {
        "arm": "ab"[s % 2],
        "instance": "i",
        "seed": s,
        "horizon": 9,
        "host": "h",
        "trace": [(t, 50.0 - t) for t in range(s)],
    }
    for s in range(5)
]


def test_negated_and_scaled_columns_are_made_again(tmp_path):
    campaign = open_campaign(Campaign.from_runs(RUNS).save(tmp_path / "campaign")).negate("b")
    campaign = scale_times(campaign, settle_time_scale("h=2.0", [campaign]))
    rows = campaign.runs[[1, 3, 4]]
    again = reopen(origin_of(campaign), rows)
    for k, (first, count) in enumerate(rows.select("first", "count").iter_rows()):
        low = again.runs["first"][k]
        for name in ("time", "objective", "verdict"):
            here, there = getattr(campaign, name), getattr(again, name)
            assert there[low : low + count].tolist() == here[first : first + count].tolist()


def test_runs_without_candidates_alone(tmp_path):
    campaign = open_campaign(Campaign.from_runs(RUNS).save(tmp_path / "campaign"))
    again = reopen(origin_of(campaign), campaign.runs.filter(campaign.runs["count"] == 0))
    assert (len(again), len(again.time)) == (1, 0)


def test_a_directory_that_was_written_again_is_refused(tmp_path):
    place = Campaign.from_runs(RUNS).save(tmp_path / "campaign")
    campaign = open_campaign(place)
    Campaign.from_runs(RUNS[1:]).save(place, overwrite=True)
    with pytest.raises(IntegrityError, match="got one that was changed meanwhile"):
        reopen(origin_of(campaign), campaign.runs)


def test_what_lies_in_no_directory_cannot_be_opened_again():
    with pytest.raises(UsageError, match="whose columns lie in files"):
        origin_of(Campaign.from_runs(RUNS))
