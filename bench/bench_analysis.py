"""What the analyses cost: all but the draws against one pass over the columns, the draws against NumPy's own."""

import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from gapline.analysis.analyse import sensitivity
from gapline.envelope.build import build_envelopes
from gapline.scoring.scores import score
from gapline.summary.bootstrap import Bootstrap
from gapline.summary.intervals import percentile_intervals

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

# The generator lives beside the tests that know its tables.
import planted

DRAWS = 10_000


def seconds(work) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def ratio(work, yardstick, *, rounds: int) -> float:
    """Median of the ratios of single rounds: what else the machine does falls on both alike."""
    work()
    return median(seconds(work) / median(seconds(yardstick) for _ in range(3)) for _ in range(rounds))


def analysis_ratio(*, candidates: int = 1000, rounds: int = 3) -> float:
    """All analyses, envelopes included, on 8,800 runs, against the NumPy sum of time and objective."""
    made = planted.plant(candidates=candidates, improving=True)
    campaign = made.campaign
    time, objective = np.array(campaign.time), np.array(campaign.objective)

    def analyses() -> None:
        sensitivity(campaign, build_envelopes(campaign), [made.snapshot], tier_two=["sliced"])

    return ratio(analyses, lambda: (time.sum(), objective.sum()), rounds=rounds)


def bootstrap_ratio(*, rounds: int = 7) -> float:
    """Percentile intervals of every arm and contrast, against drawing the 10,000 × 212 indices with NumPy."""
    made = planted.plant()
    scores = score(build_envelopes(made.campaign), made.snapshot)
    generator = np.random.Generator(np.random.PCG64(1))

    def intervals() -> None:
        replicates = Bootstrap(scores, draws=DRAWS).replicates()
        one, other = np.triu_indices(replicates.shape[1], 1)
        percentile_intervals(np.concatenate([replicates, replicates[:, one] - replicates[:, other]], axis=1))

    return ratio(intervals, lambda: generator.integers(0, 212, size=(DRAWS, 212)), rounds=rounds)


def run() -> list[tuple[str, float, float | None]]:
    return [
        (
            "all analyses without draws, 8,800 runs × 1,000 candidates / NumPy sum of two columns",
            analysis_ratio(),
            250.0,
        ),
        ("10,000 percentile draws of 5 arms and 10 contrasts / NumPy draw of the indices", bootstrap_ratio(), 6.0),
    ]


if __name__ == "__main__":
    for what, found, limit in run():
        print(f"{found:8.2f}  limit {limit}  {what}")
