"""The final score always lies inside the bounds: random runs cut at random moments, with exact rationals beside."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import strategies
from gapline.live.bounds import LEAST, OpenRun, bound_means, bound_runs, bound_unbegun, has_ends, is_decided
from gapline.scoring.kernels import parse_kernel, register_kernel
from gapline.scoring.user_functions import as_weight

KERNELS = strategies.KERNELS
WEIGHTS = ("uniform", "steps:0=1,2=0.25,6=3", "early-log:0.5", "end-log:0.5")
HORIZON = 10.0
values = st.floats(0.5, 1000.0) | st.integers(1, 60).map(float)
stamps = st.integers(0, 40).map(lambda k: k / 4) | st.floats(0, HORIZON)


@st.composite
def cut_runs(draw):
    """Draw a whole run, the moment up to which it is known, its reference and the best value that is possible."""
    trace = draw(st.lists(st.tuples(stamps, values, st.just(True)), max_size=12))
    steps = oracle.envelope(trace, HORIZON)
    known = draw(stamps)
    reference = draw(values)
    lowest = min([float(z) for _, z in steps], default=1000.0)
    best = draw(st.none() | st.floats(0.25, 1.0).map(lambda share: share * lowest))
    return trace, steps, known, reference, best


def open_run(steps, known, reference, best, *, checked=True):
    seen = [(float(t), float(z)) for t, z in steps if t <= Fraction(known)]
    time, objective = (np.array([step[k] for step in seen]) for k in (0, 1))
    return OpenRun(time, objective, known, HORIZON, reference, best, checked)


def jumped(steps, known, value):
    """The steps of a run that jumps to a value at a moment, in rationals."""
    kept = [(t, z) for t, z in steps if t <= Fraction(known)]
    return oracle.envelope([(t, z, True) for t, z in kept] + [(known, value, True)], HORIZON)


@given(run=cut_runs(), kernel=st.sampled_from(KERNELS), weight=st.sampled_from(WEIGHTS))
def test_the_final_score_lies_inside_whatever_happens_after_the_cut(run, kernel, weight):
    _, steps, known, reference, best = run
    final = oracle.integral(steps, reference, HORIZON, kernel=kernel, weight=weight)
    ((bounds,),) = bound_runs(
        [open_run(steps, known, reference, best)], kernels=[parse_kernel(kernel)], weight=as_weight(weight)
    )
    assert Fraction(bounds.low) <= final <= Fraction(bounds.high)


@given(run=cut_runs(), kernel=st.sampled_from(KERNELS), weight=st.sampled_from(WEIGHTS))
def test_the_ends_are_those_of_the_definitions(run, kernel, weight):
    """Holding the incumbent, jumping to the reference, jumping to the best: each scored in exact rationals."""
    _, steps, known, reference, best = run
    seen = [step for step in steps if step[0] <= Fraction(known)]
    ((bounds,),) = bound_runs(
        [open_run(steps, known, reference, best)], kernels=[parse_kernel(kernel)], weight=as_weight(weight)
    )

    def score(some):
        return oracle.integral(some, reference, HORIZON, kernel=kernel, weight=weight)

    held, reached = score(seen), score(jumped(steps, known, reference))
    assert oracle.close(bounds.held, held)
    assert oracle.close(bounds.to_reference, reached)
    least = score(jumped(steps, known, LEAST if best is None else best))
    ends = [held, least, *([reached] if kernel == "berthold" else [])]
    assert oracle.close(bounds.low, min(ends))
    assert oracle.close(bounds.high, max(ends))


@given(run=cut_runs(), kernel=st.sampled_from(KERNELS))
def test_the_ends_close_in_as_more_is_known(run, kernel):
    _, steps, known, reference, best = run
    later = (known + HORIZON) / 2
    early, late = (
        bound_runs(
            [open_run(steps, moment, reference, best)], kernels=[parse_kernel(kernel)], weight=as_weight("uniform")
        )
        for moment in (known, later)
    )
    slack = 1e-12
    assert early[0][0].low <= late[0][0].low + slack
    assert late[0][0].high <= early[0][0].high + slack


@given(run=cut_runs(), kernel=st.sampled_from(KERNELS), verdicts=st.lists(st.booleans(), min_size=12, max_size=12))
def test_whatever_the_checker_says_of_claims_the_score_lies_inside(run, kernel, verdicts):
    """Candidates count for nothing, or for another value than was claimed, down to the best that is possible."""
    trace, claimed, known, reference, best = run
    judged = []
    for (time, value, _), valid in zip(trace, verdicts, strict=False):
        lowest = value if best is None else best
        judged.append((time, lowest if valid and time <= known else value, valid))
    final = oracle.integral(oracle.envelope(judged, HORIZON), reference, HORIZON, kernel=kernel)
    ((bounds,),) = bound_runs(
        [open_run(claimed, known, reference, best, checked=False)],
        kernels=[parse_kernel(kernel)],
        weight=as_weight("uniform"),
    )
    assert Fraction(bounds.low) <= final <= Fraction(bounds.high)
    assert bounds.claimed[0] >= bounds.low
    assert bounds.claimed[1] <= bounds.high


@given(run=cut_runs(), weight=st.sampled_from(WEIGHTS))
def test_the_score_so_far_is_that_of_the_shorter_horizon(run, weight):
    _, steps, known, reference, best = run
    assume(known > 1)
    seen = [step for step in steps if step[0] <= Fraction(known)]
    ((bounds,),) = bound_runs(
        [open_run(steps, known, reference, best)], kernels=[parse_kernel("squeezed")], weight=as_weight(weight)
    )
    assert oracle.close(bounds.so_far, oracle.integral(seen, reference, known, weight=weight))


@given(run=cut_runs(), kernel=st.sampled_from(KERNELS))
def test_a_run_that_has_not_begun_lies_between_the_ends_of_its_kernel(run, kernel):
    _, steps, _, reference, best = run
    low, high = bound_unbegun(best, reference, parse_kernel(kernel))
    final = oracle.integral(steps, reference, HORIZON, kernel=kernel)
    assert Fraction(low) - Fraction(1e-12) <= final <= Fraction(high) + Fraction(1e-12)


def test_at_the_horizon_nothing_is_open_any_more():
    run = OpenRun(np.array([2.0]), np.array([30.0]), HORIZON, HORIZON, 10.0, None)
    ((bounds,),) = bound_runs([run], kernels=[parse_kernel("squeezed")], weight=as_weight("uniform"))
    assert bounds.low == pytest.approx(0.2 + 0.8 * 0.5, abs=1e-13)
    assert bounds.high == pytest.approx(bounds.low, abs=1e-13)


def test_a_kernel_of_the_users_own_and_the_raw_gap_have_no_ends():
    own = register_kernel("twice the ratio", lambda z, star: 2 * z / star, before=9.0, replace=True)
    assert not has_ends(own)
    run = OpenRun(np.array([0.0]), np.array([30.0]), 4.0, HORIZON, 10.0, None)
    kernels = [own, parse_kernel("raw")]
    (found,) = bound_runs([run], kernels=kernels, weight=as_weight("uniform"))
    assert [(one.low, one.high) for one in found] == [(None, None), (None, None)]
    assert found[1].held == 2.0
    assert bound_unbegun(None, 10.0, own) is None


def test_a_logarithmic_weight_has_no_score_before_its_cutoff():
    run = OpenRun(np.array([0.0]), np.array([30.0]), 0.25, HORIZON, 10.0, None)
    ((bounds,),) = bound_runs([run], kernels=[parse_kernel("squeezed")], weight=as_weight("early-log:0.5"))
    assert bounds.so_far is None
    assert bounds.held == pytest.approx(0.5)


def test_means_lie_between_the_means_of_the_ends_and_close_when_all_is_known():
    low, high, weights = np.array([0.0, 0.2]), np.array([0.0, 0.6]), np.array([0.5, 0.5])
    assert bound_means(low, high, weights) == pytest.approx((0.1, 0.3))
    assert bound_means(low, low, weights) == (0.1, 0.1)
    assert not is_decided((0.1, 0.3), (0.3, 0.4))
    assert is_decided((0.5, 0.6), (0.3, 0.4))


def test_of_no_runs_there_are_no_bounds():
    assert bound_runs([], kernels=[parse_kernel("squeezed")], weight=as_weight("uniform")) == []


def test_bertholds_gap_is_least_at_the_reference_and_rises_on_either_side():
    """Held at 20 it is 1/2 to the end, at 5 it is 1/2 again; in between it may be 0 from the fifth second on."""
    run = OpenRun(np.array([0.0]), np.array([20.0]), 5.0, HORIZON, 10.0, 5.0)
    ((bounds,),) = bound_runs([run], kernels=[parse_kernel("berthold")], weight=as_weight("uniform"))
    assert (bounds.low, bounds.high) == pytest.approx((0.25, 0.5))
