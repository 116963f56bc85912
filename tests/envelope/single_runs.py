"""Campaigns of one run, and the steps accepted of it."""

import gapline as gl


def one_run(trace, *, horizon=30.0, **more):
    return gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": horizon, "trace": trace, **more}])


def steps_of(envelopes, row=0):
    time, objective = envelopes.steps(row)
    return list(zip(time.tolist(), objective.tolist(), strict=True))
