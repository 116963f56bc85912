"""Final gaps, hitting times and attainment curves, against the oracle."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import oracle
import strategies
from both_paths import frozen
from gapline.errors import UsageError
from gapline.scoring.endpoints import _hits, final_gaps
from gapline.scoring.scores import goal_name
from scoring.prepared_runs import prepared, steps_by_key

GOALS = (0.01, 0.5, -0.25)


@given(strategies.campaigns(objectives=strategies.positives))
def test_final_gaps_are_the_oracles(drawn):
    frame = gl.score(*prepared(drawn)).frame
    steps = steps_by_key(drawn[0])
    for row in frame.iter_rows(named=True):
        mine, reference = steps[row["arm"], row["instance"], row["seed"]], drawn[1][row["instance"]]
        exact = oracle.final_gap(mine, reference)
        if exact is not None and exact > 1e308:
            assert row["final_gap"] == math.inf or oracle.close(row["final_gap"], exact)
        else:
            assert oracle.close(row["final_gap"], exact)
        last = mine[-1][1] if mine else None
        assert oracle.close(row["final_squeezed"], oracle.gap("squeezed", last, reference), within=1e-15)
        assert row["first_time"] == (float(mine[0][0]) if mine else None)


@given(strategies.campaigns())
def test_hitting_times_are_the_oracles(drawn):
    frame = gl.score(*prepared(drawn), goals=GOALS).frame
    steps = steps_by_key(drawn[0])
    for row in frame.iter_rows(named=True):
        mine, reference = steps[row["arm"], row["instance"], row["seed"]], drawn[1][row["instance"]]
        for goal in GOALS:
            # One rounding of (goal + tolerance) × z* is the only thing between the two.
            edge = Fraction(goal) + Fraction(oracle.TOLERANCE)
            if any(abs(z / Fraction(reference) - 1 - edge) < 1e-15 for _, z in mine):
                continue
            exact = oracle.hitting_time(mine, reference, goal)
            assert row[f"hit:{goal:g}"] == (math.inf if exact is None else float(exact))


def test_a_goal_met_exactly_is_attained_and_censored_runs_stay_in_the_denominator():
    runs = [
        {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(2, 12.5)]},
        {"arm": "a", "instance": "i", "seed": 2, "horizon": 10, "trace": [(3, 12.5 * (1 + 1e-8))]},
        {"arm": "a", "instance": "i", "seed": 3, "horizon": 10, "trace": [(10, 11.0)]},
        {"arm": "a", "instance": "i", "seed": 4, "horizon": 10, "trace": []},
    ]
    envelopes, snapshot = prepared((runs, {"i": 10.0}))
    assert gl.score(envelopes, snapshot, goals=[0.25]).frame["hit:0.25"].to_list() == [2.0, np.inf, 10.0, np.inf]
    rows = gl.attainment_curve(envelopes, snapshot, goals=[0.25]).frame.rows()
    assert rows == [("a", 0.25, 0.0, 0.0), ("a", 0.25, 2.0, 0.25), ("a", 0.25, 10.0, 0.5)]


@pytest.mark.parametrize("goal", [-1.0, -2.0, math.nan, math.inf])
def test_a_goal_that_nothing_can_attain_is_refused(goal):
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": []}]
    with pytest.raises(UsageError, match="goal: expected a raw gap above -1"):
        gl.score(*prepared((runs, {"i": 10.0})), goals=[goal])


@given(st.integers(1, 10**6), st.integers(-50, 200), st.integers(-9, 9), st.integers(-50, 200))
def test_a_goal_is_attained_as_the_decimals_say_in_any_unit(whole, percent, exponent, goal):
    """z* whole, z at a whole percentage above it: attained where the percentage is at most the goal's."""
    z, reference = float(f"{whole * (100 + percent)}e{exponent - 2}"), float(f"{whole}e{exponent}")
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(1, z)]}]
    row = gl.score(*prepared((runs, {"i": reference})), goals=[goal / 100]).frame.row(0, named=True)
    assert (row[goal_name(goal / 100)] == 1.0) == (percent <= goal)
    assert row["beaten"] == (percent < 0)


def test_two_runs_with_the_same_printed_gap_attain_the_same_goal():
    """101 against 100 attained 1 %, and 10.1 against 10 did not."""
    runs = [
        {"arm": "a", "instance": name, "seed": 1, "horizon": 10, "trace": [(1, z)]}
        for name, z in (("i", 101.0), ("j", 10.1), ("k", 1.01))
    ]
    frame = gl.score(*prepared((runs, {"i": 100.0, "j": 10.0, "k": 1.0})), goals=[0.01]).frame
    assert frame["hit:0.01"].to_list() == [1.0, 1.0, 1.0]


