"""A small random campaign whose runs meet some goals and miss others, for comparison with other implementations."""

import numpy as np

import gapline as gl

HORIZON = 100.0
REFERENCE = 10.0


def random_runs(*, seed=1, arms=("a", "b"), instances=1, seeds=8, steps=6, empty=True):
    rng = np.random.default_rng(seed)
    runs = []
    for arm in arms:
        for i in range(instances):
            for s in range(seeds):
                size = int(rng.integers(1, steps + 1))
                # Whole seconds and quarter gaps: times and values tie between runs, which is where surfaces go wrong.
                times = np.sort(rng.choice(np.arange(1, 100), size=size, replace=False)).astype(float)
                gaps = np.sort(rng.choice(np.arange(0, 24), size=size, replace=False))[::-1] / 16
                trace = [(t, REFERENCE * (1 + g)) for t, g in zip(times.tolist(), gaps.tolist(), strict=True)]
                if empty and s == 0:
                    trace = []
                runs.append({"arm": arm, "instance": f"i{i}", "seed": s, "horizon": HORIZON, "trace": trace})
    return runs


def random_campaign(**choices):
    """Return runs, envelopes and snapshot."""
    runs = random_runs(**choices)
    names = {run["instance"] for run in runs}
    snapshot = gl.Snapshot.from_values(dict.fromkeys(names, REFERENCE), name="mine")
    return runs, gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot
