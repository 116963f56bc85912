"""Every run under every kernel and reference."""

import pytest

import gapline as gl
from gapline.errors import MixedScoresError, UsageError
from gapline.study.readings import build_readings
from study.edge_runs import run

RUNS = [run("a", "i", 1, [(0, 20.0)]), run("a", "j", 1, [(5, 8.0)], panel="q"), run("b", "i", 1, [(0, 10.0)])]
SNAPSHOTS = {name: gl.Snapshot.from_values(dict.fromkeys("ij", z), name=name) for name, z in (("x", 10.0), ("y", 8.0))}


def readings(runs=RUNS, snapshots=SNAPSHOTS, **choices):
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    return build_readings(envelopes, snapshots, kernels=["maxform", "berthold"], **choices)


def test_scores_by_hand_under_two_references():
    found = readings()
    # a/i holds 20 from the start; a/j has nothing until the half and ends below 10, at 8.
    assert found.scores[0][:, 0].tolist() == pytest.approx([0.5, 0.5 - 0.2 / 2, 0.0])
    assert found.scores[1][:, 0].tolist() == pytest.approx([0.6, 0.5, 0.2])
    assert found.panel_means(0, 0)[0].tolist() == pytest.approx([0.5, 0.4])
    assert found.pooled(0, 0).tolist() == pytest.approx([0.45, 0.0])


def test_only_bertholds_gap_is_out_of_its_envelope_and_only_where_a_reference_is_beaten():
    found = readings()
    assert [mask.tolist() for mask in found.beaten] == [[False, True, False], [False, False, False]]
    assert not found.outside(0, 0).any()
    assert found.outside(0, 1).tolist() == [[False, True], [False, False]]
    assert not found.outside(1, 1).any()


def test_pairs_are_of_arms_that_ran_the_same_instances():
    assert readings().pairs == []
    same = [*RUNS, run("b", "j", 1, [(0, 10.0)], panel="q")]
    assert readings(same).pairs == [(0, 1)]
    assert readings(same, tier_two=["b"]).pairs == []


def test_what_cannot_be_read_is_refused():
    with pytest.raises(UsageError, match="at least one snapshot"):
        readings(snapshots={})
    with pytest.raises(UsageError, match="expected runs"):
        build_readings(gl.build_envelopes(gl.Campaign.from_runs(RUNS)).select([]), SNAPSHOTS)
    with pytest.raises(UsageError, match="each once"):
        build_readings(gl.build_envelopes(gl.Campaign.from_runs(RUNS)), SNAPSHOTS, kernels=["raw", "raw"])
    with pytest.raises(MixedScoresError, match="one horizon per instance"):
        readings([*RUNS, run("b", "i", 2, [], horizon=20.0)])
