"""Drawn campaigns made ready for scoring."""

import gapline as gl
import oracle


def prepared(drawn):
    runs, references = drawn
    return gl.build_envelopes(gl.Campaign.from_runs(runs)), gl.Snapshot.from_values(references, name="mine")


def steps_by_key(runs):
    return {(r["arm"], r["instance"], r["seed"]): oracle.envelope(r["trace"], r["horizon"]) for r in runs}
