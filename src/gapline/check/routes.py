"""Routes as they come out of a JSON line: lists of customer numbers 1..n, each customer once, without the depot."""

from gapline.check.verdict import Verdict, shown_value
from gapline.errors import listing

Routes = list[list[int]]


def read_routes(solution: object, customers: int) -> Routes | Verdict:
    """Return the routes, or the rejection of what is not a set of routes that serves every customer once.

    >>> read_routes([[2, 1]], 2)
    [[2, 1]]
    >>> read_routes([[1], [1]], 2).reason
    'repeated customer: 1 in route 2'
    """
    shape = _shape_reason(solution)
    if shape:
        return Verdict.reject(f"malformed solution: {shape}")
    assert isinstance(solution, list)
    seen: set[int] = set()
    for number, route in enumerate(solution, start=1):
        for customer in route:
            if not 1 <= customer <= customers:
                return Verdict.reject(
                    f"unknown customer: {shown_value(customer)} in route {number}, expected 1 to {customers}"
                )
            if customer in seen:
                return Verdict.reject(f"repeated customer: {customer} in route {number}")
            seen.add(customer)
    if len(seen) < customers:
        missing = [customer for customer in range(1, customers + 1) if customer not in seen]
        return Verdict.reject(f"missing customers: {listing(map(str, missing), most=5)}")
    return solution


def _shape_reason(solution: object) -> str:
    if not isinstance(solution, list):
        return f"expected a list of routes, got {shown_value(solution)}"
    for number, route in enumerate(solution, start=1):
        if not isinstance(route, list):
            return f"expected route {number} to be a list of customers, got {shown_value(route)}"
        if not route:
            return f"route {number} is empty"
        for customer in route:
            # True is an int to Python, and no customer.
            if not isinstance(customer, int) or isinstance(customer, bool):
                return f"expected a customer number in route {number}, got {shown_value(customer)}"
    return ""
