"""Four compared arms and a descriptive one on six instances of two panels, in a clear order."""

from functools import cache

import gapline as gl
from gapline.study.analyse import Analysis, analyse
from report.report_studies import report_of

STARTS = {"best": 1, "good": 2, "fair": 4, "slow": 8, "other": 3}


@cache
def classical(**choices) -> Analysis:
    runs = [
        {
            "arm": arm, "instance": f"i{i}", "panel": f"p{i % 2}", "seed": seed, "horizon": 20,
            "trace": [(start + 0.1 * seed + late, 30.0), (12 + start / 4, 10.0 + start)],
        }
        for arm, start in STARTS.items() for i in range(6) for seed in (1, 2)
        # On one instance the best arm comes second.
        for late in [2.5 if (i, arm) == (3, "best") else 0]
    ]  # fmt: skip
    snapshot = gl.Snapshot.from_values({f"i{i}": 10.0 for i in range(6)}, name="mine")
    given = {"tier_two": ["other"], "contrasts": [("best", "good"), ("fair", "slow")]} | choices
    return analyse(report_of(gl.Campaign.from_runs(runs), snapshot, **given))
