"""Values and runs of another instance under the same name are refused."""

import pytest

from gapline.errors import IntegrityError
from gapline.references.alarms import find_alarms
from gapline.references.fold import fold
from gapline.references.resolve import refuse_changed_instances, rewritten_instances
from gapline.references.snapshot import Snapshot
from gapline.scoring.scores import score
from references.campaigns import envelopes
from references.contradicted import RUNS, snapshot


def test_certificates_of_different_instances_are_not_compared():
    one = snapshot({"i1": 10.0}, "one", ["i1"], {"i1": "sha256:aa"})
    other = snapshot({"i1": 11.0}, "other", ["i1"], {"i1": "sha256:bb"})
    assert find_alarms([one, other]) == []
    with pytest.raises(IntegrityError, match="i1: sha256:aa in snapshot one but sha256:bb in snapshot other"):
        refuse_changed_instances([one, other])


def test_runs_of_another_instance_are_refused():
    one = snapshot({"i1": 10.0, "i2": 5.0}, "one", (), {"i1": "sha256:aa", "i2": "sha256:cc"})
    runs = envelopes(*RUNS, instance_digest=["sha256:bb", "sha256:bb", "sha256:cc"]).runs
    with pytest.raises(
        IntegrityError, match="got 1 that changed: i1: sha256:bb in runs of a but sha256:aa in snapshot one"
    ):
        refuse_changed_instances(one, runs)
    refuse_changed_instances(one, envelopes(*RUNS, instance_digest=["sha256:aa", None, "sha256:cc"]).runs)


BYTES = ["sha256:bb", "sha256:bb", "sha256:cc"]


def sides(bytes_, problems):
    entries = {"i1": {"value": 10.0, "instance_digest": bytes_[0]}, "i2": {"value": 5.0, "instance_digest": bytes_[1]}}
    for name, digest in problems.items():
        entries[name]["problem_digest"] = digest
    return Snapshot.from_entries(entries, name="one", store={"name": "s"})


def test_other_bytes_with_the_same_problem_are_one_instance_and_said():
    one = sides(("sha256:aa", "sha256:cc"), {"i1": "sha256:p", "i2": "sha256:q"})
    runs = envelopes(*RUNS, instance_digest=BYTES, problem_digest=["sha256:p", "sha256:p", "sha256:q"]).runs
    refuse_changed_instances(one, runs)
    (note,) = rewritten_instances(one, runs)
    assert note.startswith("files of 1 instances were rewritten and still hold the same problem")
    assert note.endswith(": i1")
    assert rewritten_instances(one, runs.filter(instance="i2")) == []


def test_the_problem_decides_where_both_state_it_even_below_equal_bytes():
    one = sides(("sha256:aa", "sha256:cc"), {"i1": "sha256:p"})
    other = sides(("sha256:aa", "sha256:cc"), {"i1": "sha256:r"})
    with pytest.raises(
        IntegrityError, match="i1: problem sha256:p in snapshot one but problem sha256:r in snapshot one"
    ):
        refuse_changed_instances([one, other])


def test_bytes_decide_where_one_side_knows_no_problem():
    one = sides(("sha256:aa", "sha256:cc"), {"i1": "sha256:p"})
    with pytest.raises(IntegrityError, match="i1: sha256:bb in runs of a but sha256:aa in snapshot one"):
        refuse_changed_instances(one, envelopes(*RUNS, instance_digest=["sha256:bb"] * 2 + ["sha256:cc"]).runs)


def test_a_score_across_a_rewritten_file_says_so():
    one = sides(("sha256:aa", "sha256:cc"), {"i1": "sha256:p"})
    built = envelopes(*RUNS, instance_digest=BYTES, problem_digest=["sha256:p", "sha256:p", None])
    scores = score(built, one)
    assert any("were rewritten and still hold the same problem" in note for note in scores.notes)
    folded = fold(one, built, name="new")
    assert any("were rewritten" in note for note in folded.notes)
    assert folded.snapshot.values["i1"].digests() == {"instance_digest": "sha256:aa", "problem_digest": "sha256:p"}