def test_the_tolerance_is_the_callers():
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(1, 10.2), (5, 9.95)]}]
    envelopes, snapshot = prepared((runs, {"i": 10.0}))
    strict = gl.score(envelopes, snapshot, kernels=["dimacs:1.03"], goals=[0.01]).frame.row(0, named=True)
    loose = gl.score(envelopes, snapshot, kernels=["dimacs:1.03"], goals=[0.01], tolerance=0.0101).frame
    assert (strict["hit:0.01"], strict["beaten"]) == (5.0, True)
    assert (loose["hit:0.01"][0], loose["beaten"][0]) == (1.0, False)
    # 10.2 is below 10.3, but not by more than one percent: ten seconds of 0.03 but for the last five of -0.005.
    assert loose["dimacs:1.03"][0] == pytest.approx((5 * 0.03 - 5 * 0.005) / 10)
    with pytest.raises(UsageError, match="tolerance: expected a relative difference"):
        gl.score(envelopes, snapshot, tolerance=1.0)


def test_a_goal_met_to_the_last_bit_is_attained_without_any_tolerance():
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10.0, "trace": [(1, 200.0), (3, 150.0)]}
    envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]))
    snapshot = gl.Snapshot.from_values({"i": 100.0}, name="mine")
    assert gl.score(envelopes, snapshot, goals=[0.5], tolerance=0.0).frame["hit:0.5"].to_list() == [3.0]


def test_an_empty_run_has_no_raw_final_gap_and_the_worst_squeezed_one():
    runs = [
        {"arm": "a", "instance": "i", "seed": s, "horizon": 10.0, "trace": t} for s, t in ((1, []), (2, [(1, 20.0)]))
    ]
    raw, squeezed = final_gaps(gl.build_envelopes(gl.Campaign.from_runs(runs)), np.array([10.0, 10.0]))
    assert math.isnan(raw[0])
    assert (raw[1], squeezed.tolist()) == (1.0, [1.0, pytest.approx(1 / 3)])


def test_goals_and_final_gaps_of_references_that_are_not_positive():
    """Against -100 a goal of 1 % is -99; against 0 only 0 attains any, and nothing else has a relative distance."""
    traces = {"minus": [(1, -50.0), (3, -99.0)], "zero": [(2, 5.0)], "none": [(4, 0.0)]}
    runs = [{"arm": "a", "instance": i, "seed": 1, "horizon": 10.0, "trace": t} for i, t in traces.items()]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs), signed=True)
    snapshot = gl.Snapshot.from_values({"minus": -100.0, "zero": 0.0, "none": 0.0}, name="mine")
    scores = gl.score(envelopes, snapshot, kernels=["berthold"], goals=[0.01])
    frame = scores.frame
    assert dict(frame.select("instance", "hit:0.01").iter_rows()) == {"minus": 3.0, "none": 4.0, "zero": math.inf}
    assert dict(frame.select("instance", "final_gap").iter_rows()) == {"minus": 0.01, "none": 0.0, "zero": None}
    assert frame["final_squeezed"].null_count() == 3
    assert "runs that end apart from a reference of 0, so without a relative final gap: 1" in scores.notes
    with pytest.raises(UsageError, match="kernel squeezed: expected positive objectives, got a scale of any sign"):
        gl.score(envelopes, snapshot)


@given(
    st.lists(st.lists(strategies.positives, unique=True, max_size=9), max_size=6),
    st.lists(st.sampled_from([0.0, 0.01, 0.5, -0.25, 1e300]), max_size=4),
    st.data(),
)
def test_the_first_step_that_attains_a_goal_is_found(runs, goals, data):
    objective = [value for run in runs for value in sorted(run, reverse=True)]
    count = np.array([len(run) for run in runs], np.int64)
    first = np.cumsum(count) - count
    # A reference may lie at a step, and under another transform below zero.
    references = data.draw(
        st.lists(strategies.positives | st.sampled_from([-7.0, *objective]), min_size=len(runs), max_size=len(runs))
    )
    table = pl.DataFrame({"first": first, "count": count})
    envelopes = SimpleNamespace(runs=table, time=np.arange(len(objective)) / 3.0, objective=frozen(objective))
    found = _hits(envelopes, np.array(references, np.float64), allowed=np.array(goals, np.float64))
    for row, (reference, low, size) in enumerate(zip(references, first.tolist(), count.tolist(), strict=True)):
        for column, goal in enumerate(goals):
            steps = (k / 3.0 for k in range(low, low + size) if objective[k] - reference <= goal * abs(reference))
            assert found[row, column] == next(steps, math.inf)
