"""What the same job costs: processor time and memory of another tool over gapline's, each in a process of its own.

python -m peers.costs JOB SIDE RUNS   prints the seconds of the best of some rounds and the bytes that the job took
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import gapline as gl
from gapline.measures.areas import area_over_curve, time_quality_hypervolume
from gapline.measures.attainment_surface import attainment_surface
from gapline.measures.compared_arms import compare_cells
from gapline.measures.improvement import probability_of_improvement
from gapline.measures.running_times import expected_running_time
from peers.traces import ARMS, HORIZON, REFERENCE, draw_runs, judged, score_matrix
from peers.values import ipet_integrals

ROUNDS = 3
# Candidates of a run, and seeds of an instance.
STEPS, SEEDS = 200, 5
# What a call costs before it has seen a run shows on so few.
FEW = 60
# Less is within what Python keeps in reserve.
LEAST = 1_000_000
Work = Callable[[], object]


class Cost(NamedTuple):
    """A job by a peer over the same job by gapline, on few runs and on many; `memory` is that of many."""

    peer: str
    job: str
    few: int
    runs: int
    time_of_few: float
    time: float
    memory: float


class Job(NamedTuple):
    """What is done, by whom (and the module that it needs), on how many runs at most, and how each side prepares it."""

    peer: str
    module: str
    what: str
    most: int
    prepare: Callable[[list[dict[str, Any]], str], Work]


def measure_costs(runs: int) -> list[Cost]:
    """Measure every job of a tool that is installed, the sides in turns."""
    return [_cost(name, job, min(runs, job.most)) for name, job in JOBS.items() if find_spec(job.module)]


def _cost(name: str, job: Job, runs: int) -> Cost:
    few = min(FEW, runs)
    (of_few, _), (of_many, memory) = (_ratios(name, number) for number in (few, runs))
    return Cost(job.peer, job.what, few, runs, of_few, of_many, memory)


def _ratios(name: str, runs: int) -> tuple[float, float]:
    """Return time and memory of the other tool over gapline's."""
    measured = {"theirs": [], "ours": []}
    for side in (*measured, *measured):
        command = [sys.executable, "-m", "peers.costs", name, side, str(runs)]
        # What a tool says while it works, or when it ends, is not the number.
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        measured[side].append(json.loads(next(line for line in said if line.startswith("["))))
    (their_time, their_bytes), (our_time, our_bytes) = (np.min(measured[side], axis=0) for side in ("theirs", "ours"))
    return float(their_time / our_time), float(max(their_bytes, LEAST) / max(our_bytes, LEAST))


def _score_pandas(runs: list[dict[str, Any]], side: str) -> Work:
    if side == "ours":
        campaign, snapshot = gl.Campaign.from_runs(runs), judged(runs)[1]
        return lambda: gl.score(gl.build_envelopes(campaign), snapshot)
    import pandas

    rows = [(number, *step) for number, run in enumerate(runs) for step in run["trace"]]
    table = pandas.DataFrame(rows, columns=["run", "time", "objective"])

    def work() -> object:
        frame = table.assign(best=table.groupby("run")["objective"].cummin())
        gap = (frame["best"] - REFERENCE) / (frame["best"] + REFERENCE)
        width = frame.groupby("run")["time"].shift(-1).fillna(HORIZON) - frame["time"]
        return (gap * width).groupby(frame["run"]).sum() + frame.groupby("run")["time"].first()

    return work


def _integral_ipet(runs: list[dict[str, Any]], side: str) -> Work:
    if side == "ours":
        campaign, snapshot = gl.Campaign.from_runs(runs), judged(runs)[1]
        return lambda: gl.score(gl.build_envelopes(campaign), snapshot, kernels=["berthold"])
    return lambda: ipet_integrals(runs)


def _volume_moocore(runs: list[dict[str, Any]], side: str) -> Work:
    if side == "ours":
        envelopes, snapshot = judged(runs)
        return lambda: time_quality_hypervolume(envelopes, snapshot)
    import moocore

    fronts = [np.array([(t, z / REFERENCE - 1) for t, z in run["trace"]]) for run in runs if run["trace"]]
    return lambda: [moocore.hypervolume(front, ref=[HORIZON, 1.0]) for front in fronts]


def _surface_moocore(runs: list[dict[str, Any]], side: str) -> Work:
    if side == "ours":
        envelopes, snapshot = judged(runs)
        return lambda: attainment_surface(envelopes, snapshot, levels=(0.25, 0.5, 0.75))
    import moocore

    sets = []
    for arm in ARMS:
        traces = [run["trace"] for run in runs if run["arm"] == arm and run["trace"]]
        points = np.array([(t, z / REFERENCE - 1) for trace in traces for t, z in trace])
        sets.append((points, np.repeat(np.arange(len(traces)), [len(trace) for trace in traces])))
    return lambda: [moocore.eaf(points, numbers, percentiles=[25, 50, 75]) for points, numbers in sets]


