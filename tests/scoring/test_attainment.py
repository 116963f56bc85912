"""Attainment curves, against the oracle."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import oracle
import strategies
from gapline.errors import HorizonError
from scoring.prepared_runs import prepared, steps_by_key


@given(
    strategies.campaigns(horizon=30.0, objectives=st.integers(8, 14).map(float)),
    st.sampled_from(["panel", "instance", "run"]),
)
def test_attainment_curves_are_the_oracles(drawn, weighting):
    envelopes, snapshot = prepared(drawn)
    curve = gl.attainment_curve(envelopes, snapshot, goals=[0.25], weighting=weighting, by=[]).frame
    steps = steps_by_key(drawn[0])
    cells = list(envelopes.runs.select("panel", "instance", "arm", "seed").iter_rows())
    for time, value in curve.select("time", "value").iter_rows():
        hit = []
        for panel, instance, arm, seed in cells:
            when = oracle.hitting_time(steps[arm, instance, seed], drawn[1][instance], 0.25)
            hit.append((panel, instance, Fraction(int(when is not None and when <= Fraction(time)))))
        assert oracle.close(value, oracle.mean(hit, weighting=weighting))
    assert curve["time"][0] == 0.0
    assert curve["value"].is_sorted()


def test_attainment_on_relative_time_where_horizons_differ():
    runs = [{"arm": "a", "instance": f"i{h}", "seed": 1, "horizon": h, "trace": [(h / 4, 10.0)]} for h in (10, 40)]
    envelopes, snapshot = prepared((runs, {"i10": 10.0, "i40": 10.0}))
    with pytest.raises(HorizonError, match="expected one horizon, got 10, 40"):
        gl.attainment_curve(envelopes, snapshot)
    assert gl.attainment_curve(envelopes, snapshot, relative=True).frame["time"].to_list() == [0.0, 0.25]
