"""What the analyses cost: all but the draws against one pass over the columns, the draws against NumPy's own."""

import sys
from pathlib import Path

import numpy as np

import gapline as gl
from bench.timing import ratio
from gapline.analysis.analyse import analyse
from gapline.envelope.build import build_envelopes
from gapline.scoring.scores import score
from gapline.summary.bootstrap import Bootstrap
from gapline.summary.intervals import percentile_intervals

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
        percentile_intervals(np.concatenate([replicates, replicates[:, one] - replicates[:, other]], axis=1))

    return ratio(intervals, lambda: generator.integers(0, 212, size=(DRAWS, 212)), repeats=repeats)


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
