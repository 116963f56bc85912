"""Routes as they come out of a JSON line: lists of customer numbers 1..n, each customer once, without the depot."""

from collections.abc import Sequence

from gapline.check.verdict import Verdict

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
                    f"unknown customer: {_shown(customer)} in route {number}, expected 1 to {customers}"
                )
            if customer in seen:
                return Verdict.reject(f"repeated customer: {customer} in route {number}")
            seen.add(customer)
    if len(seen) < customers:
        missing = [customer for customer in range(1, customers + 1) if customer not in seen]
        shown = ", ".join(map(str, missing[:5])) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        return Verdict.reject(f"missing customers: {shown}")
    return solution


def load_reason(routes: Routes, demands: Sequence[int], capacity: int) -> str:
    """Say which route carries too much, or nothing."""
    for number, route in enumerate(routes, start=1):
        load = sum(demands[customer] for customer in route)
        if load > capacity:
            return f"capacity exceeded: route {number} carries {load} of {capacity}"
    return ""


def fleet_reason(routes: Routes, vehicles: int | None) -> str:
    """Say that there are more routes than vehicles, or nothing."""
    if vehicles is not None and len(routes) > vehicles:
        return f"too many routes: {len(routes)} of {vehicles} vehicles"
    return ""


def _shape_reason(solution: object) -> str:
    if not isinstance(solution, list):
        return f"expected a list of routes, got {_shown(solution)}"
    for number, route in enumerate(solution, start=1):
        if not isinstance(route, list):
            return f"expected route {number} to be a list of customers, got {_shown(route)}"
        if not route:
            return f"route {number} is empty"
        for customer in route:
            # True is an int to Python, and no customer.
            if not isinstance(customer, int) or isinstance(customer, bool):
                return f"expected a customer number in route {number}, got {_shown(customer)}"
    return ""


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**12:
        # An integer of thousands of digits cannot even be turned into text.
        return "a huge number"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
