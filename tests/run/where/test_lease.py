"""Cores that two workers of one machine never have at the same time."""

import os
import threading

import pytest

from gapline.errors import UsageError
from gapline.run.where.lease import lease_cores
from gapline.run.where.pin import cores


def test_leases_are_disjoint_and_end(tmp_path):
    every = len(cores())
    with lease_cores(every, stopping=lambda: False, folder=tmp_path) as (slot, held):
        assert sorted(slot) == cores()
        assert len(held) == every
        # All are taken: whoever is stopping does not wait for one.
        with lease_cores(1, stopping=lambda: True, folder=tmp_path) as none:
            assert none is None
    with lease_cores(1, stopping=lambda: False, folder=tmp_path) as (slot, _):
        assert slot == (cores()[0],)


def test_a_second_worker_waits_for_the_first(tmp_path):
    order = []

    def second():
        with lease_cores(1, stopping=lambda: False, folder=tmp_path):
            order.append("second")

    with lease_cores(len(cores()), stopping=lambda: False, folder=tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_core_stays_taken_as_long_as_a_child_has_its_file(tmp_path):
    """As a supervisor keeps it whose worker was killed."""
    with lease_cores(len(cores()), stopping=lambda: False, folder=tmp_path) as (_, held):
        kept = os.dup(held[0])
    with lease_cores(len(cores()), stopping=lambda: True, folder=tmp_path) as none:
        assert none is None
    os.close(kept)
    with lease_cores(len(cores()), stopping=lambda: True, folder=tmp_path) as lease:
        assert lease is not None


def test_more_cores_than_there_are_is_wrong_use(tmp_path):
    with (
        pytest.raises(UsageError, match="the cores of this machine"),
        lease_cores(len(cores()) + 1, stopping=lambda: False, folder=tmp_path),
    ):
        pass
