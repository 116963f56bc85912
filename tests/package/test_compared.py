"""Two studies side by side: against a slow reading in exact numbers, the laws, and cases by hand."""

import math

import pytest
from hypothesis import assume, given

from gapline.package.comparison import compare_studies
from gapline.study.replication import Agreement
from package.two_studies import paced, pairs_of_runs, run_of, slow_reading, study_of


@pytest.mark.slow
@given(pairs_of_runs())
def test_every_number_is_that_of_the_slow_reading(sides):
    old, new = sides
    found = compare_studies(study_of(old), study_of(new))
    count, (there, here) = slow_reading(old, new)
    assert found.runs == count
    for one in found.conclusions:
        for side, slow in ((one.old, there), (one.new, here)):
            assert side.difference == pytest.approx(float(slow[one.a, one.b]), abs=1e-12)
    for shift in found.shifts:
        key = (shift.arm, shift.panel)
        assert shift.old == pytest.approx(float(there[key]), abs=1e-12)
        assert shift.new == pytest.approx(float(here[key]), abs=1e-12)
        assert shift.shift == pytest.approx(float(here[key] - there[key]), abs=1e-12)
    assert {(one.arm, one.panel) for one in found.shifts} == {key for key in there if key[1] in (None, "p", "q")}


@pytest.mark.slow
@given(pairs_of_runs())
def test_a_difference_is_judged_by_the_two_intervals_alone(sides):
    for one in compare_studies(*map(study_of, sides)).conclusions:
        ends = [one.old.low, one.old.high, one.new.low, one.new.high]
        told = [not (low is None or low <= 0 <= high) for low, high in (ends[:2], ends[2:])]
        if None in ends:
            expected = {Agreement.NOT_TESTED}
        elif all(told):
            expected = {Agreement.AGREES if (ends[0] > 0) == (ends[2] > 0) else Agreement.CONTRADICTS}
        else:
            expected = {Agreement.SAME_SIGN if one.order_agrees else Agreement.OTHER_SIGN}
        assert {one.agreement} == expected


@pytest.mark.slow
@given(pairs_of_runs())
def test_swapping_old_and_new_swaps(sides):
    old, new = map(study_of, sides)
    one, two = compare_studies(old, new), compare_studies(new, old)
    assert one.runs == two.runs
    for a, b in zip(one.conclusions, two.conclusions, strict=True):
        assert (a.old, a.new, a.agreement, a.order_agrees) == (b.new, b.old, b.agreement, b.order_agrees)
    for a, b in zip(one.shifts, two.shifts, strict=True):
        assert (a.old, a.new) == (b.new, b.old)
        assert a.shift == pytest.approx(-b.shift, abs=1e-15)
        swapped = {"better": "worse", "worse": "better"}
        assert swapped.get(a.verdict, a.verdict) == b.verdict
        if a.low is not None:
            assert (a.low, a.high) == pytest.approx((-b.high, -b.low), abs=1e-9)
    assert one.ranks.tau == two.ranks.tau
    assert (one.ranks.tied_old, one.ranks.tied_new) == (two.ranks.tied_new, two.ranks.tied_old)


@pytest.mark.slow
@given(pairs_of_runs())
def test_a_study_against_itself_agrees_everywhere(sides):
    study = study_of(sides[0])
    found = compare_studies(study, study)
    assert all(one.order_agrees for one in found.conclusions if one.agreement is not Agreement.NOT_TESTED)
    assert {one.agreement for one in found.conclusions} <= {
        Agreement.AGREES, Agreement.SAME_SIGN, Agreement.NOT_TESTED,
    }  # fmt: skip
    assert all(one.shift == 0 for one in found.shifts)
    assert not found.moved
    assert not found.contradicted
    assume(found.ranks.tau is not None)
    assert found.ranks.tau == pytest.approx(1.0, abs=1e-15)


@pytest.mark.slow
@given(pairs_of_runs())
def test_runs_that_one_side_alone_has_change_nothing(sides):
    old, new = sides
    whole = compare_studies(study_of(old), study_of(new))
    keys = {(run["arm"], run["instance"], run["seed"]) for run in old}
    cut = [run for run in new if (run["arm"], run["instance"], run["seed"]) in keys]
    found = compare_studies(study_of(old), study_of(cut))
    assert (found.conclusions, found.shifts, found.ranks) == (whole.conclusions, whole.shifts, whole.ranks)


