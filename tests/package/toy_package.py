"""A small study of a program on the PATH that really runs, and its package; an arm of it can be slowed down.

The program says 20, then what so many steps give, and ends; the horizon is so long that how fast it starts is nothing.
"""

import os
import sys
from pathlib import Path

from gapline.references.snapshot import Snapshot
from gapline.run.campaign import run_study
from packages import make_package

HORIZON = 300.0
PANELS = {"p": 3, "q": 3}
PROGRAM = """#!{python} -SE
import sys
instance, arm = sys.argv[1:3]
steps = int(sys.argv[3]) / (1 if arm != "quick" else {slower})
number = int(open(instance).read())
print('{{"solver": "toy", "version": "{version}"}}', flush=True)
print('{{"objective": 20}}', flush=True)
print('{{"objective": %r}}' % (11 + number / 100 + 8 / steps), flush=True)
"""
CONTRACT = """# A study of a toy.
seeds = [1, 2]

[study]
name = "toy"

[objective]
validation = "solver"

[time]
horizon = {horizon}
grace = 0.5

[reference]
policy = "frozen"
snapshot = "references/known.json"

[aggregate]
contrasts = [["quick", "steady"]]

{instances}
[[arms]]
name = "quick"
solver = "command"
command = ["toy", "{{instance}}", "quick", "16"]

[[arms]]
name = "steady"
solver = "command"
command = ["toy", "{{instance}}", "steady", "4"]

[[arms]]
name = "third"
solver = "command"
command = ["toy", "{{instance}}", "third", "8"]
tier = 2
"""


def install(folder: Path, *, slower: float = 1.0, version: str = "1.0") -> str:
    """Put the program into a folder; return a PATH with this folder first. The arm `quick` may be made slower."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "toy"
    program.write_text(PROGRAM.format(python=sys.executable, slower=slower, version=version))
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def write_toy(study: Path) -> Path:
    """Write the study; nothing of it is run."""
    names = [(panel, f"{panel}{k}") for panel, count in PANELS.items() for k in range(count)]
    (study / "instances").mkdir(parents=True)
    for place, (_, name) in enumerate(names):
        (study / "instances" / f"{name}.txt").write_text(f"{place}\n")
    blocks = "".join(f'[[instances]]\npath = "instances/{name}.txt"\npanel = "{panel}"\n\n' for panel, name in names)
    (study / "study.toml").write_text(CONTRACT.format(horizon=HORIZON, instances=blocks))
    Snapshot.from_values({name: 10.0 for _, name in names}, name="known").save(study / "references" / "known.json")
    return study


def make_toy(folder: Path) -> Path:
    """Run the study and return its package; `toy` has to be on the PATH."""
    study = write_toy(folder / "study")
    assert run_study(study, pin=False).left == 0
    return make_package(study, folder / "toy.zip")
