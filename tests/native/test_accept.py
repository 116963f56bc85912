"""Which candidates become steps: stamps, horizon and equality."""

import math

import numpy as np
import polars as pl
import pytest

import gapline as gl
from envelope.single_runs import one_run, steps_of
from gapline.contract.tables import VerdictCode
from gapline.errors import ObjectiveError, TraceError

INVALID, VALID, BOUND = VerdictCode.INVALID, VerdictCode.VALID, VerdictCode.BOUND


def columns(time, objective, verdict):
    """Return a campaign of one run with a horizon of 30 from its columns, which may hold what no reader would write."""
    runs = pl.DataFrame({"arm": ["a"], "instance": ["i"], "seed": [1], "horizon": [30.0], "first": [0]})
    return gl.Campaign.from_arrays(
        runs=runs.with_columns(count=len(time)),
        time=np.array(time),
        objective=np.array(objective),
        verdict=np.array(verdict, np.uint8),
    )


def test_a_candidate_at_the_horizon_counts_and_the_next_double_is_late():
    after = math.nextafter(30.0, 31)
    envelopes = gl.build_envelopes(one_run([(30.0, 5.0), (after, 4.0)]))
    assert steps_of(envelopes) == [(30.0, 5.0)]
    assert envelopes.runs["late"].to_list() == [1]


def test_equal_stamps_keep_the_best_whatever_their_order():
    for trace in ([(2, 9), (2, 7), (2, 8)], [(2, 7), (2, 8), (2, 9)], [(2, 9), (2, 8), (2, 7)]):
        assert steps_of(gl.build_envelopes(one_run(trace))) == [(2.0, 7.0)]


def test_an_improvement_of_one_bit_is_a_step_and_equality_is_none():
    better = math.nextafter(10.0, 0)
    assert steps_of(gl.build_envelopes(one_run([(1, 10.0), (2, 10.0), (3, better)]))) == [(1.0, 10.0), (3.0, better)]
    # Also beside a rejected candidate, where every verdict has to be looked at.
    trace = [(1, 10.0, True), (2, 10.0, True), (3, better, True), (4, 9.0, False)]
    assert steps_of(gl.build_envelopes(one_run(trace))) == [(1.0, 10.0), (3.0, better)]


@pytest.mark.parametrize(
    ("trace", "terminal"),
    [
        ([], None),
        ([(1, 9, True), (2, 8, False)], False),
        ([(1, 9, False), (2, 8, True)], True),
        ([(1, 9, True), (31, 8, False)], True),
        ([(31, 8, True)], None),
    ],
)
def test_terminal_candidate_is_the_last_in_the_horizon(trace, terminal):
    assert gl.build_envelopes(one_run(trace)).runs["terminal_valid"].to_list() == [terminal]


def test_the_terminal_candidate_is_valid_where_the_solver_is_trusted_and_unknown_where_it_is_left_out():
    run = one_run([(1, 9, True), (2, 8, None)])
    for unchecked, terminal in (("solver", True), ("leave-out", None)):
        assert gl.build_envelopes(run, unchecked=unchecked).runs["terminal_valid"].to_list() == [terminal]


def test_each_run_has_a_best_of_its_own():
    run = {"arm": "a", "instance": "i", "horizon": 30.0}
    runs = [run | {"seed": 1, "trace": [(1, 9.0), (2, 7.0)]}, run | {"seed": 2, "trace": [(3, 8.0), (4, 6.0)]}]
    runs.append(run | {"seed": 3, "trace": []})
    best = gl.build_envelopes(gl.Campaign.from_runs(runs), transform="shift:1").runs
    assert best.select("best", "best_raw", "best_time").rows() == [(8.0, 7.0, 2.0), (7.0, 6.0, 4.0), (None, None, None)]


@pytest.mark.parametrize(("time", "objective"), [(1.0, np.inf), (1.0, np.nan), (1.0, 0.0), (-1.0, 9.0)])
def test_a_valid_candidate_needs_a_positive_finite_objective_and_a_stamp_of_zero_or_more(time, objective):
    with pytest.raises(ObjectiveError, match=f"a/i/1 has {objective} at time {time}"):
        gl.build_envelopes(columns([time], [objective], [VALID]))
    # Rejected, it is counted and nothing else.
    rejected = gl.build_envelopes(columns([time], [objective], [INVALID])).runs
    assert rejected.select("rejected", "steps").row(0) == (1, 0)


@pytest.mark.parametrize("objective", [np.inf, np.nan, 0.0])
def test_a_bad_objective_is_found_in_a_long_run_too(objective):
    """Runs of more than 32 candidates take another loop."""
    times, objectives = np.arange(1.0, 29.0, 0.7), np.full(40, 9.0)
    objectives[20] = objective
    with pytest.raises(ObjectiveError, match="a/i/1 has"):
        gl.build_envelopes(columns(times, objectives, [VALID] * 40))


def test_a_bound_is_no_candidate_whatever_number_stands_beside_it():
    envelopes = gl.build_envelopes(
        columns([0.0, 1.0, 2.0, 31.0, 32.0], [1.0, 9.0, 1.0, 8.0, 1.0], [BOUND, VALID, BOUND, VALID, BOUND])
    )
    assert steps_of(envelopes) == [(1.0, 9.0)]
    assert envelopes.runs.select("captured", "rejected", "late", "terminal_valid").row(0) == (2, 0, 1, True)


def test_a_stamp_after_a_missing_one_is_out_of_order():
    with pytest.raises(TraceError, match="backwards in a/i/1"):
        gl.build_envelopes(columns([1.0, np.nan, 2.0], [9.0, 8.0, 7.0], [VALID, INVALID, VALID]))
