"""What a whole report costs beside scoring the same runs, and how that grows with runs and with instances."""

import math
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import process_time

import numpy as np
import polars as pl

import gapline as gl
from bench.traces import references
from gapline.report.write import write_report

Row = tuple[str, float, float | None]
RUNS, INSTANCES = (10_000, 30_000, 90_000), (2_000, 6_000, 18_000)


def make_study(*, runs: int, instances: int, arms: int, candidates: int = 10) -> gl.Study:
    """Runs of a few arms on as many instances as asked for, in ten panels."""
    generator = np.random.default_rng(1)
    number = np.arange(runs)
    unit = number // arms % instances
    table = pl.DataFrame(
        {
            "arm": [f"arm{k}" for k in number % arms],
            "instance": [f"i{k:06}" for k in unit],
            "panel": [f"p{k}" for k in unit % 10],
            "seed": number // (arms * instances),
            "horizon": np.full(runs, 3600.0),
            "first": number * candidates,
            "count": np.full(runs, candidates),
        }
    )
    time = np.sort(generator.uniform(0, 3600, (runs, candidates)), axis=1)
    objective = 1500.0 * np.exp(-np.cumsum(generator.exponential(0.3 / candidates, (runs, candidates)), axis=1))
    verdict = np.ones(runs * candidates, np.uint8)
    campaign = gl.Campaign.from_arrays(runs=table, time=time.ravel(), objective=objective.ravel(), verdict=verdict)
    return gl.open_study(campaign, snapshots=[references(campaign)], draws=200)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a piece of work: of seconds, other programs on the machine take their share."""
    start = process_time()
    work()
    return process_time() - start


def score_cost(**size: int) -> float:
    study = make_study(**size)
    return cpu_seconds(lambda: (study.envelopes, study.scores, study.summary))


def report_cost(**size: int) -> float:
    study = make_study(**size)
    with tempfile.TemporaryDirectory() as folder:
        return cpu_seconds(lambda: write_report(study, folder, formats=("svg",)))


def growth_rows(what: str, sizes: Sequence[int], costs: Sequence[float]) -> list[Row]:
    """Return the exponent between each size and the next; what every report costs anyway weighs least in the last."""
    return [
        (f"report: growth exponent from {a:,} to {b:,} {what}", math.log(late / early) / math.log(b / a), 1.15)
        for (a, b), (early, late) in zip(pairwise(sizes), pairwise(costs), strict=True)
    ]


def run() -> list[Row]:
    # Once before anything is timed: what is compiled, and Vega.
    report_cost(runs=1000, instances=100, arms=2)
    runs = [report_cost(runs=size, instances=200, arms=5) for size in RUNS]
    units = [report_cost(runs=2 * size, instances=size, arms=2) for size in INSTANCES]
    scored = min(score_cost(runs=RUNS[-1], instances=200, arms=5) for _ in range(5))
    return [
        (f"report of {RUNS[-1]:,} runs × 10 candidates / scoring them", runs[-1] / scored, None),
        *growth_rows("runs", RUNS, runs),
        *growth_rows("instances", INSTANCES, units),
    ]
