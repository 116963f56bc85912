"""Steps with workers: what they drop is made again, and what they find is refused here."""

from typing import Any

import numpy as np
import pytest

from gapline.campaign.campaign import Campaign
from gapline.campaign.store import open_campaign
from gapline.envelope import worker_steps
from gapline.envelope.build import build_envelopes
from gapline.envelope.passes import bring, per_run
from gapline.errors import ObjectiveError, UncheckedError
from gapline.files.memory import limited_memory

RUNS: list[dict[str, Any]] = [
    {"arm": "a", "instance": "i", "seed": s, "horizon": 99, "trace": [(t, 50.0 - t) for t in range(s)]}
    for s in range(6)
]


class Here:
    """Workers that are this process; they count what they are asked."""

    def __init__(self, width=2):
        self.asked, self._width = [], width

    def width(self):
        return self._width

    def run(self, function, tasks):
        self.asked.append((function.__name__, len(tasks)))
        yield from ((number, function(*task)) for number, task in reversed(list(enumerate(tasks))))


@pytest.fixture
def campaign(tmp_path):
    return open_campaign(Campaign.from_runs(RUNS).save(tmp_path / "campaign"))


def _last(envelopes):
    ends = (envelopes.runs["first"] + envelopes.runs["count"]).to_list()
    return np.array(
        [envelopes.objective[e - 1] if c else np.nan for e, c in zip(ends, envelopes.runs["count"], strict=True)]
    )


def test_runs_are_divided_and_the_same_table_comes_out(campaign):
    here = Here()
    apart, whole = build_envelopes(campaign, workers=here), build_envelopes(campaign)
    assert here.asked[0][1] > 2
    assert apart.runs.drop("first").equals(whole.runs.drop("first"))
    assert len(apart.time) == 0
    assert np.array_equal(per_run(_last, apart), per_run(_last, whole), equal_nan=True)
    chosen = apart.select([5, 0, 3])
    assert bring(chosen).objective.tolist() == bring(whole.select([5, 0, 3])).objective.tolist()
    assert apart.steps(3)[1].tolist() == whole.steps(3)[1].tolist()
    assert apart.steps(0)[0].tolist() == []


def test_runs_without_a_step_alone_have_rows_too(campaign):
    apart = build_envelopes(campaign, workers=Here())
    assert np.isnan(per_run(_last, apart.select([0]))).tolist() == [True]


def test_steps_that_a_worker_dropped_or_never_had_are_made_again(campaign):
    apart = build_envelopes(campaign, workers=Here())
    expected = per_run(_last, apart)
    worker_steps._steps.clear()
    assert np.array_equal(per_run(_last, apart), expected, equal_nan=True)
    worker_steps._steps.clear()
    with limited_memory(64):
        assert np.array_equal(per_run(_last, apart), expected, equal_nan=True)
        assert 0 < len(worker_steps._steps) < len(apart.held.ranges)


def test_faults_that_workers_find_are_named_here(tmp_path):
    bad = [run | {"trace": [(1, -5.0)]} if run["seed"] in (2, 4) else run for run in RUNS]
    campaign = open_campaign(Campaign.from_runs(bad).save(tmp_path / "bad"))
    with pytest.raises(ObjectiveError) as apart:
        build_envelopes(campaign, workers=Here())
    with pytest.raises(ObjectiveError) as whole:
        build_envelopes(campaign)
    assert apart.value.message == whole.value.message
    unchecked = [run | {"trace": [(*event, None) for event in run["trace"]]} for run in RUNS]
    campaign = open_campaign(Campaign.from_runs(unchecked).save(tmp_path / "unchecked"))
    with pytest.raises(UncheckedError, match="15 unchecked in 5 runs"):
        build_envelopes(campaign, workers=Here())
