"""How the cost of the commands grows with the runs: exponents over three sizes each, and what a run costs by itself.

An exponent of 1 means that twice the runs take twice the time. Processor time, since what else a shared machine does
should not look like growth.

python -m bench growth
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np
import polars as pl

from bench.traces import make_campaign, references
from gapline.campaign.campaign import Campaign
from gapline.references.snapshot import Snapshot
from gapline.scoring.curve import mean_curve
from gapline.study import open_study
from gapline.study.analyse import analyse

SIZES = (10_000, 30_000, 100_000)
ARMS, SEEDS, INSTANCES, CANDIDATES = 8, 5, 200, 10
LIMIT = 1.15
ANALYSES = ("health", "ladders", "completeness", "metrics", "references", "transforms", "complementarity", "horizon")
ANALYSES += ("cutoffs", "robustness", "neighbours", "averages", "ranks", "ratings", "neighbour_pairs")
Prepared = tuple[Campaign | str, Snapshot]


def exponent(work: Callable[[int], Callable[[], object]], sizes: Sequence[int], *, repeats: int = 3) -> float:
    """Return the least-squares slope of log time over log size; `work(size)` prepares what is timed, the best counts.

    The sizes are measured in turns, so that a noisy machine disturbs all of them alike.
    """
    prepared = [work(size) for size in sizes]
    for each in prepared:
        each()
    rounds = [[processor_seconds(each) for each in prepared] for _ in range(repeats)]
    best = np.min(rounds, axis=0)
    return float(np.polyfit(np.log(sizes), np.log(best), 1)[0])


def processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of this process, all its threads, that some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def grown(runs: int, *, by: str, candidates: int = CANDIDATES) -> tuple[Campaign, Snapshot]:
    """Make so many runs of eight arms, on more instances with five seeds each, or with more seeds on 200 instances."""
    made = make_campaign(runs=runs, candidates=candidates, improving=0.5)
    number = np.arange(runs)
    instances = max(1, runs // (ARMS * SEEDS)) if by == "instances" else INSTANCES
    unit = number // ARMS % instances
    table = made.runs.with_columns(
        arm=pl.Series(np.array([f"arm{k}" for k in range(ARMS)])[number % ARMS]),
        instance=pl.Series(np.array([f"i{k:06}" for k in range(instances)])[unit]),
        panel=pl.Series(np.array([f"p{k % 10}" for k in range(instances)])[unit]),
        seed=pl.Series(number // (ARMS * instances)),
    )
    campaign = Campaign.from_arrays(runs=table, time=made.time, objective=made.objective, verdict=made.verdict)
    return campaign, references(campaign)


def score_study(prepared: Prepared) -> None:
    """Do what `gapline score` does before it prints."""
    campaign, snapshot = prepared
    _ = open_study(campaign, snapshots=[snapshot]).summary


def draw_curves(prepared: Prepared) -> None:
    """Do what `gapline curve` does before it prints."""
    campaign, snapshot = prepared
    study = open_study(campaign, snapshots=[snapshot])
    mean_curve(study.envelopes, study.snapshot, kernel=study.kernels[0], weighting=study.weighting)


def analyse_study(prepared: Prepared) -> None:
    """Do what `gapline analyse --json` does before it prints, but for `power`.

    That one simulates for some seconds, as long for few runs as for many, and would hide how the rest grows.
    """
    campaign, snapshot = prepared
    study = open_study(campaign, snapshots=[snapshot])
    found = analyse(study)
    for name in ("intervals", "contrasts", "ranking"):
        getattr(study, name)
    for name in ANALYSES:
        getattr(found, name)


# What a report, an import or a status costs has rows of its own: a name, and what prepares the work of so many runs.
GROWING: dict[str, Callable[[int], Callable[[], object]]] = {
    f"{name}, {by} growing": lambda size, work=work, by=by: partial(work, grown(size, by=by))
    for (name, work), by in product(
        {"score": score_study, "curve": draw_curves, "analyse": analyse_study}.items(), ("instances", "seeds")
    )
}


def run_cost(*, runs: int = 1_000_000, few: int = 1_000, repeats: int = 9) -> tuple[float, float]:
    """Score many short runs, against the same number of candidates in few: from memory, and from a directory."""
    many, long = grown(runs, by="seeds"), grown(few, by="seeds", candidates=runs * CANDIDATES // few)
    with tempfile.TemporaryDirectory() as folder:
        saved = []
        for name, (campaign, snapshot) in (("many", many), ("long", long)):
            campaign.save(f"{folder}/{name}")
            saved.append((f"{folder}/{name}", snapshot))
        best = []
        for prepared in (many, long, *saved):
            score_study(prepared)
            best.append(min(processor_seconds(partial(score_study, prepared)) for _ in range(repeats)))
    return best[0] / best[1], best[2] / best[3]


def run() -> list[tuple[str, float, float | None]]:
    sizes = ", ".join(f"{size:,}" for size in SIZES)
    rows: list[tuple[str, float, float | None]] = [
        (f"{name}: exponent of processor time over {sizes} runs", exponent(work, SIZES), LIMIT)
        for name, work in GROWING.items()
    ]
    # On quiet and busy machines 2.8 to 3.1 was seen in memory, 2.3 to 2.9 from a directory, whose digests are in both.
    # To accept, integrate and look for goals in a million runs of ten takes by itself 1.4 times what a thousand runs of
    # 10,000 take from end to end; the rest is a table of 25 columns and exact means. The names of a campaign are hashed
    # once, when it is made: a directory pays for that each time, in memory nobody does.
    what = "score: 1,000,000 runs × 10 candidates / 1,000 runs × 10,000"
    in_memory, saved = run_cost()
    return [*rows, (f"{what}, in memory", in_memory, 3.0), (f"{what}, a directory", saved, 3.0)]


if __name__ == "__main__":
    for what, found, limit in run():
        print(f"{found:8.2f}  limit {limit}  {what}")
