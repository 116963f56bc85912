"""Gates: the named questions, what they state of themselves, and that it holds on traces of a real solver."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulations.gates import gate_errors, real_scores

from gapline.errors import GaplineError, UsageError
from gapline.statistics.estimate import Method, panel_equal
from gapline.study.gate import GateQuestion, judge_gate, simulate_ends

STRATA = np.repeat([0, 1], 6)


def estimate(shift=0.0, *, spread=0.01, seed=1, strata=STRATA):
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, spread, len(strata))
    centred = noise - np.array([noise[strata == stratum].mean() for stratum in strata])
    return panel_equal(centred + shift, strata, draws=499)


def gate(shift, question, limit, **given):
    return judge_gate(estimate(shift), question=question, limit=limit, method="skew-t", **given)


def test_each_question_has_its_side():
    """The one-sided ends lie about 0.006 from a difference of these instances."""
    assert gate(0.02, "worse", 0.0).because == "worse by more than 0"
    assert gate(0.02, "worse", 0.02).because is None
    assert gate(-0.02, "worse", 0.0).because is None
    assert gate(0.0, "non-inferior", 0.01).because is None
    assert gate(0.008, "non-inferior", 0.01).because == "not shown to be worse by less than 0.01"
    assert gate(-0.02, "superior", 0.0).because is None
    assert gate(-0.001, "superior", 0.0).because == "not shown to be better"
    assert gate(-0.02, "superior", 0.018).because == "not shown to be better by more than 0.018"


def test_a_gate_is_an_end_of_the_interval_that_leaves_its_error_out_on_one_side():
    found = estimate(0.02)
    low, high = found.interval(level=0.9)
    assert judge_gate(found, limit=0.0, method="skew-t").bound == low
    assert judge_gate(found, question="superior", method="skew-t").bound == high
    assert judge_gate(found, limit=0.0, error=0.01, method="skew-t").bound == found.interval(level=0.98)[0]


def test_the_stated_rates_are_those_of_simulated_campaigns():
    """By hand: shift the simulated ends to the true difference and count."""
    found = estimate()
    low, high = simulate_ends(found, method="skew-t", level=0.9)
    worse = judge_gate(found, limit=0.004, method="skew-t")
    assert worse.wrong == np.mean(low + 0.004 > 0.004)
    assert worse.finds == np.mean(low + 0.008 > 0.004)
    assert np.mean(low + worse.detects > 0.004) == pytest.approx(0.8, abs=0.002)
    assert np.mean(low + 2 * worse.suggested > worse.suggested) == pytest.approx(0.8, abs=0.002)
    equal = judge_gate(found, question="non-inferior", limit=0.004, method="skew-t")
    assert equal.finds == np.mean(high < 0.004)
    assert equal.wrong == np.mean(high + 0.004 < 0.004)
    assert np.mean(high + equal.detects < 0.004) == pytest.approx(0.8, abs=0.002)
    better = judge_gate(found, question="superior", limit=0.004, method="skew-t")
    assert better.finds == np.mean(high - 0.008 < -0.004)
    assert np.mean(high + better.detects < -0.004) == pytest.approx(0.8, abs=0.002)


@pytest.mark.parametrize("question", list(GateQuestion))
def test_no_question_errs_in_more_than_it_states(question):
    for instances in (3, 6, 20):
        found = judge_gate(
            estimate(strata=np.repeat([0, 1], instances)), question=question, limit=0.001, method="skew-t"
        )
        assert found.wrong <= 0.065


def test_what_it_states_is_said_in_words():
    said = gate(0.02, "worse", 0.004).words()
    assert said[0].startswith("fails an arm that is worse by no more than 0.004 in at most 5% (")
    assert "fails one that is worse by 0.008 in " in said[1]
    assert gate(0.02, "worse", 0.0).words()[0].startswith("fails an arm that is no worse in at most 5%")
    assert gate(0.0, "superior", 0.0).words()[0].startswith("passes an arm that is no better in at most 5%")
    assert gate(0.0, "non-inferior", 0.01).words()[1].startswith("passes one that does not differ in ")


@pytest.mark.parametrize("method", [Method.PERCENTILE, Method.SIGN_FLIP])
def test_methods_that_draw_are_simulated_by_drawing(method):
    found = judge_gate(estimate(0.02), limit=0.001, method=method)
    assert found.failed
    assert found.campaigns == 200
    assert found.wrong <= 0.15


def test_missing_runs_fail_every_gate_and_nothing_to_judge_is_an_error():
    assert gate(-0.02, "worse", 0.0, absent=("x",)).because == "1 runs are missing: x"
    assert gate(-0.02, "worse", 0.0, absent=("x",), allow_missing=True).because is None
    few = estimate(0.01, strata=np.array([0, 0, 0]))
    with pytest.raises(GaplineError, match="3 instances are too few"):
        judge_gate(few, method="sign-flip")
    assert judge_gate(few, method="sign-flip", absent=("x",)).failed


LIMITS = {"worse": (0.0, 0.2), "non-inferior": (0.05, 0.2), "superior": (0.0, 0.2)}


@pytest.mark.parametrize(
    ("difference", "empty", "passed"),
    [
        # No run of either arm found a solution: nothing passes.
        (0.0, True, {}),
        # A change that changes nothing, or a deterministic solver.
        (0.0, False, {"worse": (0.0, 0.2), "non-inferior": (0.05, 0.2)}),
        # The same loss or gain everywhere: only the size that was seen can be judged.
        (0.1, False, {"worse": (0.2,)}),
        (-0.1, False, {"worse": (0.0, 0.2)}),
    ],
)
def test_without_spread_no_gate_states_an_interval_or_a_rate(difference, empty, passed):
    alike = panel_equal(np.full(8, difference), np.repeat([0, 1], 4), draws=499)
    for question, limits in LIMITS.items():
        for limit in limits:
            found = judge_gate(alike, question=question, limit=limit, method="skew-t", empty=empty)
            assert found.failed == (limit not in passed.get(question, ())), (question, limit)
            assert {found.bound, found.wrong, found.finds, found.detects, found.suggested} == {None}
            if empty:
                assert (found.because, found.words()) == ("no run found a solution", [])
            elif difference:
                said = f"a difference of {difference:+g} without spread over all 8 cells; no interval, no error rate"
                assert found.words() == [said]
                undecidable = question != "worse"
                assert (found.because == f"undecidable: {said}") == undecidable
            else:
                assert found.words() == ["identical in all 8 cells; no interval, no error rate"]
    # One instance leaves no spread to see, and a tie is still a tie.
    alone = replace(panel_equal(np.zeros(1), np.zeros(1, np.int64), draws=9), reason="one instance alone")
    assert judge_gate(alone, method="skew-t").words() == ["identical in the only cell; no interval, no error rate"]


def test_wrong_use():
    with pytest.raises(UsageError, match="expected worse, non-inferior, superior"):
        gate(0.0, "equal", 0.0)
    with pytest.raises(UsageError, match="expected a number of 0 or more"):
        gate(0.0, "worse", -1.0)
    with pytest.raises(UsageError, match=r"below 0\.5"):
        gate(0.0, "worse", 0.0, error=0.7)


@pytest.mark.slow
def test_the_stated_errors_hold_on_traces_of_a_real_solver():
    """PyVRP on eight instances with eight seeds each, against itself: the seeds are dealt out to two arms each time."""
    scores = real_scores(Path(__file__).with_name("gate_traces.csv"))
    rates = gate_errors(scores, gates=200)
    # Three standard errors of 5 % in 200 comparisons.
    assert rates["fails an arm that is no worse"] <= 0.05 + 0.046
    assert rates["passes an arm that is no better"] <= 0.05 + 0.046
    assert 0.01 <= rates["stated"] <= 0.06
