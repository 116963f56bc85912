import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.envelope.build import scored_objectives
from gapline.report.page.data import page_data
from gapline.report.page.others import MOST_CANDIDATES, add_other_candidates
from report.report_studies import report_of


def test_candidates_beyond_the_limit_are_counted(monkeypatch, study):
    """A page that cannot hold every candidate keeps the telling ones and says how many it left out."""
    from gapline.report.page import others
    from gapline.report.page.encode import Block, Grid

    assert MOST_CANDIDATES > 1000
    monkeypatch.setattr(others, "MOST_CANDIDATES", 10)
    monkeypatch.setattr(others, "LEAST_PER_RUN", 1)
    block, order = Block(), np.arange(len(study.envelopes))
    omitted = add_other_candidates(block, study, order, Grid(9, exact=False), [Grid(9, exact=False)] * len(order))
    kept = {column["name"]: column["length"] for column in block.columns}
    runs = study.envelopes.runs
    assert kept["time"] + omitted.sum() == int((runs["captured"] - runs["steps"]).sum())
    assert omitted.sum() > 0


@pytest.mark.parametrize("transform", ["none", "shift:10", "hierarchical:100", "hierarchical:10n"])
def test_candidates_are_on_the_scale_that_is_scored(transform):
    runs = pl.DataFrame(
        {"arm": ["a", "b"], "instance": ["i", "i"], "seed": [1, 1], "horizon": [9.0, 9.0], "size": [7.0, 7.0]}
    ).with_columns(first=pl.Series([0, 3]), count=pl.Series([3, 2]))
    secondary = np.array([50.0, 40.0, 30.0, 60.0, 20.0])
    campaign = gl.Campaign.from_arrays(
        runs=runs,
        time=np.array([1.0, 2.0, 3.0, 1.0, 2.0]),
        objective=secondary,
        verdict=np.array([1, 0, 1, 1, 1], np.uint8),
        primary=np.array([3.0, 3.0, 2.0, 3.0, 2.0]),
        secondary=secondary,
    )
    snapshot = gl.Snapshot.from_entries(
        {"i": {"value": 220.0, "primary": 2.0, "secondary": 20.0}}, name="known", store={"name": "s"}
    )
    study = report_of(campaign, snapshot, transform=transform)
    scored = scored_objectives(study.campaign, study.envelopes.scale)
    assert scored[campaign.verdict == 1].tolist() == study.envelopes.objective.tolist()
    references = page_data(study).head["snapshots"][0]["references"]
    assert references == study.scores[0].frame["reference"].unique().to_list()
