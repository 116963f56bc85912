"""No process outlives its run, however it hides."""

import os
import subprocess
import sys

import pytest

from gapline.contract.tables import RunStatus
from gapline.process import tree


@pytest.mark.parametrize("keep", ["keep", "leave"])
def test_a_daemon_does_not_outlive_its_run(supervise, tmp_path, keep):
    """Its session, its environment and its parent are gone; that it may hold the pipe open delays nothing."""
    attempt = supervise("daemonises", keep)
    assert attempt.journal.status is RunStatus.FINISHED
    assert attempt.objectives == [10.0]
    assert attempt.ending.stragglers == 1
    daemon = int((tmp_path / "daemon.pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


@pytest.mark.slow
def test_a_family_that_forks_on_is_cleared(supervise):
    attempt = supervise("forks", horizon=1.0)
    assert attempt.journal.status is RunStatus.TIME_LIMIT
    assert attempt.ending.leftover == 0
    assert attempt.ending.stragglers > 10


@pytest.mark.slow
def test_the_memory_of_all_processes_counts(supervise):
    attempt = supervise("eats_memory", memory=200)
    assert attempt.journal.status is RunStatus.MEMORY_LIMIT
    assert attempt.objectives == [10.0]
    assert attempt.ending.peak_memory > 200_000_000


# A child of a second thread, its child, and a zombie; each says that it is there.
FAMILY = """
import os, subprocess, sys, threading, time
inner = "import subprocess, sys; subprocess.Popen(['sleep', '600']); print('there', flush=True); sys.stdin.read()"
def start():
    child = subprocess.Popen([sys.executable, "-c", inner], stdin=0, stdout=1)
    threading.Event().wait()
threading.Thread(target=start, daemon=True).start()
if os.fork() == 0:
    os._exit(0)
sys.stdin.read()
"""


def test_a_look_at_the_own_tree_finds_all_of_it_and_reads_nothing_else(monkeypatch):
    """The memory watcher looks ten times a second, and a machine may have thousands of other processes."""
    parent = subprocess.Popen([sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert parent.stdout.readline() == b"there\n"
        everything = sorted(tree.descendants(parent.pid))
        assert len(everything) == 2
        looked_at = []
        monkeypatch.setattr(tree, "_process_names", lambda: looked_at.append("all") or [])
        assert sorted(tree.family(parent.pid)) == everything
        assert looked_at == []
        assert tree.family(other.pid) == []
    finally:
        for process in (parent, other):
            tree.signal_all([*tree.family(process.pid), process.pid], tree.signal.SIGKILL)
            process.communicate()


def test_where_the_kernel_lists_no_children_all_processes_are_looked_at(monkeypatch):
    monkeypatch.setattr(tree, "_lists_children", lambda: False)
    child = subprocess.Popen(["sleep", "600"])
    try:
        assert child.pid in tree.family(os.getpid())
    finally:
        child.kill()
        child.wait()
