"""Runs join the table by themselves, with the bits of reading everything."""

import numpy as np
import pytest

from gapline.live.state import LiveStudy
from gapline.live.table import join_envelopes
from gapline.study import open_study
from live_studies import live_study, still


@pytest.mark.parametrize("weight", ["uniform", "early-log:0.5"])
def test_scores_of_runs_that_joined_are_those_of_the_opened_study(tmp_path, weight):
    kernels = ("squeezed", "dimacs:1.1", "berthold")
    with live_study(tmp_path / "study", kernels=kernels, weight=weight, seeds=(1, 2, 3)) as study:
        live = LiveStudy(study.path, clock=still)
        live.look()
        for number, cell in enumerate(study.cells):
            study.run(str(cell.key), [(0.1 * number + k, 50.0 / (k + 1 + number % 3)) for k in range(6)])
            live.look()
        opened = open_study(str(study.path))
        order = ("arm", "instance", "seed")
        mine, theirs = live.table.scores.frame.sort(order), opened.scores[0].frame.sort(order)
        for name in (*kernels, "final_gap", "first_time", "steps", "best", "horizon", "status", "beaten"):
            assert mine[name].to_list() == theirs[name].to_list(), name
        assert live.table.summary.frame.equals(opened.summary.frame)
        envelopes = live.table.envelopes()
        assert len(envelopes) == len(opened.envelopes)
        assert np.array_equal(np.sort(envelopes.time), np.sort(opened.envelopes.time))


def test_steps_of_parts_stay_those_of_their_runs(tmp_path):
    with live_study(tmp_path / "study") as study:
        live = LiveStudy(study.path, clock=still)
        live.look()
        study.run("a/i1/1", [(1.0, 30.0), (2.0, 20.0)])
        live.look()
        study.run("b/i1/1", [(3.0, 15.0)])
        live.look()
        joined = join_envelopes(live.table.parts)
        assert [joined.steps(row)[0].tolist() for row in range(2)] == [[1.0, 2.0], [3.0]]


def test_a_run_whose_instance_lacks_a_reference_refuses_as_score_does(tmp_path):
    with live_study(tmp_path / "study") as study:
        text = (study.path / "references" / "known.json").read_text()
        (study.path / "references" / "known.json").write_text(text.replace('"j1"', '"k1"'))
        study.run("a/i1/1", [(1.0, 30.0)])
        live = LiveStudy(study.path, clock=still)
        state = live.look()
        assert state["arms"] == []
        assert "digest" in state["refused"]["message"]


def test_runs_of_another_contract_are_read_as_score_reads_them(tmp_path):
    with live_study(tmp_path / "study") as study:
        study.run("a/i1/1", [(1.0, 30.0)])
        study.run("b/i1/1", [(1.0, 30.0)])
        text = (study.path / "study.toml").read_text()
        (study.path / "study.toml").write_text(text.partition('\n[[arms]]\nname = "b"')[0])
        live = LiveStudy(study.path, clock=still)
        state = live.look()
        assert [row["arm"] for row in state["arms"]] == ["a"]
        assert state["coverage"]["removed"] == 1
