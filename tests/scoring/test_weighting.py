"""How much each run counts."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import gapline as gl
import strategies
from gapline.errors import UsageError
from gapline.scoring.weighting import run_weights


@given(strategies.campaigns())
def test_weights_of_each_group_sum_to_one(drawn):
    table = gl.Campaign.from_runs(drawn[0]).runs
    for weighting in ("panel", "instance", "run"):
        weights = run_weights(table, by=["arm"], weighting=weighting)
        sums = table.with_columns(w=pl.Series(weights)).group_by("arm").agg(pl.col("w").sum())["w"]
        assert np.allclose(sums, 1.0, rtol=0, atol=1e-14)
    with pytest.raises(UsageError, match="weighting: expected panel, instance, run"):
        run_weights(table, by=[], weighting="panels")


def test_one_name_in_two_panels_is_two_instances():
    runs = pl.DataFrame({"arm": ["a"] * 3, "panel": ["p", "q", "q"], "instance": ["i", "i", "i"]})
    assert run_weights(runs, by=["arm"], weighting="instance").tolist() == [0.5, 0.25, 0.25]
