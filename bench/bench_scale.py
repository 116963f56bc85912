"""What a study costs by its size: planning, status, a resume with nothing to do, and a campaign with one run more.

Journals are written by our own writer, three candidates each: no solver runs. Costs are processor time per cell in a
process of its own, each size over the one before it: a figure near 1 means that no cell costs more for the others.

python -m bench.bench_scale 1000 10000
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import numpy as np

from gapline.contract.instance_digest import problem_digest_of
from gapline.contract.plan import Cell, Plan
from gapline.contract.study_file import load_contract
from gapline.journal.index import Index
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, JournalWriter
from gapline.journal.records import Ending, Order, order_text
from gapline.run.cell import RunSettings, condition
from gapline.run.program_changes import digest_of

SIZES = (1_000, 10_000, 100_000)
PARTS = ("plan", "status", "resume")
ARMS, SEEDS = 5, 20
# Of the cost per cell, each size over the one before: caches of the processor and of the file system are left behind.
LIMIT = 1.6
GROWTH = 1.15
CONTRACT = """
seeds = {seeds}
[study]
name = "scale"
[objective]
validation = "solver"
[time]
horizon = 60.0
[[instances]]
path = "instances/*/*.txt"
panel = "{{parent}}"
[[arms]]
name = "arm-{{variant}}"
solver = "command"
command = ["/bin/true", "{{variant}}"]
ladder = {{variant = {variants}}}
"""

# Prints the seconds and the bytes that a part of the work added to the peak of a process of its own.
CHILD = r"""
import json, re, sys, time
from pathlib import Path
import gapline.journal.rebuild
from gapline.contract.study_file import load_contract
from gapline.contract.plan import Plan
from gapline.journal.rebuild import rebuild_campaign
from gapline.run.campaign import run_study
from gapline.run.resume import study_status

def peak():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024

work = {"plan": lambda study: len(Plan.of(load_contract(study)).digest), "status": study_status,
        "resume": run_study, "rebuild": rebuild_campaign}[sys.argv[1]]
before, start = peak(), time.process_time()
work(sys.argv[2])
print(json.dumps([time.process_time() - start, peak() - before]))
"""


def write_study(study: Path, cells: int) -> None:
    """Write a contract of so many cells, and its instances, in panels of a hundred."""
    seeds, arms = min(SEEDS, cells), min(ARMS, cells)
    for number in range(max(1, cells // (seeds * arms))):
        path = study / "instances" / f"panel{number // 100}" / f"i{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n")
    (study / "study.toml").write_text(CONTRACT.format(seeds=seeds, variants=list(range(arms))))


def write_runs(study: Path) -> None:
    """Write a whole journal for every cell of a study."""
    contract = load_contract(study)
    settings = RunSettings.of(study, contract, None)
    for cell in Plan.of(contract).cells:
        write_run(study, cell, settings)


def write_run(study: Path, cell: Cell, settings: RunSettings, number: int = 1, ending: Ending | None = None) -> Path:
    """Write an attempt at a cell with three candidates, as a supervisor leaves it."""
    path = study / cell.instance.path
    order = Order(
        arm=cell.arm.name,
        instance=cell.instance.name,
        seed=cell.seed,
        panel=cell.instance.panel,
        horizon=cell.horizon,
        attempt=number,
        argv=list(cell.arm.command),
        instance_path=cell.instance.path,
        condition=condition(cell, settings),
        cpus=[cell.seed % 2],
        carried={
            "tier": 1,
            "solver": "command",
            "threads": 1,
            "validation": settings.validation,
            "instance_digest": digest_of(path),
            "problem_digest": digest_of(path, of=problem_digest_of),
        },
        machine={"host": "h", "processor": "p", "cores": "2", "memory": "8 GB"},
        load=0.5,
    )
    attempt = cell.directory(study) / f"attempt-{number:03d}"
    attempt.mkdir(parents=True)
    (attempt / ORDER_FILE).write_bytes(order_text(order))
    ending = ending or Ending(
        cause="exit", started="2026-08-01T12:00:00+00:00", elapsed=8.0, exit_code=0, cpu_time=7.5, events=3
    )
    best = int.from_bytes(hashlib.sha256(str(cell.key).encode()).digest()[:2])
    writer = JournalWriter(attempt / EVENTS_FILE)
    said = [b'"t":%d.5,"say":{"objective":%d,"solution":[%d]}' % (k, best + 90 - k, k) for k in range(3)]
    writer.append([b'"start":' + msgspec.json.encode(order), *said, b'"end":' + msgspec.json.encode(ending)])
    writer.close()
    return attempt


def parsed(study: Path) -> int:
    """Return how many journals of a study would have to be read for its status."""
    index = Index(study, keep=False)
    index.open()
    for cell in Plan.of(load_contract(study)).cells:
        index.read_cell(cell.directory(study))
    index.close()
    return index.parsed


def measure(part: str, study: Path) -> tuple[float, int]:
    """Return the seconds of a part of the work, and the bytes that it added to the peak of memory."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, part, str(study)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    spent, added = json.loads(done.stdout)
    return spent, added


