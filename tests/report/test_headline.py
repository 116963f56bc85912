"""The headline never names as ahead an arm whose interval does not say so."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from gapline.model.reading import Coverage
from gapline.report.headline import write_headline
from gapline.report.order import ArmOrder

ORDER = ArmOrder(("x", "y"), (), {"x": 1, "y": 2})
MEANS = {"x": 0.1, "y": 0.3}


def pair(a, b, difference, low, high, instances=9, reason=None):
    columns = {"a": a, "b": b, "difference": difference, "low": low, "high": high, "instances": instances}
    return pl.DataFrame([columns | {"reason": reason}], schema_overrides=dict.fromkeys(("low", "high"), pl.Float64))


def headline(contrasts, *, order=ORDER, means=MEANS, **choices):
    return write_headline(order, means, contrasts, kernel="squeezed", level=0.95, **choices)


def test_ahead_needs_an_interval_on_that_side_whichever_way_the_pair_is_stored():
    for stored in (pair("x", "y", -0.2, -0.3, -0.1), pair("y", "x", 0.2, 0.1, 0.3)):
        said = headline(stored)
        assert said.text == "x is ahead of y by 0.20000, 95 % interval +0.10000 to +0.30000"
        assert said.settled
        assert said.detail.endswith("The interval of the difference y − x excludes 0.")


def test_an_interval_that_includes_zero_settles_nothing():
    for stored in (pair("x", "y", -0.2, -0.5, 0.1), pair("y", "x", 0.2, -0.1, 0.5)):
        said = headline(stored)
        assert said.text == "x and y are not told apart: 0.20000 between them, 95 % interval −0.10000 to +0.50000"
        assert not said.settled
        assert said.detail.endswith("The interval of the difference y − x includes 0.")


def test_means_and_paired_difference_that_disagree_settle_nothing_and_say_why():
    """x has the smaller mean over all it ran, but on the instances of both it is worse: an interval of +0.1 to +0.3."""
    said = headline(pair("x", "y", 0.2, 0.1, 0.3, instances=4))
    assert said.text == "x and y are not told apart: their means and their paired difference disagree"
    assert "95 % interval −0.30000 to −0.10000 of the difference y − x" in said.detail
    assert "x has the smaller mean over the instances that it ran, y over the 4 that both ran" in said.detail
    assert "includes 0" not in said.detail


def test_without_an_interval_nothing_is_settled():
    assert headline(None, no_intervals="too few instances").detail.endswith("No interval: too few instances.")
    said = headline(pair("x", "y", -0.2, None, None, reason="one instance"))
    assert (said.text, said.settled) == (
        "x and y are not told apart: 0.20000 between their means, no interval",
        False,
    )
    assert "No interval: one instance" in said.detail


def test_missing_runs_withhold_the_order():
    coverage = Coverage(runs=22, planned=48, interrupted=2, missing=24)
    said = headline(pair("x", "y", -0.2, -0.3, -0.1), coverage=coverage)
    assert said.text == "22 of 48 planned runs: no order is stated"
    assert "2 interrupted, 24 missing" in said.detail
    assert not said.settled
    counted = Coverage(runs=48, planned=48, interrupted=2, missing=24, filled=26)
    assert headline(pair("x", "y", -0.2, -0.3, -0.1), coverage=counted).settled


def test_descriptive_arms_are_never_named():
    order = ArmOrder(("x", "y"), ("z",), {"x": 1, "y": 2})
    said = headline(pair("x", "y", -0.2, -0.3, -0.1), order=order, means=MEANS | {"z": 0.01})
    assert said.text.startswith("x is ahead of y by 0.20000, ")
    assert headline(None, order=ArmOrder((), ("z",), {}), means={"z": 0.1}).text == "No arm is compared here"
    alone = headline(None, order=ArmOrder(("x",), ("z",), {"x": 1}), means=MEANS | {"z": 0.01})
    assert alone.text == "x: mean squeezed score 0.10000"


def test_what_cannot_be_ranked_has_no_order():
    assert headline(None, means={"x": None, "y": None}).text == "No mean squeezed score exists here"
    order = ArmOrder(("x", "y"), (), {}, unrankable="berthold is out of its envelope")
    assert headline(pair("x", "y", -0.2, -0.3, -0.1), order=order).text == "No ranking under squeezed"


def test_equal_means_are_level():
    said = headline(pair("x", "y", 0.0, -0.1, 0.2), means={"x": 0.1, "y": 0.1})
    assert said.text == "x and y are level: 0.00000 between them, 95 % interval −0.20000 to +0.10000"
    assert headline(None, means={"x": 0.1, "y": 0.1}).text == "x and y are level"


@given(
    st.tuples(st.floats(-1, 1), st.floats(-1, 1)).map(sorted),
    st.floats(-1, 1),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
    st.booleans(),
)
def test_no_arm_is_ahead_against_its_interval(ends, difference, means, turned):
    """Whatever the numbers: an arm is named as ahead only where the whole interval, turned its way, is below 0."""
    first, second = sorted(("x", "y"), key=dict(zip("xy", means, strict=True)).get)
    order = ArmOrder((first, second), (), {})
    a, b = (second, first) if turned else (first, second)
    said = headline(pair(a, b, difference, *ends), order=order, means=dict(zip("xy", means, strict=True)))
    low, high = (-ends[1], -ends[0]) if turned else ends
    if said.settled:
        assert said.text.startswith(f"{first} is ahead of {second} by ")
        assert high < 0
        assert (-difference if turned else difference) < 0
        assert float(said.text.split(" by ")[1].split(",")[0]) >= 0
    else:
        assert "ahead" not in said.text
    if "includes 0" in said.detail:
        assert low <= 0 <= high
    if "excludes 0" in said.detail:
        assert not low <= 0 <= high
