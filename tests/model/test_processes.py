"""Processes that work for one command end with it, however it ends."""

import os
import signal
import subprocess
import sys

import pytest

from gapline.model.processes import process_pool


def test_work_is_done_in_other_processes():
    with process_pool(1) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()


def fail_within(pools):
    with process_pool(1) as pool:
        pools.append(pool)
        pool.submit(os.getpid).result()
        raise ZeroDivisionError


def test_an_exception_ends_the_pool():
    pools = []
    with pytest.raises(ZeroDivisionError):
        fail_within(pools)
    with pytest.raises(RuntimeError, match="after shutdown"):
        pools[0].submit(os.getpid)


SCRIPT = """
import os, signal, sys
from gapline.model.processes import process_pool
if __name__ == "__main__":
    with process_pool(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_when_their_parent_is_killed(tmp_path):
    """They hold its output open: the pipe ends when the last of them has."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, stdout=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert int(done.stdout)
