"""Missing runs."""

import gapline as gl
from scored_runs import run, scored


def test_a_missing_seed_is_named_in_the_notes():
    summary = gl.summarise(scored([run(), run(seed=2), run(arm="b")]))
    assert not summary.balance.complete
    assert summary.balance.missing.rows() == [("b", "p", "i", 2)]
    assert "missing runs: b (i, seed 2); means are over the runs that are there" in summary.notes
    assert gl.summarise(scored([run(), run(arm="b")])).balance.complete


def test_other_seeds_and_other_instances_are_no_missing_runs():
    assert gl.summarise(scored([run(seed=1), run(arm="b", seed=7)])).balance.complete
    other = gl.summarise(scored([run(), run(arm="b", instance="j")]))
    assert other.balance.complete
    assert "no two arms ran the same instances" in other.caption()
