"""The classical measures side by side: each column is what its own function says."""

import polars as pl
import pytest

import gapline as gl
from gapline.campaign.assembly import RunTrace, campaign_from_traces
from gapline.measures.summary_table import neighbours
from measures.timed_runs import SNAPSHOT, envelopes_of


def test_every_measure_of_two_arms_by_hand():
    table = neighbours(envelopes_of({("a", "i"): [2, None], ("b", "i"): [4, 4]}), SNAPSHOT)
    assert table["arm"].to_list() == ["a", "b"]
    assert table["success_rate"].to_list() == [0.5, 1.0]
    # a spends 2 s and its whole 10 s for one success; b 4 s for each.
    assert table["ert"].to_list() == [12.0, 4.0]
    assert table["par10"].to_list() == [51.0, 4.0]
    assert (table["fastest"].to_list(), table["solved"].to_list()) == ([0.0, 1.0], [1.0, 1.0])
    assert table["final_q25"].to_list() == [0.0, 0.0]
    assert table["final_q75"].to_list() == [None, 0.0]
    assert table["hypervolume"].to_list() == pytest.approx([0.4, 0.6])
    assert "primal_dual" not in table.columns


def test_dual_bounds_bring_their_own_column():
    trace = RunTrace(
        [0.0, 5.0], [20.0, 10.0], verdict=[1, 1], horizon=10.0, bound=[10.0, 10.0], arm="a", instance="i", seed=1
    )
    campaign = campaign_from_traces([trace])
    table = neighbours(gl.build_envelopes(campaign), SNAPSHOT, campaign=campaign)
    assert table["primal_dual"].to_list() == [0.25]
    assert table.select(pl.all().is_null().any()).row(0).count(True) == 0
