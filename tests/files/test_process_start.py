"""A process is named by its number and when it began."""

import os
import subprocess
import sys

from gapline.files import process_start as model_began
from gapline.files.process_start import began, is_running


def test_a_process_began_once_and_is_gone_when_it_has_ended():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    first = began(child.pid)
    assert first is not None
    assert began(child.pid) == first
    assert began(os.getpid()) <= first
    child.communicate()
    assert began(child.pid) is None


def test_a_process_that_has_ended_is_not_running_before_its_parent_asks_for_it():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    first = began(child.pid)
    assert is_running(child.pid, first) is True
    assert is_running(child.pid, first + 1) is False
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert began(child.pid) == first
    assert is_running(child.pid, first) is False
    child.communicate()
    assert is_running(child.pid, first) is False


def test_a_process_that_the_system_hides_may_be_running(monkeypatch, tmp_path):
    monkeypatch.setattr(model_began, "PROCESSES", tmp_path)
    assert (began(os.getpid()), is_running(os.getpid(), 1)) == (None, None)
