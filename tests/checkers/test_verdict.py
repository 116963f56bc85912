"""A verdict is valid with a finite objective, or invalid with a reason in one line."""

import pytest

from gapline.checkers.verdict import CheckerFailure, Verdict, shown_value


def test_an_objective_is_kept_as_a_float():
    verdict = Verdict.accept(7)
    assert (verdict.valid, verdict.objective, verdict.reason, verdict.kind) == (True, 7.0, "", "")
    assert type(verdict.objective) is float


@pytest.mark.parametrize("objective", [float("nan"), float("inf"), -float("inf")])
def test_an_objective_that_is_not_finite_is_the_checkers_failure(objective):
    with pytest.raises(CheckerFailure, match="expected a finite objective from the checker"):
        Verdict.accept(objective)


def test_a_reason_is_one_line_and_its_kind_stands_before_the_colon():
    verdict = Verdict.reject("capacity exceeded:\n  route 2\tcarries 11")
    assert verdict.reason == "capacity exceeded: route 2 carries 11"
    assert verdict.kind == "capacity exceeded"
    assert verdict.objective is None


def test_values_are_shown_short_whatever_they_are():
    assert shown_value("x" * 99) == "'" + "x" * 36 + "..."
    assert [shown_value(value) for value in ({}, [1], None, -(10**13))] == [
        "a dict of 0",
        "a list of 1",
        "None",
        "a huge number",
    ]
