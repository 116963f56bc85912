"""Which candidates become steps: stamps, horizon and equality."""

import math

import pytest

import gapline as gl
from envelope.single_runs import one_run, steps_of


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
