"""What the analyses cost: all but the draws against one pass over the columns, the draws against NumPy's own."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

import gapline as gl
from bench.timing import ratio
from gapline.envelope.build import build_envelopes
from gapline.scoring.scores import Scores, score
from gapline.statistics.bootstrap import Bootstrap, arm_intervals
from gapline.statistics.contrasts import contrasts
from gapline.study.analyse import analyse

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

# The generator lives beside the tests that know its tables.
import planted

DRAWS = 10_000
# Every analysis that needs no draws.
PARTS = ("health", "ladders", "completeness", "metrics", "references", "complementarity", "horizon", "robustness")
PARTS += ("neighbours", "power")


def analysis_ratio(*, candidates: int = 1000, repeats: int = 3) -> float:
    """All analyses, envelopes included, on 8,800 runs, against the NumPy sum of time and objective."""
    made = planted.plant(candidates=candidates, improving=True)
    campaign = made.campaign
    time, objective = np.array(campaign.time), np.array(campaign.objective)

    def analyses() -> None:
        study = gl.open_study(campaign, snapshots=[made.snapshot], tier_two=["sliced"], draws=1)
        found = analyse(study)
        for name in PARTS:
            getattr(found, name)

    return ratio(analyses, lambda: (time.sum(), objective.sum()), repeats=repeats)


def bootstrap_ratio(*, repeats: int = 7) -> float:
    """Percentile intervals of every arm and contrast, against drawing the 10,000 × 212 indices with NumPy."""
    made = planted.plant()
    scores = score(build_envelopes(made.campaign), made.snapshot)
    generator = np.random.Generator(np.random.PCG64(1))

    def intervals() -> None:
        replicates = Bootstrap(scores, draws=DRAWS).replicates()
        one, other = np.triu_indices(replicates.shape[1], 1)
        both = np.concatenate([replicates, replicates[:, one] - replicates[:, other]], axis=1)
        np.quantile(np.ascontiguousarray(both.T), [0.025, 0.975], axis=1)

    return ratio(intervals, lambda: generator.integers(0, 212, size=(DRAWS, 212)), repeats=repeats)


def unbalanced_ratio(method: str, *, arms: int = 20, instances: int = 5000, repeats: int = 3) -> float:
    """Intervals of every mean and contrast where one run is missing, against the same with all runs there."""
    generator = np.random.default_rng(1)
    rows = [(f"a{arm:02d}", f"i{unit:04d}") for arm in range(arms) for unit in range(instances)]
    runs = pl.DataFrame(rows, schema=["arm", "instance"], orient="row").with_columns(
        panel=pl.lit("p"), seed=pl.lit(1), horizon=pl.lit(10.0), count=pl.lit(1)
    )
    runs = runs.with_columns(first=pl.int_range(pl.len()))
    campaign = gl.Campaign.from_arrays(
        runs=runs,
        time=generator.uniform(0, 9, len(runs)),
        objective=generator.uniform(10, 30, len(runs)),
        verdict=np.ones(len(runs), np.uint8),
    )
    snapshot = gl.Snapshot.from_values(dict.fromkeys(runs["instance"].unique().to_list(), 10.0), name="r")
    whole = score(build_envelopes(campaign), snapshot)
    lacking = replace(whole, frame=whole.frame.slice(1))

    def judge(scores: Scores) -> None:
        boot = Bootstrap(scores)
        arm_intervals(boot, method=method)
        contrasts(boot, method=method)

    return ratio(lambda: judge(lacking), lambda: judge(whole), repeats=repeats)


def run() -> list[tuple[str, float, float | None]]:
    return [
        (
            "all analyses without draws, 8,800 runs × 1,000 candidates / NumPy sum of two columns",
            analysis_ratio(),
            300.0,
        ),
        ("10,000 percentile draws of 5 arms and 10 contrasts / NumPy draw of the indices", bootstrap_ratio(), 6.0),
        ("percentile, 20 arms × 5,000 instances, one run missing / none missing", unbalanced_ratio("percentile"), 1.5),
        ("skew-t, 20 arms × 5,000 instances, one run missing / none missing", unbalanced_ratio("skew-t"), 1.5),
    ]


if __name__ == "__main__":
    for what, found, limit in run():
        print(f"{found:8.2f}  limit {limit}  {what}")
