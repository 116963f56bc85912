"""The folder list is the flow: a folder imports only from folders above it in the design's table."""

import ast
import subprocess
import sys
from pathlib import Path

import gapline

SOURCE = Path(gapline.__file__).parent
# The order of the flow, which is the table of ARCHITECTURE.md.
FLOW = ["errors", "model", "journal", "capture", "check", "envelope", "reference", "scoring", "summary", "study"]
FLOW += ["analysis", "report", "paper", "generate", "solvers", "run", "cli", "testing", "__init__", "figures"]
# `run` sees model, journal, capture, check and solvers, never scores; report and run do not know each other.
SCORES = {"envelope", "reference", "scoring", "summary", "study", "analysis", "report", "paper"}
FORBIDDEN = {"run": SCORES, "solvers": SCORES, "generate": SCORES}
# `Campaign.from_runs` is a convenience on the noun; the import is inside the method.
ALLOWED = {("model", "capture")}


def folder_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imported_folders(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("gapline.")}
    return found


def test_folders_import_only_from_folders_above_them():
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        here = folder_of(path)
        for there in imported_folders(path):
            if there == here or (here, there) in ALLOWED:
                continue
            if FLOW.index(there) > FLOW.index(here) or there in FORBIDDEN.get(here, set()):
                wrong.append(f"{path.relative_to(SOURCE)} imports {there}")
    assert not wrong


def test_import_gapline_loads_nothing_heavy():
    heavy = ["numpy", "numba", "polars", "pydantic", "altair", "rich", "starlette", "kayros", "pyvrp", "ortools"]
    code = f"import sys, gapline; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_public_names_are_complete_and_sorted():
    assert gapline.__all__ == sorted(gapline.__all__)
    assert all(getattr(gapline, name) is not None for name in gapline.__all__)
