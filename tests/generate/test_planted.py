"""Planted windows: the routes that made them keep them, also where the numbers are worked out by hand."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.generate.draws import Draws
from gapline.generate.routing import plant_windows
from profiles import examples

POINTS = [(0, 0), (3, 4), (6, 8), (0, 5)]


def arrive(here, there, leave):
    (x, y), (u, v) = POINTS[here], POINTS[there]
    return leave + math.isqrt((x - u) ** 2 + (y - v) ** 2) + 1


def plant(name, *, capacity=10, day=200):
    facts = {"demands": [0, 4, 4, 4], "capacity": capacity, "service": 2, "day": day, "widths": (5, 20)}
    return plant_windows(Draws(name), POINTS, arrive, **facts)


@settings(deadline=None, max_examples=examples(60))
@given(st.text(max_size=8))
def test_every_customer_is_served_once_inside_its_window_and_the_vehicle_is_home_in_time(name):
    windows, routes = plant(name)
    assert sorted(customer for route in routes for customer in route) == [1, 2, 3]
    assert windows[0] == (0, 200)
    for route in routes:
        # Demands of 4 in a vehicle of 10: two customers at most.
        assert len(route) <= 2
        time, here = 0, 0
        for customer in route:
            ready, due = windows[customer]
            time = max(arrive(here, customer, time), ready)
            assert time <= due
            time, here = time + 2, customer
        assert arrive(here, 0, time) <= 200


def test_a_short_day_makes_routes_of_one_customer():
    """There and back to (6, 8) is 11 + 2 + 11 = 24: with a day of 26 there is no time for a second stop."""
    windows, routes = plant("short", day=26)
    assert sorted(map(len, routes)) == [1, 1, 1]
    assert max(due for _, due in windows) <= 26
