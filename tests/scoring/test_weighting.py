"""How much each run counts."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import strategies
from gapline.errors import UsageError
from gapline.scoring.weighting import run_weights, share_steps


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


def slow_shares(values, weights):
    """Add up the weights of what is reached, by value and then by weight."""
    found, total = {}, 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        total += weight
        if np.isfinite(value):
            found[value] = min(total, 1.0)
    return found


@given(st.lists(st.tuples(st.sampled_from([0.5, 1.0, 2.0, np.inf]), st.sampled_from([0.1, 0.07, 0.01]))), st.booleans())
def test_shares_equal_those_of_adding_one_after_the_other(runs, alike):
    values, weights = np.array([value for value, _ in runs]), np.array([0.1 if alike else weight for _, weight in runs])
    x, share = share_steps(values, weights)
    assert dict(zip(x.tolist(), share.tolist(), strict=True)) == slow_shares(values.tolist(), weights.tolist())