def test_by_hand_one_arm_twice_as_slow_turns_one_of_three_pairs():
    """One step from 20 to 11 at the pace, 1.15 on average: the score moves by (1/3 - 1/21)·1.15·Δpace/10."""
    old, new = study_of(paced({"a": 1.0, "b": 1.5, "c": 4.0})), study_of(paced({"a": 2.0, "b": 1.5, "c": 4.0}))
    found = compare_studies(old, new)
    assert {(one.a, one.b): one.agreement for one in found.conclusions} == {
        ("a", "b"): Agreement.CONTRADICTS, ("a", "c"): Agreement.AGREES, ("b", "c"): Agreement.AGREES,
    }  # fmt: skip
    step = (1 / 3 - 1 / 21) * 1.15 / 10
    shifts = {one.arm: one for one in found.shifts if one.panel is None}
    assert shifts["a"].shift == pytest.approx(step, abs=1e-12)
    assert {arm: one.verdict for arm, one in shifts.items()} == {
        "a": "worse", "b": None, "c": None,
    }  # fmt: skip
    assert (found.ranks.concordant, found.ranks.discordant, found.ranks.tau) == (2, 1, 1 / 3)
    assert [one.arm for one in found.moved] == ["a"]


def test_declared_contrasts_are_the_question_and_others_are_not_looked_at():
    arms = {"a": 1.0, "b": 1.5, "c": 4.0}
    found = compare_studies(*(study_of(paced(arms), contrasts=[("c", "a")]) for _ in range(2)))
    assert [(one.a, one.b, one.declared) for one in found.conclusions] == [("c", "a", True)]


def test_an_arm_of_tier_two_is_described_and_never_tested():
    arms = {"a": 1.0, "b": 1.5, "c": 4.0}
    old, new = study_of(paced(arms), tier_two=["c"]), study_of(paced(arms | {"c": 1.0}), tier_two=["c"])
    found = compare_studies(old, new)
    assert [(one.a, one.b) for one in found.conclusions] == [("a", "b")]
    described = [one for one in found.shifts if one.arm == "c"]
    assert all((one.tier, one.low, one.high, one.verdict) == (2, None, None, None) for one in described)
    assert described[0].shift < 0
    assert found.ranks.arms == 2


def test_a_kernel_without_a_score_for_some_run_leaves_nothing_tested():
    """`raw` needs a candidate at time 0."""
    study = study_of(paced({"a": 1.0, "b": 2.0}), kernels=["raw"])
    found = compare_studies(study, study)
    assert [one.agreement for one in found.conclusions] == [Agreement.NOT_TESTED]
    assert not found.shifts
    assert any("no intervals" in note for note in found.notes)


def test_disturbed_runs_and_alarms_of_both_sides_are_told():
    facts = {"disturbed": "shared cores", "cpus": "0"}
    old, new = study_of(paced({"a": 1.0, "b": 2.0})), study_of(paced({"a": 1.0, "b": 2.0}, **facts))
    notes = compare_studies(old, new).notes
    assert any(note.startswith("here: 32 of 32 runs were disturbed") for note in notes)
    assert not any(note.startswith("there: 32 of 32") for note in notes)
    import gapline as gl

    known = {f"{panel}{k}": 10.0 for panel in "pq" for k in range(4)} | {"p0": 12.0}
    snapshot = gl.Snapshot.from_entries(
        {name: {"value": value, "certified": True} for name, value in known.items()}, name="wrong", store={"name": "t"}
    )
    rung = study_of(paced({"a": 1.0, "b": 2.0}), snapshot=snapshot)
    assert compare_studies(rung, rung).alarms


def test_one_run_each_has_no_interval_and_says_so():
    runs = [run_of(arm, "p0", "p", 1, [(time, 12.0)]) for arm, time in (("a", 1.0), ("b", 2.0))]
    found = compare_studies(study_of(runs), study_of(runs))
    assert [one.agreement for one in found.conclusions] == [Agreement.NOT_TESTED]
    assert found.conclusions[0].old.reason
    assert math.isclose(found.conclusions[0].old.difference, found.conclusions[0].new.difference)
