"""What a study costs by its size: planning, status, a resume with nothing to do, and a campaign with one run more.

Journals are written by our own writer, a few candidates each: no solver runs. Costs are per cell, each size over the
one before it, so that a figure near 1 means that nothing grows with what there is.

python -c "from bench.bench_scale import run; print(run())"
"""

import gc
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from bench.timing import seconds
from gapline.journal.index import Index
from gapline.journal.line import EVENTS_FILE, ORDER_FILE
from gapline.journal.records import Ending, Order, order_text
from gapline.journal.write import JournalWriter
from gapline.model.contract import load_contract
from gapline.model.plan import Cell, Plan
from gapline.model.problem import problem_digest_of
from gapline.run.changed import digest_of
from gapline.run.campaign import rebuild_campaign
from gapline.run.cell import RunSettings, condition

SIZES = (1_000, 10_000, 100_000)
ARMS, SEEDS = 5, 20
# Of the cost per cell, each size over the one before: caches of the processor and of the file system are left behind.
LIMIT = 1.6
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
import gapline.capture.renew
from gapline.model.contract import load_contract
from gapline.model.plan import Plan
from gapline.run.campaign import rebuild_campaign, run_study
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


def run(*, sizes: tuple[int, ...] = SIZES) -> list[tuple[str, float, float | None]]:
    """Measure every size, and return (what, ratio, limit)."""
    costs: dict[str, list[float]] = {}
    memory: dict[str, list[float]] = {}
    rows: list[tuple[str, float, float | None]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            study = Path(folder)
            write_study(study, size)
            write_runs(study)
            gc.collect()
            first = seconds(lambda: rebuild_campaign(study))
            contract = load_contract(study)
            cell = Plan.of(contract).cells[size // 2]
            for part in ("plan", "status", "resume", "rebuild"):
                if part == "rebuild":
                    # One run of all is another one: its file was replaced.
                    attempt = cell.directory(study) / "attempt-001"
                    (attempt / EVENTS_FILE).unlink()
                    (attempt / ORDER_FILE).unlink()
                    attempt.rmdir()
                    write_run(study, cell, RunSettings.of(study, contract, None))
                spent, added = min(measure(part, study) for _ in range(1 if part == "rebuild" else 2))
                costs.setdefault(part, []).append(spent / size)
                memory.setdefault(part, []).append(added / size)
            rows.append((f"scale: journals read again of {size:,} done runs, after all that", parsed(study), 0))
            rows.append((f"the campaign of {size:,} runs with one new / from all journals", spent / first, None))
    for part, found in costs.items():
        for k in range(1, len(sizes)):
            what = f"{part} per cell at {sizes[k]:,} cells / at {sizes[k - 1]:,}"
            rows.append((what, found[k] / found[k - 1], LIMIT))
        rows.append((f"{part}: microseconds per cell at {sizes[-1]:,}", found[-1] * 1e6, None))
        rows.append((f"{part}: kilobytes per cell at {sizes[-1]:,}", memory[part][-1] / 1e3, None))
    return rows


if __name__ == "__main__":
    for what, ratio, limit in run(sizes=tuple(map(int, sys.argv[1:])) or SIZES):
        print(f"{what:<80} {ratio:8.3f}  limit {limit}")
