"""Processes as an executor; what passes over tasks make of it is in test_tasks.py."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.executors.local_processes import ProcessesExecutor, core_shares
from gapline.executors.worker_requirements import WorkerLostError
from worker_tasks import die, hold, square


@given(st.lists(st.integers(0, 500), min_size=1, max_size=70, unique=True), st.integers(1, 80))
def test_every_process_has_cores_and_none_has_many_more_than_another(cores, count):
    shares = core_shares(cores, count)
    sizes = [len(share) for share in shares]
    assert len(shares) == count
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1
    given_out = [core for share in shares for core in share]
    assert set(given_out) == set(cores)
    # No core is idle or given twice where there are enough of them.
    assert count > len(cores) or sorted(given_out) == sorted(cores)


def test_a_call_whose_process_dies_is_lost_and_the_next_has_another(tmp_path, eventually):
    with ProcessesExecutor(1, memory=10**9) as processes:
        assert processes.submit(square, 3).result() == 9
        assert isinstance(processes.submit(die, 1).exception(), WorkerLostError)
        assert processes.submit(square, number=4).result() == 16
        held = processes.submit(hold, tmp_path, 5)
        eventually(lambda: bool(list(tmp_path.glob("alive-*"))))
        processes.abandon()
        assert "was ended by SIGKILL" in str(held.exception())
        assert processes.submit(square, 6).result() == 36
        # Of a call that cannot be sent the process hears nothing.
        assert "pickle" in str(processes.submit(lambda: None).exception())
    with pytest.raises(RuntimeError, match="after shutdown"):
        processes.submit(square, 1)


def test_the_end_does_not_wait_for_calls_under_way(tmp_path, eventually):
    with ThreadPoolExecutor(1) as beside, ProcessesExecutor(1, memory=10**9) as processes:
        held = [processes.submit(hold, tmp_path, number) for number in range(2)]
        eventually(lambda: bool(list(tmp_path.glob("alive-*"))))
        beside.submit(processes.shutdown).result()
        assert all(isinstance(future.exception(), WorkerLostError) for future in held)
