"""Groups of the kernel: tried on the machine's own where it has them, with what its controllers allow.

`tools/try-cgroups` boots a kernel with all controllers and tries the limits there.
"""

import os
import subprocess
import sys
import threading

import pytest

from gapline.process import cgroup
from gapline.process.cgroup import (
    CONTROLLERS,
    Group,
    cpu_list,
    end_group,
    group_base,
    group_name,
    make_group,
    sweep_groups,
)

HIDES = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    code = 'import os, time; os.write(1, b"!"); time.sleep(1000)'
    os.execve(sys.executable, ["x", "-S", "-E", "-c", code], {})
"""
BASE = group_base()
needs_groups = pytest.mark.skipif(BASE is None, reason="this machine has no cgroup v2 that we may write to")


@pytest.fixture
def group(tmp_path):
    made = make_group(group_name(tmp_path))
    yield made
    made.end()
    made.remove()


def start_in(group: Group, code: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-S", "-E", "-c", code], stdout=subprocess.PIPE, preexec_fn=group.join)  # noqa: PLW1509


@needs_groups
def test_a_process_that_leaves_its_family_stays_in_its_group(group):
    process = start_in(group, HIDES)
    assert process.stdout.read(1) == b"!"
    process.wait()
    assert group.has(os.getpid()) is False
    (hidden,) = group.processes()
    assert hidden != process.pid
    assert group.end() == 0
    assert group.processes() == []
    process.stdout.close()


@needs_groups
def test_a_group_is_found_again_by_the_attempt_and_ended(tmp_path):
    attempt = tmp_path / "attempt-007"
    group = make_group(group_name(attempt))
    process = start_in(group, "import time; print('!', flush=True); time.sleep(1000)")
    process.stdout.readline()
    waited = threading.Thread(target=process.wait)
    waited.start()
    assert end_group(attempt) == 1
    waited.join()
    assert process.returncode == -9
    assert not group.path.exists()
    assert end_group(attempt) == 0
    process.stdout.close()


@needs_groups
def test_groups_that_a_solver_makes_below_its_own_are_ended_and_removed(group):
    below = group.path / "below"
    below.mkdir()
    process = start_in(Group(below, ()), "import time; print('!', flush=True); time.sleep(1000)")
    process.stdout.readline()
    assert group.processes() == [process.pid]
    waited = threading.Thread(target=process.wait)
    waited.start()
    assert group.end() == 0
    waited.join()
    group.remove()
    assert not group.path.exists()
    process.stdout.close()


@needs_groups
def test_empty_groups_of_the_dead_are_swept_and_those_in_use_stay(group, tmp_path, monkeypatch):
    # Below one of our own: groups of other tests at this moment may be empty and about to be joined.
    monkeypatch.setenv(cgroup.VARIABLE, str(group.path))
    empty, group = make_group(group_name(tmp_path / "dead")), make_group(group_name(tmp_path / "used"))
    process = start_in(group, "import time; print('!', flush=True); time.sleep(1000)")
    process.stdout.readline()
    sweep_groups()
    assert empty.path.exists()
    sweep_groups(older_than=-1.0)
    assert not empty.path.exists()
    assert group.processes() == [process.pid]
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.slow
@needs_groups
def test_a_family_that_forks_on_is_ended_in_one_step(supervise):
    attempt = supervise("forks", horizon=1.0)
    assert attempt.ending.limits.startswith("kernel: processes")
    assert attempt.ending.leftover == 0


@needs_groups
def test_no_group_is_left_by_a_run(supervise):
    attempt = supervise("dies", "0")
    assert not (BASE.path / group_name(attempt.directory)).exists()


def test_without_groups_limits_are_sampled(supervise, monkeypatch):
    monkeypatch.setenv(cgroup.VARIABLE, "off")
    assert supervise("dies", "0").ending.limits == "sampled"


def hierarchy(root, *, offered, handed_on, others=()):
    """A folder that looks like a group of the kernel, for what this machine's controllers do not let us try."""
    root.mkdir(parents=True)
    (root / "cgroup.procs").write_text("\n".join(map(str, others)))
    (root / "cgroup.type").write_text("domain\n")
    (root / "cgroup.controllers").write_text(f"{offered}\n")
    (root / "cgroup.subtree_control").write_text(f"{handed_on}\n")
    return root


def test_a_group_of_which_others_are_members_is_left_as_it_is(tmp_path, monkeypatch):
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    stranger = 1 if os.getppid() != 1 else other.pid
    monkeypatch.setattr(cgroup, "_family", lambda pid: {pid})
    root = hierarchy(tmp_path / "g", offered="cpuset memory pids", handed_on="", others=[os.getpid(), stranger])
    monkeypatch.setenv(cgroup.VARIABLE, str(root))
    assert group_base().controllers == frozenset()
    assert not (root / cgroup.LEAF).exists()
    other.communicate(b"\n")


def test_controllers_that_are_handed_on_already_are_used(tmp_path, monkeypatch):
    root = hierarchy(tmp_path / "g", offered="cpu memory pids", handed_on="cpu memory pids", others=[os.getpid()])
    (root / cgroup.LEAF).mkdir()
    (root / cgroup.LEAF / "cgroup.procs").touch()
    monkeypatch.setenv(cgroup.VARIABLE, str(root / cgroup.LEAF))
    found = group_base()
    assert found.path == root
    assert found.controllers == {"memory", "pids"}
    assert set(CONTROLLERS) > found.controllers


def test_off_and_nonsense_mean_none(tmp_path, monkeypatch):
    for value in ("off", str(tmp_path), str(tmp_path / "nowhere")):
        monkeypatch.setenv(cgroup.VARIABLE, value)
        assert group_base() is None


def test_the_group_of_a_process_is_found_by_its_mount(tmp_path, monkeypatch):
    monkeypatch.delenv(cgroup.VARIABLE, raising=False)
    root = hierarchy(tmp_path / "fs" / "scope", offered="", handed_on="")
    (tmp_path / "cgroup").write_text("4:memory:/elsewhere\n0::/user/scope\n")
    mount = f"31 30 0:27 /user {tmp_path / 'fs'} rw,nosuid shared:4 - cgroup2 none rw"
    (tmp_path / "mountinfo").write_text(f"30 20 0:26 / /sys rw - sysfs sysfs rw\n{mount}\n")
    assert group_base(proc=tmp_path).path == root
    (tmp_path / "cgroup").write_text("4:memory:/elsewhere\n")
    assert group_base(proc=tmp_path) is None


def test_lists_of_processors():
    assert cpu_list("") == set()
    assert cpu_list("3") == {3}
    assert cpu_list("0-3,8,10-11\n") == {0, 1, 2, 3, 8, 10, 11}


def test_removing_a_group_that_is_held_takes_no_longer_than_a_moment(tmp_path, monkeypatch):
    (tmp_path / "g" / "child").mkdir(parents=True)
    waited = []
    monkeypatch.setattr(cgroup.time, "sleep", waited.append)
    Group(tmp_path / "g", ()).remove()
    assert 0 < sum(waited) < 1
