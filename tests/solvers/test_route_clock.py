"""The clock of a route against the checker, and by hand."""

import pytest

from gapline.check import load_checker
from gapline.generate import write_instances
from gapline.solvers.route_clock import read_clock


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
