"""Curves of what is whole so far are those of `gapline curve`."""

import pytest

import gapline as gl
from gapline.live.state import LiveStudy
from gapline.live.table import POINTS, curves_document
from live_studies import live_study, still


@pytest.mark.slow
def test_they_are_the_exact_means_at_their_moments(tmp_path):
    with live_study(tmp_path / "study", seeds=(1, 2)) as study:
        live = LiveStudy(study.path, clock=still)
        live.look()
        for number, cell in enumerate(study.cells):
            study.run(str(cell.key), [(number + k, 60.0 / (k + 1)) for k in range(3)])
            live.look()
        found = curves_document(live.table)
        opened = gl.open_study(str(study.path))
        expected = gl.mean_curve(opened.envelopes, opened.snapshot, points=POINTS)
        for line in found["mean"]:
            part = expected.frame.filter(arm=line["arm"])
            assert (line["time"], line["value"]) == (part["time"].to_list(), part["value"].to_list())
        attained = gl.attainment_curve(opened.envelopes, opened.snapshot, goals=opened.goals)
        for line in found["attainment"]:
            part = attained.frame.filter(arm=line["arm"], goal=line["goal"])
            assert (line["time"], line["value"]) == (part["time"].to_list(), part["value"].to_list())


def test_before_any_run_is_whole_there_are_none(tmp_path):
    with live_study(tmp_path / "study") as study:
        live = LiveStudy(study.path, clock=still)
        live.look()
        found = curves_document(live.table)
        assert (found["mean"], found["refused"]) == ([], "expected runs to score, got none")
