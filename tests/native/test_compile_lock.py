"""Processes that want the same code at once: one makes it, the others take it; and nobody waits for the dead."""

import subprocess
import sys
from collections import Counter

import pytest

from bound_by_permissions import set_writable
from gapline.native import compilation
from gapline.native.compilation import NAME, hold

MODULE = """
from gapline.native.compilation import compiled

@compiled()
def twice(x):
    return 2 * x

@compiled()
def total(values):
    sum = 0.0
    for k in range(len(values)):
        sum += twice(values[k])
    return sum
"""
# Ready before anybody begins, so that they all find nothing kept.
CHILD = """
import sys, numba, numpy as np
from numba.core import event
import wanted

class Noted(event.Listener):
    def on_start(self, seen):
        print("compiled", seen.data["dispatcher"].py_func.__name__)
    def on_end(self, seen):
        pass

event.register("numba:compile", Noted())
print("ready", flush=True)
sys.stdin.readline()
print("result", wanted.total(np.arange(4.0)))
"""
HOLDER = """
import sys
from pathlib import Path
from gapline.native.compilation import hold

with hold(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def start(code, *arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        **environment,
    )  # fmt: skip


@pytest.mark.slow
def test_ten_processes_with_nothing_kept_compile_each_function_once_in_all(tmp_path, monkeypatch):
    (tmp_path / "wanted.py").write_text(MODULE)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    children = [start(CHILD, cwd=tmp_path) for _ in range(10)]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    said = [child.communicate()[0].splitlines() for child in children]
    assert [lines[-1] for lines in said] == ["result 12.0"] * 10
    assert Counter(line for lines in said for line in lines[:-1]) == {"compiled total": 1, "compiled twice": 1}
    assert len(list((tmp_path / "kept").rglob("*.nbc"))) == 2


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path, monkeypatch):
    monkeypatch.setattr(compilation, "PATIENCE", 0.0)
    holder = start(HOLDER, tmp_path)
    assert holder.stdout.readline() == "held\n"
    assert compilation._take(tmp_path) is None
    holder.kill()
    holder.communicate()
    handle = compilation._take(tmp_path)
    assert handle is not None
    compilation.os.close(handle)


def test_a_holder_that_never_ends_is_waited_for_and_then_left(tmp_path, monkeypatch):
    """It may be stopped: code that is made twice is better than a command that hangs."""
    monkeypatch.setattr(compilation, "PATIENCE", 0.05)
    holder = start(HOLDER, tmp_path)
    assert holder.stdout.readline() == "held\n"
    with hold(tmp_path):
        pass
    holder.communicate("end\n")
    assert holder.returncode == 0


def test_a_function_is_compiled_while_its_caller_is(tmp_path, monkeypatch):
    monkeypatch.setattr(compilation, "PATIENCE", 0.0)
    with hold(tmp_path):
        with hold(tmp_path):
            pass
        # Still ours: the inner one gave nothing back.
        assert compilation._take(tmp_path) is None
    with hold(tmp_path / "made"):
        assert (tmp_path / "made" / NAME).exists()


@pytest.mark.parametrize("below", [".", "missing"])
def test_where_there_is_no_place_for_a_lock_there_is_none(tmp_path, below):
    code = (
        "import sys; from pathlib import Path; from gapline.native import compilation\n"
        "with compilation.hold(Path(sys.argv[1])): print(compilation._depth)"
    )
    from bound_by_permissions import bind

    set_writable(tmp_path, writable=False)
    child = start(code, tmp_path / below, preexec_fn=bind)
    assert child.communicate()[0].endswith(": 1}\n")
    assert child.returncode == 0
    assert not list(tmp_path.iterdir())
    set_writable(tmp_path, writable=True)
