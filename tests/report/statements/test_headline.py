"""The headline states what the ranking leaves open, and names no arm as ahead against it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.contract.reading import Coverage
from gapline.report.order import ArmOrder
from gapline.report.statements.headline import Evidence, write_headline

ORDER = ArmOrder(("x", "y"), (), {"x": 1, "y": 2})
THREE = ArmOrder(("x", "y", "z"), (), {"x": 1, "y": 2, "z": 3})
MEANS = {"x": 0.1, "y": 0.3, "z": 0.4}


def pair(a, b, difference, low, high, *, p=0.01, declared=False, p_holm=None, reason=None):
    return {"a": a, "b": b, "difference": difference, "low": low, "high": high, "p": p, "declared": declared,
            "p_holm": p_holm, "reason": reason}  # fmt: skip


def places(order=ORDER, worst=1, *, tied=False):
    """Return a ranking in which the first arm may be as far down as the worst place."""
    row = {"wins": 0, "losses": 0} if tied else {"wins": 5, "losses": 4}
    return {arm: row | {"rank": order.ranks.get(arm, k), "rank_high": worst} for k, arm in enumerate(order.compared, 1)}


AHEAD = pair("x", "y", -0.2, -0.3, -0.1)


def headline(*contrasts, order=ORDER, means=MEANS, ranking=None, instances=9, **facts):
    found = places(order) if ranking is None else ranking
    evidence = Evidence("squeezed", 0.95, means, instances, ranking=found, contrasts=contrasts, **facts)
    return write_headline(order, evidence)


def test_ahead_needs_an_interval_on_that_side_whichever_way_the_pair_is_stored():
    for stored in (AHEAD, pair("y", "x", 0.2, 0.1, 0.3)):
        said = headline(stored)
        assert said.text == "x is ahead of y by 0.20000, 95 % interval +0.10000 to +0.30000"
        assert said.settled
        assert "The interval of the difference y − x excludes 0 (p = 0.010)." in said.detail
        assert said.detail.endswith("Exploratory: no contrast was declared.")


def test_an_interval_that_includes_zero_settles_nothing():
    for stored in (pair("x", "y", -0.2, -0.5, 0.1, p=0.2), pair("y", "x", 0.2, -0.1, 0.5, p=0.2)):
        said = headline(stored, ranking=places(worst=2))
        text = "No significant difference between x and y: 0.20000, 95 % interval −0.10000 to +0.50000"
        assert (said.text, said.settled) == (text, False)
        assert "The interval of the difference y − x includes 0 (p = 0.200)." in said.detail


def test_without_an_interval_nothing_is_settled():
    said = headline(pair("x", "y", -0.2, None, None, p=None, reason="one instance"), ranking=places(worst=None))
    assert (said.text, said.settled) == ("No significant difference between x and y: 0.20000, no interval", False)
    assert "No interval of the difference y − x: one instance." in said.detail
    # The same difference everywhere has a p and no interval: the ranking closes the first place, and no arm is ahead.
    alike = headline(pair("x", "y", -0.2, None, None, p=0.002, reason="all alike"))
    assert (alike.text, alike.settled) == ("x has the lowest mean, by 0.20000; no interval", False)
    none = headline(ranking={}, no_intervals="too few runs")
    assert none.text == "Mean squeezed scores: x 0.10000, y 0.30000; no intervals"
    assert none.detail == "No intervals: too few runs."


def test_the_group_is_judged_as_the_ranking_judges_it():
    """The pair of the two best has an interval without 0; adjusted for three arms the first place stays open."""
    ahead = headline(AHEAD, order=THREE)
    assert ahead.text == (
        "x is ahead of the 2 other ranked arms; of the next, y, by 0.20000, 95 % interval +0.10000 to +0.30000"
    )
    assert ahead.settled
    for worst, count in ((2, 1), (3, 2)):
        said = headline(AHEAD, order=THREE, ranking=places(THREE, worst))
        assert said.text == f"x has the lowest mean; {count} of 3 arms cannot be distinguished from it"
        assert not said.settled
        assert "y is next, 0.20000 behind" in said.detail
        assert "Arms are distinguished at 5 %, Holm-adjusted." in said.detail


def test_a_declared_contrast_that_holm_does_not_show_puts_no_arm_ahead():
    """The ranking compares two arms, or three; the declared contrasts are more, some with arms that are not ranked."""
    for p_holm, ahead in ((0.02, True), (0.06, False)):
        declared = pair("x", "y", -0.2, -0.3, -0.1, p=0.02, declared=True, p_holm=p_holm)
        other = pair("y", "o", -0.1, -0.3, 0.1, p=0.4, declared=True, p_holm=0.4)
        for order in (ORDER, THREE):
            said = headline(declared, other, order=order)
            assert ("ahead" in said.sentences, said.settled) == (ahead, ahead)
            assert "x has the lowest mean" in said.sentences or ahead


def test_arms_with_the_same_mean_share_the_first_place():
    order = ArmOrder(("x", "y", "z"), (), {"x": 1, "y": 1, "z": 3})
    apart = pair("x", "z", -0.3, -0.4, -0.2)
    means = {"x": 0.1, "y": 0.1, "z": 0.4}
    said = headline(apart, order=order, means=means, ranking=places(order, 2))
    assert (said.text, said.settled) == ("x, y share the lowest mean", False)
    said = headline(apart, order=order, means=means, ranking=places(order, 3))
    assert said.text.endswith("; 1 of 3 arms cannot be distinguished from them")


def test_declared_contrasts_come_first_and_the_rest_is_exploratory():
    shown = pair("z", "x", 0.3, 0.2, 0.4, declared=True, p_holm=0.012)
    said = headline(shown, AHEAD, order=THREE, ranking=places(THREE, 2))
    span = "95 % interval +0.20000 to +0.40000, Holm p = 0.012"
    assert said.text == f"Contrast z against x: +0.30000, {span}; x is better"
    assert said.settled
    assert said.detail.startswith("Exploratory: x has the lowest mean; 1 of 3 arms cannot be distinguished from it. ")
    # Holm's p decides with the interval, and without an interval there is no verdict.
    for row, words in (
        (shown | {"p_holm": 0.06}, "Holm p = 0.060; no significant difference"),
        (shown | {"low": -0.1}, "Holm p = 0.012; no significant difference"),
        (shown | {"low": None, "high": None}, "+0.30000, no interval"),
    ):
        open_ = headline(row, order=THREE, ranking=places(THREE, 2))
        assert open_.text.endswith(words)
        assert not open_.settled
    many = [pair(a, b, 0.1, 0.0, 0.2, declared=True, p_holm=0.5) for a, b in ("yx", "zx", "yz", "xy")]
    assert headline(*many, order=THREE).text.endswith("; 1 more contrasts")
    # Of two arms the declared contrast is the ranking, and nothing is exploratory.
    both = headline(AHEAD | {"declared": True, "p_holm": 0.01})
    assert both.text.startswith("x is ahead of y by ")
    assert "Exploratory" not in both.detail


def test_ties_few_instances_and_one_arm_are_no_comparison():
    tied = headline(pair("x", "y", 0.0, None, None, p=1.0), means={"x": 0.1, "y": 0.1}, ranking=places(tied=True))
    assert (tied.text, tied.settled) == ("2 arms: no difference in any cell", False)
    for instances, on in ((1, "1 instance"), (2, "2 instances")):
        few = headline(AHEAD, instances=instances)
        assert (few.text, few.settled) == (f"Mean squeezed scores: x 0.10000, y 0.30000; {on} only", False)
    alone = headline(order=ArmOrder((), (), {}, others=("x",)), ranking={})
    assert (alone.text, alone.detail) == ("x: mean squeezed score 0.10000", "One arm alone: no comparison.")


def test_an_alarm_and_runs_without_solutions_come_before_any_statement():
    said = headline(AHEAD, alarms=["i"], empty=True)
    assert (said.text, said.settled) == ("1 integrity alarm: no arm is called better", False)
    assert said.detail == "No score on i can be trusted until it is resolved."
    assert headline(AHEAD, alarms=["j", "i", "j"]).detail == "No score on i, j can be trusted until they are resolved."
    assert headline(AHEAD, empty=True).text == "No run found a solution"


def test_missing_runs_withhold_the_order():
    coverage = Coverage(runs=22, planned=48, interrupted=2, missing=24)
    said = headline(AHEAD, coverage=coverage)
    assert said.text == "22 of 48 planned runs: no arm is called better"
    assert "2 interrupted, 24 missing" in said.detail
    assert not said.settled
    counted = Coverage(runs=48, planned=48, interrupted=2, missing=24, filled=26)
    assert headline(AHEAD, coverage=counted).settled


def test_arms_that_are_not_ranked_are_never_named():
    order = ArmOrder(("x", "y"), ("w",), {"x": 1, "y": 2}, others=("z",))
    lower = pair("z", "x", -0.3, -0.4, -0.2, declared=True, p_holm=0.01)
    said = headline(AHEAD, lower, order=order, means=MEANS | {"w": 0.01, "z": 0.02})
    assert said.text.startswith("x is ahead of y by 0.20000, ")
    assert "z" not in said.sentences.replace("squeezed", "")
    assert headline(order=ArmOrder((), ("z",), {}), ranking={}).text == "No arm is compared here"
    apart = ArmOrder((), (), {}, others=("x", "y"), reason="no two arms ran the same instances")
    none = headline(order=apart, ranking={})
    assert (none.text, none.detail) == ("No arm is ranked", "No two arms ran the same instances.")


def test_what_cannot_be_ranked_has_no_order():
    assert headline(means={"x": None, "y": None}).text == "No mean squeezed score exists here"
    assert headline(means={"x": 0.1, "y": None}).text.startswith("Fewer than two of the ranked arms have a mean")
    order = ArmOrder(("x", "y"), (), {}, unrankable="berthold counts beating the reference as a loss")
    assert headline(AHEAD, order=order, ranking=places()).text == "No ranking under squeezed"


@given(
    st.tuples(st.floats(-1, 1), st.floats(-1, 1)).map(sorted),
    st.floats(-1, 1),
    st.integers(1, 3),
    st.sampled_from([2, 3]),
    st.booleans(),
)
def test_no_arm_is_ahead_against_its_interval_or_the_ranking(ends, difference, worst, size, turned):
    order = ORDER if size == 2 else THREE
    row = pair("y", "x", difference, *ends) if turned else pair("x", "y", difference, *ends)
    said = headline(row, order=order, ranking=places(order, min(worst, size)))
    high = -ends[0] if turned else ends[1]
    if "ahead" in said.text:
        assert said.settled
        assert high < 0
        assert worst == 1
    else:
        assert not said.settled
    if "includes 0" in said.detail:
        assert ends[0] <= 0 <= ends[1]


@pytest.mark.parametrize("p", [None, 0.5])
def test_a_declared_contrast_without_a_p_shows_nothing(p):
    row = pair("x", "y", -0.2, -0.3, -0.1, declared=True, p_holm=p)
    assert "better" not in headline(row, order=THREE, ranking=places(THREE, 3)).text
