"""What packing a study costs beside `zip` of the same files; the report that is written anew is a row of its own.

In processor time, each in a process of its own: of seconds, other programs on the machine take their share.

python -m bench pack
"""

import json
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import msgspec
import numpy as np

from bench.bench_scale import write_study
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, JournalWriter
from gapline.journal.records import Ending, Order, order_text

Row = tuple[str, float, float | None]
RUNS, CANDIDATES, STOPS = 500, 200, 60
LIMIT = 3.0
# Ten times the candidates: what is held of them are columns, never their lines or solutions.
MORE, MEMORY = 10, 2.0

# Prints the processor time of packing with and without the report, and the bytes that it added to the peak.
CHILD = r"""
import json, re, sys, time
from pathlib import Path
import gapline.package.pack as packing

def peak():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024

spent = 0.0
def timed(work):
    def run(*given, **more):
        global spent
        start = time.process_time()
        try:
            return work(*given, **more)
        finally:
            spent += time.process_time() - start
    return run

packing.write_report = timed(packing.write_report)
packing.open_study = timed(packing.open_study)
before, start = peak(), time.process_time()
packing.pack(sys.argv[1], sys.argv[2])
print(json.dumps([time.process_time() - start - spent, spent, peak() - before]))
"""


def make_study(study: Path, runs: int, candidates: int) -> Path:
    """Write a study with whole journals: candidates with routes for solutions, on one machine."""
    write_study(study, runs)
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(f'{text}\n[reference]\npolicy = "analysis"\n')
    draw = np.random.default_rng(1)
    ending = Ending(cause="exit", started="2026-08-01T12:00:00+00:00", elapsed=60.0, exit_code=0, events=candidates)
    for cell in Plan.of(load_contract(study)).cells:
        attempt = cell.directory(study) / "attempt-001"
        attempt.mkdir(parents=True)
        order = Order(
            arm=cell.arm.name,
            instance=cell.instance.name,
            seed=cell.seed,
            panel=cell.instance.panel,
            horizon=cell.horizon,
            argv=["/opt/solver/bin/solve", f"/home/somebody/study/{cell.instance.path}"],
            instance_path=cell.instance.path,
            directory="/home/somebody/study",
            carried={"tier": 1, "validation": "solver"},
            machine={"host": "node7", "processor": "p", "cores": "2"},
        )
        (attempt / ORDER_FILE).write_bytes(order_text(order))
        writer = JournalWriter(attempt / EVENTS_FILE)
        writer.append([b'"start":' + msgspec.json.encode(order)])
        for step in range(candidates):
            route = msgspec.json.encode(draw.permutation(STOPS).tolist())
            objective = 2000.0 - step * 1000 / candidates + draw.random()
            stamp = 50.0 * (step + 1) / candidates
            writer.append([b'"t":%.6f,"say":{"objective":%.6f,"solution":[%b]}' % (stamp, objective, route)])
        writer.append([b'"end":' + msgspec.json.encode(ending)])
        writer.close()
    return study


def measure(study: Path, target: Path) -> tuple[float, float, int]:
    """Return the cost of packing, that of its report, and the bytes added to the peak, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", CHILD, study, target], stdout=subprocess.PIPE, check=True)
    packed, report, added = json.loads(done.stdout)
    return packed, report, added


def zip_seconds(folder: Path) -> float:
    """Return the processor time that `zip` takes for all files of a folder."""
    target = folder.with_name("plain.zip")
    target.unlink(missing_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["zip", "-q", "-r", "-6", str(target), "."], cwd=folder, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        study = make_study(place / "study", RUNS, CANDIDATES)
        rounds = [measure(study, place / "package.zip") for _ in range(3)]
        with zipfile.ZipFile(place / "package.zip") as archive:
            archive.extractall(place / "files")
        plain = min(zip_seconds(place / "files") for _ in range(3))
        few = measure(make_study(place / "few", RUNS // 5, CANDIDATES), place / "few.zip")[2]
        many = measure(make_study(place / "many", RUNS // 5, CANDIDATES * MORE), place / "many.zip")[2]
    what = f"pack of {RUNS} runs × {CANDIDATES} candidates"
    return [
        (f"{what}, report apart / zip of the same files", min(packed for packed, _, _ in rounds) / plain, LIMIT),
        ("its report / zip of the same files", min(report for _, report, _ in rounds) / plain, None),
        (f"memory of packing {MORE} times the candidates / of packing them", many / few, MEMORY),
    ]
