"""Large scratch files are closed by a thread, and whoever needs their room on the disk waits for it."""

import errno
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gapline.files import scratch_arrays
from gapline.files.memory import limited_memory
from gapline.files.scratch_arrays import (
    ScratchArray,
    close_elsewhere,
    close_here,
    prepare_closing,
    scratch_array,
    wait_until_closed,
)

LARGE = 1 << 20


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_large_file_is_closed_by_the_time_that_somebody_waits_for():
    before = open_files()
    with limited_memory(128):
        made = ScratchArray(LARGE)
        kept = made.cut(3)
        del made
        assert open_files() > before
        del kept
        wait_until_closed()
    assert open_files() == before


@pytest.mark.slow
def test_the_collector_of_garbage_may_let_go_of_a_file_at_any_time():
    # What earlier tests left to the collector is closed first, so that the count is of this test alone.
    gc.collect()
    wait_until_closed()
    before = open_files()
    with limited_memory(128):
        for _ in range(5):
            ring = [scratch_array(LARGE)]
            ring.append(ring)
            del ring
    gc.collect()
    wait_until_closed()
    assert open_files() == before


def test_a_full_disk_is_asked_again_once_the_files_of_before_are_gone(monkeypatch):
    allocate, before = os.posix_fallocate, open_files()

    def full_while_others_are_there(file, start, size):
        # Two: the file itself, and how it is shown.
        if open_files() > before + 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        allocate(file, start, size)

    with limited_memory(128):
        earlier = ScratchArray(LARGE)
        made = ScratchArray(LARGE)
        monkeypatch.setattr(os, "posix_fallocate", full_while_others_are_there)
        with pytest.raises(OSError, match="No space left"):
            made.reserve(LARGE)
        del earlier
        assert len(made.reserve(LARGE)) == LARGE


def test_without_a_thread_files_are_closed_at_once(monkeypatch):
    monkeypatch.setattr(scratch_arrays, "_closers", [])
    wait_until_closed()
    before = open_files()
    close_elsewhere(os.open(os.devnull, os.O_RDONLY))
    assert open_files() == before
    close_here(1 << 30)


def test_a_forked_child_has_no_such_thread_and_a_command_ends_while_files_are_open():
    code = f"""
import os
from gapline.files.memory import limited_memory
from gapline.files.scratch_arrays import scratch_array
with limited_memory(128):
    kept = scratch_array({LARGE})
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    else:
        before = len(os.listdir("/proc/self/fd"))
        del kept
        kept = scratch_array({LARGE})
        from gapline.files.scratch_arrays import wait_until_closed
        wait_until_closed()
        os._exit(len(os.listdir("/proc/self/fd")) - before)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_the_thread_is_started_once():
    prepare_closing()
    first = scratch_arrays._closers[0]
    prepare_closing()
    assert scratch_arrays._closers == [first]
