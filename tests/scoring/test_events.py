"""Steps of a group of runs in order of time."""

import numpy as np
import pytest

import gapline as gl
from gapline.scoring.events import collect_events, in_threads
from gapline.scoring.kernels import parse_kernel


def envelopes():
    traces = {1: [(1, 30.0), (6, 10.0)], 2: [(3, 20.0), (6, 15.0)], 3: []}
    return gl.build_envelopes(
        gl.Campaign.from_runs(
            [
                {"arm": "a", "instance": "i", "seed": seed, "horizon": 10 * seed, "trace": trace}
                for seed, trace in traces.items()
            ]
        )
    )


def test_steps_stand_in_order_of_time_and_equal_stamps_in_the_order_of_the_runs():
    events = collect_events(envelopes(), np.full(3, 10.0), np.arange(3))
    assert (events.runs, events.run.tolist()) == (3, [0, 1, 0, 1])
    assert events.time.tolist() == [1.0, 3.0, 6.0, 6.0]
    assert events.gaps().tolist() == [2.0, 1.0, 0.0, 0.5]
    assert events.gaps(parse_kernel("maxform")).tolist() == pytest.approx([2 / 3, 1 / 2, 0.0, 1 / 3])


def test_relative_time_is_a_share_of_each_runs_own_horizon():
    events = collect_events(envelopes(), np.full(3, 10.0), np.arange(3), relative=True)
    assert events.time.tolist() == [0.1, 0.15, 0.3, 0.6]
    assert events.run.tolist() == [0, 1, 1, 0]


def test_runs_are_numbered_inside_the_group_that_is_asked_for():
    events = collect_events(envelopes(), np.array([10.0, 5.0, 1.0]), np.array([2, 1]))
    assert (events.runs, events.run.tolist(), events.reference.tolist()) == (2, [1, 1], [5.0, 5.0])


def test_results_of_threads_come_in_the_order_of_the_items():
    assert in_threads(lambda n: n * n, range(50)) == [n * n for n in range(50)]
