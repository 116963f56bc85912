"""kill -9 of runners, supervisors and nurseries at random moments: nothing is lost, doubled or left behind."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import gapline as gl
from gapline.errors import GaplineError
from gapline.journal.attempts import read_cell
from gapline.journal.read import JournalState
from gapline.process.cgroup import group_name, known_base
from gapline.process.tree import process_state, strays

SEEDS = (1, 2, 3)
INSTANCES = ("one", "two")
# Candidates that follow from the seed alone; a child of its own that would stay.
SOLVER = """
import json, os, sys, time
seed = int(sys.argv[1])
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)
    os._exit(0)
for number in range(5):
    time.sleep(0.03)
    print(json.dumps({"objective": 1000.0 / (number + seed + 1)}), flush=True)
"""
CONTRACT = """
seeds = [1, 2, 3]
[study]
name = "kills"
[objective]
validation = "solver"
[time]
horizon = 60.0
grace = 0.5
[[instances]]
path = "one.txt"
[[instances]]
path = "two.txt"
[[arms]]
name = "steady"
solver = "command"
command = ["{python}", "-S", "-E", "solver.py", "{{seed}}"]
"""
PATIENCE = 120.0


def trial(count: int, seed: int, scratch: Path) -> dict[str, int]:
    """Kill `count` times over as many campaigns as that takes; each campaign is resumed until it is whole."""
    chance = random.Random(seed)
    outcomes: Counter[str] = Counter()
    number = 0
    while outcomes["killed"] < count or number == 0:
        number += 1
        where = f"seed {seed}, campaign {number}, after {outcomes['killed']} kills"
        study = _make_study(scratch / f"campaign-{number}")
        before: dict[Path, bytes] = {}
        while True:
            _resume(study, chance, outcomes, kills_left=count - outcomes["killed"])
            before = _nothing_changed(study, before, where)
            if _is_whole(study, where):
                break
        _nothing_left(study, where)
        outcomes["cells"] += len(_cells(study))
        outcomes["campaigns"] += 1
        shutil.rmtree(study)
    return dict(outcomes)


def _make_study(study: Path) -> Path:
    study.mkdir(parents=True)
    for name in INSTANCES:
        (study / f"{name}.txt").write_text(f"{name}\n")
    (study / "solver.py").write_text(SOLVER)
    (study / "study.toml").write_text(CONTRACT.format(python=sys.executable))
    return study


def _resume(study: Path, chance: random.Random, outcomes: Counter[str], *, kills_left: int) -> None:
    """Run the study; at a random moment kill something of it, unless enough was killed."""
    environment = os.environ | {"GAPLINE_LEASES": str(study.parent / "leases")}
    # Into a file: a pipe would stay open as long as anybody of the dead runner's family.
    with (study / "output.txt").open("ab") as output:
        runner = subprocess.Popen(
            [sys.executable, "-c", "from gapline.cli import main; main()", "run", str(study)],
            stdout=output,
            stderr=output,
            env=environment,
        )
    try:
        if kills_left <= 0:
            runner.wait(PATIENCE)
            return
        begun = len(list(study.glob("journal/*/*/events.jsonl")))
        # From the first new journal on, mostly: before it there is little to lose.
        if chance.random() < 0.9:
            _until(lambda: runner.poll() is not None or len(list(study.glob("journal/*/*/events.jsonl"))) > begun)
        # As long as the runner lives: it goes on when a supervisor or the nursery is killed.
        while runner.poll() is None and kills_left > 0:
            time.sleep(chance.uniform(0.0, 0.3))
            victim = chance.choices(("runner", "supervisor", "nursery"), (3, 6, 1))[0]
            if _kill(runner.pid, victim, chance):
                kills_left -= 1
                outcomes["killed"] += 1
                outcomes[f"{victim} killed"] += 1
        runner.wait(PATIENCE)
    finally:
        runner.kill()
        runner.wait()


def _kill(runner: int, victim: str, chance: random.Random) -> bool:
    nurseries = _children(runner)
    chosen = {
        "runner": lambda: [runner],
        "nursery": lambda: nurseries,
        "supervisor": lambda: [pid for nursery in nurseries for pid in _children(nursery)],
    }[victim]()
    alive = [pid for pid in chosen if process_state(pid) not in ("", "Z")]
    if not alive:
        return False
    os.kill(chance.choice(alive), signal.SIGKILL)
    return True


def _children(parent: int) -> list[int]:
    try:
        return [
            int(pid) for path in Path(f"/proc/{parent}/task").glob("*/children") for pid in path.read_text().split()
        ]
    except OSError:
        return []


def _cells(study: Path) -> list[Path]:
    return sorted(path for path in (study / "journal").iterdir() if path.is_dir())


def _nothing_changed(study: Path, before: dict[Path, bytes], where: str) -> dict[Path, bytes]:
    """What stood in a journal stands there still: attempts are only ever added to or made anew."""
    now = {path: path.read_bytes() for path in study.glob("journal/*/attempt-*/events.jsonl")}
    for path, data in before.items():
        assert path in now, f"{where}: {path} is lost"
        assert now[path].startswith(data) or data.startswith(now[path]), f"{where}: {path} was changed"
    return now


def _is_whole(study: Path, where: str) -> bool:
    """Say whether every planned run is whole in the campaign; if so, each must be what the solver says, and once."""
    try:
        campaign = gl.open(study / "campaign")
    except GaplineError:
        return False
    found = Counter(campaign.runs.select("instance", "seed").iter_rows())
    assert not found or max(found.values()) == 1, f"{where}: runs are doubled: {found}"
    if len(found) < len(INSTANCES) * len(SEEDS):
        return False
    for row in campaign.runs.iter_rows(named=True):
        values = campaign.objective[row["first"] : row["first"] + row["count"]].tolist()
        must = [1000.0 / (number + row["seed"] + 1) for number in range(5)]
        assert values == must, f"{where}: run {row['instance']}/{row['seed']} has {values}, not {must}"
    for cell in _cells(study):
        states = Counter(journal.state for journal in read_cell(cell).attempts)
        assert states[JournalState.WHOLE] == 1, f"{where}: {cell.name} was made more than once: {states}"
        assert states[JournalState.QUARANTINED] == 0, f"{where}: {cell.name} has a damaged journal"
    return True


def _nothing_left(study: Path, where: str) -> None:
    """No process of any attempt lives, and nobody holds a cell."""
    attempts = list(study.glob("journal/*/attempt-*"))

    def left() -> list[int]:
        return [pid for attempt in attempts for pid in strays("GAPLINE_ATTEMPT", str(attempt))] + _using(study)

    _until(lambda: not left())
    assert left() == [], f"{where}: processes are left: {left()}"
    base = known_base()
    groups = [] if base is None else [one for one in attempts if (base.path / group_name(one)).exists()]
    assert groups == [], f"{where}: groups of the kernel are left: {groups}"


def _using(study: Path) -> list[int]:
    """Return the processes that have the study as their directory or a file of it open: supervisors and solvers."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                used = [process / "cwd", *(process / "fd").iterdir()]
                if any(str(link.readlink()).startswith(str(study)) for link in used):
                    found.append(int(process.name))
            except OSError:
                continue
    return found


def _until(happened: object) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened() and time.monotonic() < deadline:  # type: ignore[operator]
        time.sleep(0.01)
