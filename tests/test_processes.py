"""Nothing of ours forks a process that has loaded Polars: its threads are missing in the child, which hangs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gapline
from patience import PATIENCE

ROOT = Path(__file__).parents[1]
OURS = [Path(gapline.__file__).parent, ROOT / "bench", ROOT / "simulations", ROOT / "torture"]
# The nursery forks: it loads the standard library and msgspec alone, and has one thread.
FORKS = {"nursery.py"}


def calls(path):
    """Each call in a file as its last name and the names of its keyword arguments."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield name, {keyword.arg for keyword in node.keywords}, [getattr(arg, "value", None) for arg in node.args]


@pytest.mark.slow
def test_pools_name_how_their_processes_start():
    found = []
    for path in sorted(path for folder in OURS for path in folder.rglob("*.py")):
        for name, keywords, values in calls(path):
            if name == "ProcessPoolExecutor" and "mp_context" not in keywords:
                found.append(f"{path}: a pool without mp_context")
            if name == "get_context" and values not in (["spawn"], ["forkserver"]):
                found.append(f"{path}: get_context({values})")
            if name in ("Pool", "Process", "fork", "forkpty") and path.name not in FORKS:
                found.append(f"{path}: {name}")
    assert found == []


def test_the_nursery_that_forks_has_not_loaded_polars():
    code = "import sys, gapline.process.supervise, gapline.process.nursery; print('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


SCRIPT = """
import multiprocessing, sys
import gapline as gl

def count(path):
    return len(gl.read(path).runs)

if __name__ == "__main__":
    before = count(sys.argv[1])
    with multiprocessing.get_context(sys.argv[2]).Pool(1) as pool:
        print(before, *pool.map(count, [sys.argv[1]] * 2))
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_what_the_docs_advise_works_after_a_read(tmp_path, method):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "traces.csv").write_text("arm,instance,seed,time,objective,horizon\na,i,1,1,10,60\nb,i,1,2,11,60\n")
    command = [sys.executable, "script.py", "traces.csv", method]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.stdout == "2 2 2\n", done.stderr
