"""Completeness of cells."""

import gapline as gl
from summary.scored_runs import run, scored


def test_unbalanced_cells_are_listed_in_the_notes():
    summary = gl.summarise(scored([run(), run(seed=2), run(arm="b")]))
    assert not summary.balance.complete
    assert summary.balance.missing.rows() == [("b", "p", "i", 2)]
    assert any("b lacks 1 cells" in note and "b/i/2" in note for note in summary.notes)
    assert gl.summarise(scored([run(), run(arm="b")])).balance.complete
