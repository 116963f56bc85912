"""With a budget, memory that the C library keeps goes back to the system; without one, or without glibc, it stays."""

import subprocess
import sys

import pytest

from gapline.files import memory

# Pieces of 60 kB come from a heap; the last one holds all others before it there.
CODE = """
import ctypes, re, sys
from contextlib import nullcontext
from gapline.files.memory import limited_memory
from gapline.files.memory import give_back, use_one_heap

def held():
    return int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read())[1])

use_one_heap()
pieces = [bytes(60_000) for _ in range(1000)]
last = pieces[-1]
del pieces
before = held()
with limited_memory(1 << 28) if sys.argv[1] == "budget" else nullcontext():
    give_back()
print(before - held() > 40_000)
"""


@pytest.mark.skipif(memory._library() is None, reason="the C library of this system is not glibc")
@pytest.mark.parametrize(("given", "gone"), [("budget", "True"), ("nothing", "False")])
def test_what_was_freed_goes_back_where_a_budget_is_given(given, gone):
    done = subprocess.run([sys.executable, "-c", CODE, given], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == gone


def test_other_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(memory, "_library", lambda: None)
    memory.use_one_heap()
    memory.give_back()
