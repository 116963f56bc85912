"""Runs and their scores, for tests of means."""

import gapline as gl


def scored(runs, references=None, *, name="mine", transform=None, **choices):
    snapshot = gl.Snapshot.from_values(references or {"i": 10.0, "j": 10.0}, name=name)
    return gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs), transform=transform), snapshot, **choices)


def run(arm="a", instance="i", seed=1, *, panel="p", horizon=30, trace=((0, 20.0),)):
    return {"arm": arm, "instance": instance, "seed": seed, "panel": panel, "horizon": horizon, "trace": list(trace)}
