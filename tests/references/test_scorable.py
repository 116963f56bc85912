"""Which instances can be scored, and what becomes of the others."""

import pytest

import gapline as gl
from gapline.campaign.scale import choose_scale
from gapline.envelope.build import Unchecked
from gapline.errors import GaplineError, MissingReferenceError, ObjectiveError, UsageError
from gapline.references.policy import find_unscorable, settle_scale

VALUES = {"plus": 10.0, "minus": -10.0, "zero": 0.0, "top": 40.0}


def mip_set():
    """Two arms on a minimised set with a positive, a negative and a zero optimum, and a maximised instance."""
    traces = {
        "plus": [(1, 20.0), (5, 10.0)],
        "minus": [(2, 5.0), (4, -10.0)],
        "zero": [(1, 3.0), (5, 0.0)],
        "top": [(2, 20.0), (6, 40.0)],
    }
    return gl.Campaign.from_runs(
        {"arm": arm, "instance": name, "seed": 1, "horizon": 10.0, "sense": "max" if name == "top" else "min"}
        | {"trace": [(time + late, value) for time, value in trace]}
        for name, trace in traces.items()
        for arm, late in (("a", 0), ("b", 1))
    )


def snapshot(**changes):
    return gl.Snapshot.from_values(VALUES | changes, name="known")


def test_the_scale_is_signed_only_where_berthold_is_alone_and_a_value_is_not_positive():
    def settled(*kernels, **more):
        return settle_scale(mip_set().filter(**more), None, [snapshot()], kernels=kernels).signed

    assert settled("berthold")
    assert not settled("berthold", instance=["plus", "top"])
    assert not settled("squeezed")
    assert not settled("berthold", "squeezed")
    # The candidates are all positive; the reference is not.
    below = gl.Snapshot.from_values({"plus": -1.0}, name="below")
    assert settle_scale(mip_set().filter(instance="plus"), None, [below], kernels=["berthold"]).signed


def test_berthold_scores_every_sign_and_both_senses_by_hand():
    study = gl.open_study(mip_set(), snapshots=[snapshot()], kernels=["berthold"], arm="a")
    scores = dict(study.scores[0].frame.select("instance", "berthold").iter_rows())
    # Before the first incumbent 1; |20 - 10| / 20 for 4 s; a change of sign is 1; 3 against 0 is 1; 20 of 40 is a half.
    assert scores == pytest.approx({"plus": 0.1 + 0.5 * 0.4, "minus": 0.4, "zero": 0.5, "top": 0.2 + 0.5 * 0.4})
    assert study.reading.transform == "negate-shift:0 (1 instances), none (3 instances), any sign"
    gaps = dict(study.scores[0].frame.select("instance", "final_gap").iter_rows())
    assert gaps == {"plus": 0.0, "minus": 0.0, "zero": 0.0, "top": 0.0}


def test_the_refusal_names_the_three_ways_out():
    for kernels in (["squeezed"], ["berthold", "squeezed"]):
        with pytest.raises(ObjectiveError, match="got others in 4 runs of 2 instances") as caught:
            gl.open_study(mip_set(), snapshots=[snapshot()], kernels=kernels)
        for way in ("--kernel berthold", "--transform 'INSTANCE=shift:C'", "--leave-out-unscorable"):
            assert way in caught.value.hint
    with pytest.raises(MissingReferenceError, match=r"without: plus \(-1\)") as caught:
        _ = gl.open_study(mip_set(), instance=["plus"], snapshots=[snapshot(plus=-1.0)]).scores
    assert "--leave-out-unscorable" in caught.value.hint
    assert "keyed differently" not in caught.value.hint


def test_what_cannot_be_scored_is_left_out_listed_and_counted():
    study = gl.open_study(mip_set(), snapshots=[snapshot()], leave_out_unscorable=True)
    assert study.left_out == {
        "minus": "a/minus/1 has -10.0 at time 4.0", "zero": "a/zero/1 has 0.0 at time 5.0"
    }  # fmt: skip
    assert sorted(set(study.envelopes.runs["instance"])) == ["plus", "top"]
    assert (study.coverage.runs, study.coverage.unscorable) == (4, 4)
    assert str(study.coverage) == "4 runs; 4 runs on unscorable instances left out"
    # Nothing is said of what was left out: the transforms count the instances that are scored.
    assert study.reading.transform == "none (1 instances), reciprocal:1 (1 instances)"
    assert str(study.coverage_of(["a"])) == "2 runs; 2 runs on unscorable instances left out"
    one = gl.open_study(mip_set(), snapshots=[snapshot()], exclude="zero", leave_out_unscorable=True)
    assert one.notes()[0].startswith("1 instance cannot be scored and is left out: minus")
    assert study.notes()[0].startswith("2 instances cannot be scored and are left out: minus (a/minus/1 has -10.0 at")
    means = dict(study.summary.frame.select("arm", "squeezed").iter_rows())
    # 20 against 10 and 20 against 40 are a third each, for 4 s; before that 1 for 1 s and 2 s.
    assert means["a"] == pytest.approx(((0.1 + 0.4 / 3) + (0.2 + 0.4 / 3)) / 2)
    # A missing reference is no reason where the runs themselves are folded in.
    rest = gl.Snapshot.from_values({"plus": 10.0}, name="part")
    assert set(gl.open_study(mip_set(), snapshots=[rest], leave_out_unscorable=True).left_out) == {
        "minus", "top", "zero"
    }  # fmt: skip
    folded = gl.open_study(mip_set(), snapshots=[rest], leave_out_unscorable=True, policy="analysis")
    assert set(folded.left_out) == {"minus", "zero"}
    with pytest.raises(GaplineError, match="expected instances that can be scored, got none: zero"):
        gl.open_study(mip_set(), instance="zero", snapshots=[snapshot()], leave_out_unscorable=True)


def test_a_declared_transform_of_some_instances_scores_them_all():
    study = gl.open_study(mip_set(), snapshots=[snapshot()], transform=["minus=shift:20", "zero=shift:10"], arm="a")
    scores = dict(study.scores[0].frame.select("instance", "squeezed").iter_rows())
    assert scores["minus"] == pytest.approx(0.2 + 0.2 * (25 - 10) / (25 + 10))
    assert scores["zero"] == pytest.approx(0.1 + 0.4 * 3 / 23)
    assert study.reading.transform == "none (1 instances), reciprocal:1 (1 instances), shift:10 (1 instances), " + (
        "shift:20 (1 instances)"
    )


def test_instances_can_be_excluded_by_pattern():
    study = gl.open_study(mip_set(), snapshots=[snapshot()], exclude=["m*", "zero"])
    assert sorted(set(study.envelopes.runs["instance"])) == ["plus", "top"]
    with pytest.raises(UsageError, match="--exclude x: matches no run"):
        gl.open_study(mip_set(), snapshots=[snapshot()], exclude="x")


def test_a_reference_of_the_other_sense_is_refused():
    stated = gl.Snapshot.from_entries(
        {name: {"value": value, "sense": "min"} for name, value in VALUES.items()}, name="all min", store={"name": "x"}
    )
    with pytest.raises(GaplineError, match=r"got another for 1: top \(min in the snapshot, max in the runs\)"):
        _ = gl.open_study(mip_set(), snapshots=[stated], kernels=["berthold"]).scores


def test_every_reason_is_given_once_and_in_order():
    scale = choose_scale(mip_set())
    found = find_unscorable(mip_set(), scale, [snapshot(top=-1.0)], unchecked=Unchecked.REFUSE)
    assert list(found) == ["minus", "top", "zero"]
    assert found["top"] == "reference -1"
