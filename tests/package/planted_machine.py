"""A small study whose solver, checker and machine name themselves wherever they can: nothing of it may get out.

It is really run: a program of the study prints candidates, a checker of the study judges them, and both tell host,
user, home and study path in every place that is kept of a run.
"""

import json
import shutil
from pathlib import Path

import pytest

import gapline as gl
from gapline.references.snapshot import Snapshot
from gapline.run import cell

HOST, USER = "Plantedhost-7", "plantedjane"
SOLVER = """
import json, os, sys
from words import SHIFT

instance, seed = sys.argv[1], int(sys.argv[2])
study, home = os.getcwd(), os.environ.get("PLANTED_HOME", "/home/plantedjane")
print(json.dumps({"solver": "own", "version": "1.0 built on Plantedhost-7 in " + home + "/build/x"}), flush=True)
print("no JSON: " + instance + " by plantedjane@Plantedhost-7.example.org", flush=True)
print("[1/2] " + study + " -I" + home + "/include " + home, file=sys.stderr, flush=True)
for step in range(4):
    objective = 30.0 - 3 * step - seed + SHIFT
    said = {"objective": objective, "solution": {"/home/of/a/name": objective}, "log": study + "/out.txt"}
    print(json.dumps(said), flush=True)
print(json.dumps({"objective": 1.0, "solution": {"bad": 1.0}, "at": instance.replace("/", chr(92) + "/")}), flush=True)
"""
CHECKER = """
def check(instance, solution):
    if "bad" in solution:
        return f"no solution of {instance}"
    return next(iter(solution.values()))
"""
CONTRACT = """
seeds = 2

[study]
name = "planted"
title = "A study with a machine in it"

[objective]
checker = "python:rules:check"

[time]
horizon = 20

[reference]
policy = "frozen"
snapshot = "references/known.json"

[aggregate]
contrasts = [["own", "other"]]
bootstrap = { draws = 50 }

[[instances]]
path = "instances/*.txt"
panel = "small"
"""
ARM = """
[[arms]]
name = "{name}"
solver = "command"
command = ["python3", "solve.py", "{{instance}}", "{{seed}}"]
options = {{ shown = "{name}" }}
"""


def write_study(folder: Path) -> Path:
    """Write the study, not run yet."""
    (folder / "instances").mkdir(parents=True)
    for name in ("one", "two"):
        (folder / "instances" / f"{name}.txt").write_text(f"{name}\n")
    (folder / "solve.py").write_text(SOLVER)
    (folder / "solve.py").chmod(0o755)
    (folder / "words.py").write_text("SHIFT = 0.0\n")
    (folder / "rules.py").write_text(CHECKER)
    (folder / "study.toml").write_text(CONTRACT + ARM.format(name="own") + ARM.format(name="other"))
    values = {"one": {"value": 19.0}, "two": {"value": 18.5}}
    store = {"name": "known", "url": "https://example.org/known", "version": "v3"}
    snapshot = Snapshot.from_entries(values, name="known", store=store, as_of="2020-01-01T00:00:00Z")
    (folder / "references").mkdir()
    snapshot.save(folder / "references" / "known.json")
    return folder


def run_study(folder: Path) -> Path:
    """Run it, on a machine that has a name of its own."""
    known = cell.describe_machine()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell, "describe_machine", lambda: known | {"host": HOST})
        report = gl.run_study(folder, jobs=2)
    assert report.left == 0
    return folder


def make_study(folder: Path) -> Path:
    """Write and run it in the home of somebody, and leave what others and earlier versions leave in a directory."""
    study = run_study(write_study(folder / "home" / USER / "my study"))
    (study / "notes.txt").write_text(f"by {USER}\n")
    (study / "calibrations.jsonl").write_text(f'{{"host":"{HOST}","processor":"p","work":"w","seconds":1.0}}\n')
    (study / "drafts").mkdir()
    (study / "drafts" / "one.md").write_text("one\n")
    return study


def copied(study: Path, folder: Path) -> Path:
    """Return a copy of a study."""
    return Path(shutil.copytree(study, folder, symlinks=True))


def read_document(folder: Path) -> dict:
    """Return `package.json` of an unpacked package."""
    return json.loads((folder / "package.json").read_text(encoding="utf-8"))
