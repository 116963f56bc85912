"""Timed runs with and without somebody who watches: what they say of how they were measured does not get worse.

python -m bench unmoved
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from torture.crowd import Crowd, served

import gapline as gl

ROUNDS = 3
HORIZON = 3.0
# What nobody would call worse on a machine without any noise: a hundredth of a core, a millisecond.
LEAST = {"cpu_share": 0.01, "foreign_share": 0.01, "jitter": 0.001}
# Works all the time, and says something twenty times a second.
SOLVER = """
import json, time
began, number = time.monotonic(), 0
while True:
    while time.monotonic() - began < number / 20:
        pass
    number += 1
    print(json.dumps({"objective": 1000.0 - number}), flush=True)
"""
CONTRACT = """
seeds = [1, 2]
[study]
name = "unmoved"
[objective]
validation = "solver"
[time]
horizon = {horizon}
grace = 0.5
[reference]
policy = "frozen"
snapshot = "references/known.json"
[[instances]]
path = "one.txt"
[[arms]]
name = "busy"
solver = "command"
command = ["{python}", "-S", "-E", "solver.py"]
"""


def run() -> list[tuple[str, float, float | None]]:
    """Measure, and return (what, ratio, limit)."""
    found: dict[bool, list[pl.DataFrame]] = {False: [], True: []}
    for _ in range(ROUNDS):
        for watched, runs in found.items():
            runs.append(_campaign(watched=watched))
    alone, seen = (pl.concat(runs, how="diagonal_relaxed") for runs in found.values())
    return [
        (f"unmoved: {name} of timed runs, worse with a server by / noise without one", _worse(name, alone, seen), 1.0)
        for name in LEAST
    ]


def _worse(name: str, alone: pl.DataFrame, seen: pl.DataFrame) -> float:
    """Return by how much the median is worse where somebody watches, in ranges of the runs that nobody watches."""
    without, watched = (runs[name].cast(pl.Float64).drop_nulls().to_list() for runs in (alone, seen))
    if not without or not watched:
        # A run that is not pinned does not tell who else used its core.
        return 0.0
    noise = max(max(without) - min(without), LEAST[name])
    worse = statistics.median(watched) - statistics.median(without)
    return max(0.0, -worse if name == "cpu_share" else worse) / noise


def _campaign(*, watched: bool) -> pl.DataFrame:
    """Run a campaign, and return its runs."""
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        (study / "references").mkdir(parents=True)
        (study / "one.txt").write_text("1\n")
        (study / "solver.py").write_text(SOLVER)
        (study / "study.toml").write_text(CONTRACT.format(horizon=HORIZON, python=sys.executable))
        gl.Snapshot.from_values({"one": 900.0}, name="known").save(study / "references" / "known.json")
        command = [sys.executable, "-c", "from gapline.cli import main; main()", "run", str(study), "-j", "1"]
        if not watched:
            subprocess.run(command, check=True, capture_output=True)
        else:
            with served(study) as server:
                crowd = Crowd(server.port, 1, 0)
                runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                crowd.attend(time.monotonic() + 300, lambda: runner.poll() is not None)
                crowd.close()
        return gl.open(study / "campaign").runs
