"""Slots are disjoint and inside what this process may use."""

import os

import pytest

from gapline.errors import UsageError
from gapline.executors.core_leases import cores, make_slots


def test_cores_are_among_those_we_may_use():
    assert set(cores()) <= os.sched_getaffinity(0)
    assert cores()


def test_slots_are_disjoint():
    slots = make_slots([0, 1, 2, 3, 4, 5, 6], width=3)
    assert slots == [(0, 1, 2), (3, 4, 5)]
    assert make_slots([4, 9], width=1, count=1) == [(4,)]


@pytest.mark.parametrize(("width", "count", "named"), [(3, None, "time.threads"), (1, 3, "--jobs"), (2, 2, "--jobs")])
def test_more_than_the_machine_has_is_refused(width, count, named):
    with pytest.raises(UsageError, match=named):
        make_slots([0, 1], width=width, count=count)
