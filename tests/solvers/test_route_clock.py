"""The clock of a route against the checker, and by hand."""

import pytest

from gapline.checkers import load_checker
from gapline.generate import write_instances
from gapline.solvers.route_clock import RouteClock, read_clock


def test_slices_come_closer_to_the_true_clock(tmp_path):
    """The more slices, the nearer the duration of a route of one customer."""
    from mamut_routing_lib.td import load_td_instance

    (path,) = write_instances("tdvrptw", tmp_path, name="clock", customers=12)
    loaded = load_td_instance(path)
    true = read_clock(loaded)
    checker = load_checker("tdvrptw")
    singles = [[customer] for customer in range(1, 13)]
    assert sum(map(true.duration, singles)) == pytest.approx(checker.check(path, singles).objective, rel=0.02)
    errors = []
    for slices in (1, 24, 96):
        rough = read_clock(loaded, slices)
        errors.append(sum(abs(rough.end_of(one, 1000.0) - true.end_of(one, 1000.0)) for one in singles))
    assert errors[2] < errors[1] < errors[0]


def test_a_route_by_hand():
    """Two customers on roads that always take 10; the second opens at 50, the depot closes at 100."""
    points = [[[0.0, 100.0]] * 3] * 3
    clock = RouteClock(
        capacity=5,
        demands=[0, 3, 3],
        services=[0.0, 5.0, 5.0],
        windows=[(0.0, 100.0), (0.0, 30.0), (50.0, 60.0)],
        leave=points,
        arrive=[[[10.0, 110.0]] * 3] * 3,
        vehicles=2,
    )
    # There at 10, away at 15, there at 25, wait until 50, away at 55, back at 65.
    assert clock.end_of([1, 2], 0.0) == 65.0
    # The latest departure that is back by 65 and keeps 30 at the first: at 20.
    assert clock.start_for([1, 2], 65.0) == 20.0
    assert clock.duration([1, 2]) == 45.0
    assert clock.duration([]) == 0.0
    # Six units in a vehicle of five, and nothing is late.
    assert clock.excess([1, 2]) == 1.0
    # The other way round the first is reached at 65, 35 after its window.
    assert clock.excess([2, 1]) == 1.0 + 35.0