def replace_run(study: Path) -> None:
    """Put another attempt in the place of one: the one run of all that changed."""
    contract = load_contract(study)
    cell = Plan.of(contract).cells[0]
    shutil.rmtree(cell.directory(study))
    write_run(study, cell, RunSettings.of(study, contract, None))


def measure_all(study: Path, *, rounds: int) -> dict[str, tuple[float, int]]:
    """Measure every part of the work on a study whose journals nobody has read yet; the best of some rounds."""
    found = {"first campaign": measure("rebuild", study)}
    for part in PARTS:
        found[part] = min(measure(part, study) for _ in range(rounds))
    replace_run(study)
    found["one run more"] = measure("rebuild", study)
    return found


def run(*, sizes: tuple[int, ...] = SIZES) -> list[tuple[str, float, float | None]]:
    """Measure every size, and return (what, ratio, limit)."""
    found: list[dict[str, tuple[float, int]]] = []
    rows: list[tuple[str, float, float | None]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            study = Path(folder)
            write_study(study, size)
            write_runs(study)
            # Short ones are disturbed more easily; the longest needs no other round.
            found.append(measure_all(study, rounds=1 if size == max(SIZES) else 3))
            rows.append((f"scale: journals of {size:,} done runs that are parsed again", parsed(study), 0))
    for part in found[0]:
        for k in range(1, len(sizes)):
            (now, taken), (before, held) = found[k][part], found[k - 1][part]
            grown, what = sizes[k] / sizes[k - 1], f"at {sizes[k]:,} runs / at {sizes[k - 1]:,}, per run"
            rows.append((f"{part}: time {what}", now / before / grown, LIMIT))
            rows.append((f"{part}: memory {what}", taken / held / grown, LIMIT))
        if part == "status":
            # Its limit is that of the other commands (bench_growth.py, bench_report.py, bench_import.py).
            slope = np.polyfit(np.log(sizes), np.log([each[part][0] for each in found]), 1)[0]
            shown = ", ".join(f"{size:,}" for size in sizes)
            rows.append((f"{part}: exponent of processor time over {shown} runs", float(slope), GROWTH))
        rows.append((f"{part}: microseconds per run at {sizes[-1]:,}", found[-1][part][0] / sizes[-1] * 1e6, None))
        rows.append((f"{part}: kilobytes per run at {sizes[-1]:,}", found[-1][part][1] / sizes[-1] / 1e3, None))
    last = found[-1]
    rows.append(
        ("the campaign with one run more / from all journals", last["one run more"][0] / last["first campaign"][0], 1.0)
    )
    rows.append(
        (
            "a resume with nothing to do / the campaign from all journals",
            last["resume"][0] / last["first campaign"][0],
            1.0,
        )
    )
    return rows


if __name__ == "__main__":
    for what, ratio, limit in run(sizes=tuple(map(int, sys.argv[1:])) or SIZES):
        print(f"{what:<90} {ratio:9.3f}  limit {limit}")
