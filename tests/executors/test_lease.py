"""Cores that two workers of one machine never have at the same time."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gapline.errors import EnvironmentLacksError, UsageError
from gapline.executors import core_leases
from gapline.executors.core_leases import FOLDER_VARIABLE, cores, lease_cores, lease_folder


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
    with lease_cores(len(cores()), stopping=lambda: True, folder=tmp_path) as core_leases:
        assert core_leases is not None


def test_more_cores_than_there_are_is_wrong_use(tmp_path):
    with (
        pytest.raises(UsageError, match="the cores of this machine"),
        lease_cores(len(cores()) + 1, stopping=lambda: False, folder=tmp_path),
    ):
        pass


# Locks a core's file, in a process that is nobody's child any more, until the pipe that it was given is closed.
HOLDER = """
import fcntl, os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(file, fcntl.LOCK_EX)
if os.fork():
    os._exit(0)
print(os.getpid(), flush=True)
os.read(int(sys.argv[2]), 1)
"""


def wait_in_vain(folder, said, *, looks=5):
    asked = iter([False] * looks + [True])
    with lease_cores(len(cores()), stopping=lambda: next(asked), folder=folder, say=said.append) as none:
        assert none is None


def test_who_waits_for_cores_of_others_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setattr(core_leases, "TELL_AFTER", 0.0)
    said = []
    reading, writing = os.pipe()
    command = [sys.executable, "-c", HOLDER, str(core_leases._file(tmp_path, cores()[0])), str(reading)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[reading]) as starter:
        other = int(starter.stdout.readline())
        starter.wait()
        wait_in_vain(tmp_path, said)
        os.close(writing)
    os.close(reading)
    assert said == [
        f"waiting for {len(cores())} of {len(cores())} cores: other runs of gapline have them (processes {other})"
    ]


def test_runs_of_one_campaign_wait_for_each_other_without_a_word(tmp_path, monkeypatch):
    """Also where a process below this one has the core, as the supervisor of a run has it."""
    monkeypatch.setattr(core_leases, "TELL_AFTER", 0.0)
    said = []
    with lease_cores(1, stopping=lambda: False, folder=tmp_path) as (_, held):
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=held)
        wait_in_vain(tmp_path, said)
    wait_in_vain(tmp_path, said)
    child.communicate()
    assert said == []


def test_the_leases_of_a_user_are_one_directory_whatever_tmpdir_says(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert lease_folder() == Path("/tmp") / f"gapline-cores-{os.getuid()}"


def test_a_directory_that_somebody_else_has_put_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"gapline-cores-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EnvironmentLacksError, match="expected a directory of this user"):
        lease_folder(tmp_path)
