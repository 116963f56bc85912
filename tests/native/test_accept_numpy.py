"""NumPy accepts what compiled code accepts: steps, counts, faults and the best, to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from both_paths import assert_same_bits, frozen
from gapline.native.accept import COUNTS, _accept_slices, _move_down
from gapline.native.accept_numpy import places_of_steps

HORIZON = 10.0
# Out of order, missing and negative stamps too: they are faults that are named later, and by both the same.
times = strategies.stamps(HORIZON) | st.sampled_from([math.nan, -1.0, -0.0, math.inf])
objectives = st.integers(1, 9).map(float) | st.sampled_from([math.nan, math.inf, -math.inf, -3.0, 0.0, -0.0, 5e-324])
candidates = st.tuples(times, objectives, st.sampled_from([0, 1, 1, 1, 2, 3]))
limits = st.sampled_from([HORIZON, HORIZON / 8, math.inf])


@given(
    st.lists(st.tuples(st.lists(candidates, max_size=20), limits, st.booleans()), max_size=8),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_numpy_accepts_what_compiled_code_does(runs, count_unchecked, signed, data):
    traces = [sorted(trace) if in_order else trace for trace, _, in_order in runs]
    count = [len(trace) for trace in traces]
    first = np.cumsum([0, *count])[:-1]
    # The runs may lie in any order in the columns.
    order = data.draw(st.permutations(range(len(runs))))
    low = data.draw(st.integers(0, len(runs)))
    rows = [row for trace in traces for row in trace]
    size, total = len(runs), len(rows)
    out_time, out_objective = np.zeros(total), np.zeros(total)
    assert_same_bits(
        _accept_slices, low, size, 0,
        frozen([first[k] for k in order], np.int64), frozen([count[k] for k in order], np.int64),
        frozen([runs[k][1] for k in order]), frozen([row[0] for row in rows]), frozen([row[1] for row in rows]),
        frozen([row[2] for row in rows], np.int8), count_unchecked, -np.inf if signed else 0.0,
        out_time, out_objective, *found_of(size), tidy=clear_rest,
    )  # fmt: skip


def found_of(runs):
    """Room for what is found of so many runs: first step, counts, last verdict, place, value and time of the best."""
    places = [np.zeros(runs, np.int64) for _ in ("first", *COUNTS)]
    best = np.zeros(runs, np.int64), np.zeros(runs), np.zeros(runs)
    return *places, np.zeros(runs, np.int8), *best, np.zeros(runs, np.bool_)


def clear_rest(steps, arguments):
    """The steps lie at the front; what is behind them is given back, whatever it says."""
    for column in arguments[11:13]:
        column[steps:] = 0.0


@given(st.lists(st.floats(0, 9), min_size=8, max_size=8), st.integers(1, 4), st.integers(0, 4))
def test_a_part_is_moved_down_over_itself_alike(values, source, size):
    assert_same_bits(_move_down, np.array(values), source, source - 1, size)


@pytest.mark.parametrize("verdicts", [[1], [0, 1, 1, 1, 1, 2, 3]])
def test_a_thousand_runs_of_every_length_are_accepted_alike(verdicts):
    generator = np.random.Generator(np.random.PCG64(1))
    count = generator.integers(0, 70, 1000)
    first = np.cumsum(count) - count
    total = int(count.sum())
    time = np.concatenate([np.sort(generator.integers(0, 12, size) / 2.0) for size in count.tolist()])
    objective = generator.integers(1, 1000, total) / 7.0
    verdict = generator.choice(np.array(verdicts, np.int8), total)
    assert_same_bits(
        _accept_slices, 0, 1000, 0, frozen(first, np.int64), frozen(count, np.int64), frozen(np.full(1000, 5.0)),
        frozen(time), frozen(objective), frozen(verdict, np.int8), False, 0.0, np.zeros(total), np.zeros(total),
        *found_of(1000), tidy=clear_rest,
    )  # fmt: skip


stamped = st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.booleans()), max_size=6), max_size=5)


@given(stamped)
def test_steps_of_all_runs_at_once_are_those_of_each_run(traces):
    """Strictly below everything accepted before in the same run; of equal stamps the last such."""
    traces = [sorted(trace, key=lambda event: event[0]) for trace in traces]
    marked = []
    for trace in traces:
        best, steps = np.inf, {}
        for place, (time, value, valid) in enumerate(trace):
            if valid and value < best:
                best, steps[time] = value, place
        marked += [place in steps.values() for place in range(len(trace))]
    events = [event for trace in traces for event in trace]
    run = np.repeat(np.arange(len(traces)), [len(trace) for trace in traces]).astype(np.int64)
    count = np.array([len(trace) for trace in traces], np.int64)
    time, value, valid = (np.array([event[k] for event in events], float) for k in range(3))
    found = places_of_steps(time, np.where(valid, value, np.inf), run, np.cumsum(count) - count, count)
    assert found.tolist() == np.flatnonzero(marked).tolist()
