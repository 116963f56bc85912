"""What a campaign costs beside its solvers: many runs of one that exits at once.

python -c "from bench.bench_schedule import run; print(run())"
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gapline.executors.core_leases import cores
from gapline.run.campaign import run_study

CELLS = 1000
ROUNDS, LIMIT = 3, 3.0
CHILD = [sys.executable, "-c", "pass"]
CONTRACT = """
seeds = {seeds}
[study]
name = "at-once"
[objective]
validation = "solver"
[time]
horizon = 60.0
{instances}
[[arms]]
name = "nothing"
solver = "command"
command = ["{python}", "-c", "pass"]
"""


def run() -> list[tuple[str, float, float | None]]:
    """Measure in turns, and return (what, ratio, limit)."""
    ratios: list[float] = []
    # The best of three rounds counts; one that keeps the limit needs no other.
    while len(ratios) < ROUNDS and min(ratios, default=LIMIT + 1) > LIMIT:
        ratios.append(_ratio())
    return [("schedule: 1,000 runs of a solver that exits at once / 1,000 Python children", min(ratios), LIMIT)]


def _ratio() -> float:
    slots = len(cores())
    # One half before, one half after: a machine that slows down meanwhile does so for both.
    loop = _loop(CELLS // 2, slots)
    campaign = _campaign(CELLS)
    return campaign / (loop + _loop(CELLS - CELLS // 2, slots))


def _loop(count: int, slots: int) -> float:
    """Return the time of starting so many children, `slots` at a time."""
    began = time.perf_counter()
    running: list[subprocess.Popen[bytes]] = []
    for _ in range(count):
        if len(running) == slots:
            running.pop(0).wait()
        running.append(subprocess.Popen(CHILD, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
    for child in running:
        child.wait()
    return time.perf_counter() - began


def _campaign(count: int) -> float:
    """Return the time of a whole campaign of so many cells, journals and columns included."""
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder)
        instances = []
        for number in range(10):
            (study / f"{number}.txt").write_text(f"{number}\n")
            instances.append(f'[[instances]]\npath = "{number}.txt"\n')
        contract = CONTRACT.format(seeds=list(range(count // 10)), instances="".join(instances), python=sys.executable)
        (study / "study.toml").write_text(contract)
        began = time.perf_counter()
        report = run_study(study)
        spent = time.perf_counter() - began
        assert (report.done, report.left) == (count, 0)
    return spent


if __name__ == "__main__":
    for what, ratio, limit in run():
        print(f"{what:<80} {ratio:8.3f}  limit {limit}")
