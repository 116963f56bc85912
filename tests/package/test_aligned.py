"""Two studies on one footing."""

import pytest

import gapline as gl
from gapline.errors import MixedScoresError
from gapline.package.comparison import align
from package.two_studies import paced, study_of

ARMS = {"a": 1.0, "b": 2.0}


def test_both_keep_the_runs_that_both_have_in_one_order():
    old, new = study_of(paced(ARMS)), study_of(paced(ARMS, seeds=(2, 3)))
    both = align(old, new)
    keys = [study.envelopes.runs.select("arm", "instance", "seed").rows() for study in (both.old, both.new)]
    assert keys[0] == keys[1]
    assert {seed for *_, seed in keys[0]} == {2}
    assert (both.planned, both.lacking_old, both.lacking_new) == (32, 16, 0)
    assert both.new.coverage.missing == 16


def test_equal_horizons_leave_every_score_as_it_is_to_the_last_bit():
    study = study_of(paced(ARMS))
    both = align(study, study)
    scores = [one.scores[0].frame.sort("arm", "instance", "seed")["squeezed"].to_list() for one in (study, both.old)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("longer", ["old", "new"])
def test_both_are_scored_at_the_shorter_horizon_of_each_instance(longer):
    long, short = study_of(paced(ARMS, horizon=10.0)), study_of(paced(ARMS, horizon=4.0))
    both = align(long, short) if longer == "old" else align(short, long)
    assert both.horizons.startswith("scored at 4 s; announced to the solvers: ")
    for study in (both.old, both.new):
        assert study.envelopes.runs["horizon"].unique().to_list() == [4.0]
    # The runs are the same, and so are then their scores; what was announced stays known.
    assert both.old.scores[0].frame["squeezed"].to_list() == both.new.scores[0].frame["squeezed"].to_list()
    announced = [study.envelopes.runs["announced"].unique().to_list() for study in (both.old, both.new)]
    assert sorted(announced) == [[4.0], [10.0]]
    rescored = gl.open_study(long.campaign, snapshots=long.stored, horizon=4.0)
    assert sorted(both.old.scores[0].frame["squeezed"]) == sorted(rescored.scores[0].frame["squeezed"])


def test_a_reference_folded_from_the_runs_is_folded_from_both():
    """One side found 11 everywhere, the other 10.5: both are read against 10.5."""
    better = [run | {"trace": [(0.1, 20.0), (3.0, 10.5)]} for run in paced(ARMS)]
    both = align(study_of(paced(ARMS), policy="analysis"), study_of(better, policy="analysis"))
    assert both.old.snapshot.digest == both.new.snapshot.digest
    assert {entry.value for entry in both.old.snapshot.values.values()} == {10.5}


def test_other_references_are_refused():
    other = gl.Snapshot.from_values({f"{panel}{k}": 9.0 for panel in "pq" for k in range(4)}, name="other")
    with pytest.raises(MixedScoresError, match="snapshots differ"):
        align(study_of(paced(ARMS)), study_of(paced(ARMS), snapshot=other))


def test_other_choices_are_refused():
    with pytest.raises(MixedScoresError, match="contracts differ in weight"):
        align(study_of(paced(ARMS)), study_of(paced(ARMS), weight="early-log:0.5"))


def test_other_instance_files_are_refused():
    sides = [study_of(paced(ARMS, instance_digest=f"sha256:{digit * 64}")) for digit in "01"]
    with pytest.raises(MixedScoresError, match="expected the same instance files there and here, got others of p0"):
        align(*sides)


def test_nothing_in_common_is_refused():
    with pytest.raises(MixedScoresError, match="expected runs that both studies have"):
        align(study_of(paced(ARMS)), study_of(paced({"c": 1.0, "d": 2.0})))
