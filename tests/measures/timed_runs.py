"""Data shared by several tests of this folder."""

import gapline as gl

SNAPSHOT = gl.Snapshot.from_values(dict.fromkeys("ijk", 10.0), name="mine")


def envelopes_of(times):
    """Hitting times {(arm, instance): [time or None per seed]} of runs with horizon 10."""
    runs = [
        {"arm": arm, "instance": i, "seed": s, "horizon": 10, "trace": [] if t is None else [(t, 10.0)]}
        for (arm, i), row in times.items()
        for s, t in enumerate(row)
    ]
    return gl.build_envelopes(gl.Campaign.from_runs(runs))