def _times_iohinspector(runs: list[dict[str, Any]], side: str) -> Work:
    if side == "ours":
        envelopes, snapshot = judged(runs)
        goals = np.linspace(0.01, 0.4, 51).tolist()
        return lambda: expected_running_time(envelopes, snapshot, goals=goals)
    from iohinspector import metrics

    data = _long(runs, "raw_y", lambda gap: gap)
    return lambda: metrics.aggregate_running_time(
        data, f_min=0.01, f_max=0.4, scale_f_log=False, eval_max=HORIZON, return_as_pandas=False
    )


def _area_iohinspector(runs: list[dict[str, Any]], side: str) -> Work:
    if side == "ours":
        envelopes, snapshot = judged(runs)
        return lambda: area_over_curve(envelopes, snapshot, lower=0.0, upper=1.0, logarithmic=False)
    from iohinspector import metrics

    data = _long(runs, "eaf", lambda gap: 1 - min(max(gap, 0.0), 1.0))
    return lambda: metrics.get_aocc(data, eval_max=HORIZON, return_as_pandas=False)


def _chance_rliable(runs: list[dict[str, Any]], side: str) -> Work:
    scores = gl.score(*judged(runs))
    pairs = list(combinations(ARMS, 2))
    if side == "ours":
        compared = compare_cells(scores)
        return lambda: probability_of_improvement(compared, pairs, weighting="instance")
    from rliable import metrics

    tables = {arm: -score_matrix(runs, scores, arm) for arm in ARMS}
    return lambda: [metrics.probability_of_improvement(tables[a], tables[b]) for a, b in pairs]


def _read_cocopp(runs: list[dict[str, Any]], side: str) -> Work:
    folder = write_coco(len(runs))
    if side == "ours":
        return lambda: gl.import_logs([folder])
    import cocopp

    return lambda: cocopp.load(str(folder))


def write_coco(runs: int) -> Path:
    """Let COCO's own logger write so many runs of a random walk, below the working directory; return where."""
    import cocoex

    suite = cocoex.Suite("bbob", "", f"dimensions:2 function_indices:1-24 instance_indices:1-{max(1, runs // 24)}")
    observer = cocoex.Observer("bbob", "result_folder: walk algorithm_name: walk")
    draw = np.random.default_rng(1)
    for problem in suite:
        problem.observe_with(observer)
        for point in draw.uniform(-5, 5, (STEPS, problem.dimension)):
            problem(point)
        problem.free()
    return Path(observer.result_folder).resolve()


def _long(runs: list[dict[str, Any]], name: str, value: Callable[[float], float]) -> pl.DataFrame:
    rows = [
        (number, run["arm"], "f", t, value(z / REFERENCE - 1))
        for number, run in enumerate(runs)
        for t, z in run["trace"]
    ]
    return pl.DataFrame(rows, schema=["data_id", "algorithm_name", "function_name", "evaluations", name], orient="row")


JOBS = {
    "pandas": Job("pandas", "pandas", "squeezed score of every run", 2000, _score_pandas),
    "ipet": Job("IPET", "ipet", "primal integral of every run", 2000, _integral_ipet),
    "volume": Job("moocore", "moocore", "hypervolume of every run", 2000, _volume_moocore),
    "surface": Job("moocore", "moocore", "three attainment surfaces of each arm", 1000, _surface_moocore),
    "coco": Job("cocopp", "cocopp", "reading a folder of COCO", 480, _read_cocopp),
    "times": Job("iohinspector", "iohinspector", "expected running times to 51 goals", 400, _times_iohinspector),
    "area": Job("iohinspector", "iohinspector", "area over the curve of every run", 400, _area_iohinspector),
    "chance": Job("rliable", "rliable", "probability of improvement, each pair of arms", 2000, _chance_rliable),
}


def _memory(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+)", status)[1]) * 1024


def main() -> None:
    """Do one job of one side."""
    warnings.simplefilter("ignore")
    name, side, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    instances = max(1, runs // (len(ARMS) * SEEDS))
    with tempfile.TemporaryDirectory() as folder:
        # What tools write, they write below the working directory.
        os.chdir(folder)
        # Compiled or loaded on a few runs first: what a tool costs once is not what it costs per job.
        JOBS[name].prepare(draw_runs(instances=2, seeds=SEEDS, steps=STEPS), side)()
        work = JOBS[name].prepare(draw_runs(instances=instances, seeds=SEEDS, steps=STEPS), side)
        # The peak begins anew: making the traces took more than the job.
        Path("/proc/self/clear_refs").write_text("5")
        before, best = _memory("VmRSS"), np.inf
        for _ in range(ROUNDS):
            start = time.process_time()
            work()
            best = min(best, time.process_time() - start)
        print(json.dumps([best, _memory("VmHWM") - before]), flush=True)


if __name__ == "__main__":
    main()
