"""Routes out of a JSON line: each customer once, and anything else a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.checkers.routing_files import read_routes
from gapline.checkers.verdict import Verdict


@pytest.mark.parametrize(
    ("solution", "reason"),
    [
        ("12", "malformed solution: expected a list of routes, got '12'"),
        ([[1], 2], "malformed solution: expected route 2 to be a list of customers, got 2"),
        ([[1], []], "malformed solution: route 2 is empty"),
        ([[1, True]], "malformed solution: expected a customer number in route 1, got True"),
        ([[1, 2.0]], "malformed solution: expected a customer number in route 1, got 2.0"),
        ([[1, 10**5000]], "unknown customer: a huge number in route 1, expected 1 to 9"),
        ([[0]], "unknown customer: 0 in route 1, expected 1 to 9"),
        ([[1], [2, 1]], "repeated customer: 1 in route 2"),
        ([[1, 2]], "missing customers: 3, 4, 5, 6, 7 and 2 more"),
    ],
)
def test_what_is_no_plan_for_nine_customers_says_why(solution, reason):
    verdict = read_routes(solution, 9)
    assert isinstance(verdict, Verdict)
    assert verdict.reason == reason


@given(st.permutations(range(1, 8)), st.integers(1, 6))
def test_any_order_of_all_customers_in_any_cut_is_a_plan(order, cut):
    routes = [order[:cut], order[cut:]]
    assert read_routes(routes, 7) == routes
