"""Locks on files: one owner at a time, and none is left behind."""

import fcntl
import os
import subprocess
import sys
import threading

import pytest

from gapline.files.locks import lock_now, locked, open_lock
from patience import PATIENCE


def test_a_lock_has_one_owner_and_is_free_when_its_file_is_closed(tmp_path):
    first, second = open_lock(tmp_path / "lock"), open_lock(tmp_path / "lock")
    assert lock_now(first)
    assert not lock_now(second)
    os.close(first)
    assert lock_now(second)
    os.close(second)


def test_those_who_only_look_do_not_disturb_each_other(tmp_path):
    first, second = open_lock(tmp_path / "lock"), open_lock(tmp_path / "lock")
    assert lock_now(first, fcntl.LOCK_SH)
    assert lock_now(second, fcntl.LOCK_SH)
    os.close(first)
    os.close(second)


def test_a_second_one_waits_and_a_process_that_is_killed_lets_go(tmp_path):
    code = "import sys; from pathlib import Path; from gapline.files.locks import locked\n"
    code += "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(tmp_path / "lock")]
    owner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert owner.stdout.readline() == "held\n"
    got = threading.Event()

    def wait():
        with locked(tmp_path / "lock"):
            got.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not got.is_set()
    owner.kill()
    owner.communicate()
    waiting.join(timeout=PATIENCE)
    assert got.is_set()


def test_a_pipe_in_the_place_of_a_lock_is_refused(tmp_path):
    """Writing more to it than it holds would wait for a reader."""
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(OSError, match="got a pipe"):
        open_lock(tmp_path / "lock")


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path):
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        open_lock(tmp_path / "lock")
    assert not (tmp_path / "elsewhere").exists()
