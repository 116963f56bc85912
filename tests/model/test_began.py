"""A process is named by its number and when it began."""

import os
import subprocess
import sys

from gapline.model.began import began


def test_a_process_began_once_and_is_gone_when_it_has_ended():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    first = began(child.pid)
    assert first is not None
    assert began(child.pid) == first
    assert began(os.getpid()) <= first
    child.communicate()
    assert began(child.pid) is None
