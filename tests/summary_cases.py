"""Bootstraps of hand-made scores: a run at three times its reference from time t on scores 0.5 + t / 20."""

import gapline as gl
from gapline.statistics.bootstrap import Bootstrap


def boot_of(times, *, draws=500):
    runs = [
        {"arm": arm, "instance": f"i{k}", "seed": 1, "horizon": 10, "trace": [(t, 30.0)]}
        for arm, row in times.items()
        for k, t in enumerate(row)
    ]
    size = max(map(len, times.values()))
    snapshot = gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(size)}, name="mine")
    return Bootstrap(gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot), draws=draws)
