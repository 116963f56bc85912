import pytest
from hypothesis import given

import gapline as gl
from gapline.envelope.build import build_envelopes
from gapline.errors import IntegrityError, MissingReferenceError
from gapline.references.fold import fold_snapshot
from gapline.references.policy import analysis_snapshot, label_policy, refuse_unfrozen, runs_digest
from gapline.references.snapshot import Snapshot
from references.campaigns import campaign, drawn_runs, envelopes, references

RUNS = (("a", "i1", 1, [(1, 12.0), (5, 9.0)]), ("a", "i1", 2, [(1, 11.0)]))


def dated(*moments, runs=RUNS):
    return envelopes(*runs, started=list(moments))


def frozen(as_of, value=10.0):
    return Snapshot.from_values({"i1": value}, name="s", as_of=as_of)


@pytest.mark.parametrize(
    ("as_of", "started", "label"),
    [
        ("2026-01-01T00:00:00Z", ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"), "given"),
        ("2026-01-02T12:00:00Z", ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"), "retrospective"),
        ("2026-01-02", ("2026-01-02T20:00:00Z", "2026-01-03T00:00:00Z"), "retrospective"),
        ("2026-01-02T00:00:00Z", ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"), "retrospective"),
        ("2026-01-02T01:00:00+02:00", ("2026-01-01T23:30:00Z", "2026-01-03T00:00:00Z"), "given"),
        ("2026-01-01T00:00:00Z", (None, None), "given"),
        ("2026-01-01T00:00:00Z", ("2026-01-02T00:00:00Z", None), "given"),
        (None, (None, None), "given"),
        (None, ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"), "given"),
    ],
)
def test_labels_follow_the_dates(as_of, started, label):
    runs = dated(*started)
    assert label_policy(frozen(as_of), runs.runs) == label
    assert gl.score(runs, frozen(as_of)).reference.policy == label
    # What stood in the register before the first run needs no date.
    assert label_policy(frozen(as_of), runs.runs, registered=[frozen(as_of).digest]) == "frozen"


def test_only_a_digest_in_the_register_proves_that_a_snapshot_was_frozen():
    """A date can be typed after the runs; a digest that was registered before the first one cannot."""
    runs = dated("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z")
    known = frozen("2026-01-01T00:00:00Z")
    assert label_policy(known, runs.runs, registered={known.digest}) == "frozen"
    assert label_policy(known, runs.runs, registered={"sha256:other"}) == "given"
    refuse_unfrozen(known, runs.runs, registered={known.digest})
    with pytest.raises(IntegrityError, match="registered before the first run"):
        refuse_unfrozen(known, runs.runs, registered={"sha256:other"})
    late = {known.digest}
    assert label_policy(known, runs.runs, late=late) == "registered after the runs began"
    with pytest.raises(IntegrityError, match=r"first run \(none\), got sha256:\w+, registered after the runs began"):
        refuse_unfrozen(known, runs.runs, registered=(), late=late)


def test_the_date_of_the_file_can_rule_freezing_out_but_never_prove_it(tmp_path):
    """The day of writing is not covered by the digest."""
    written = Snapshot.load(frozen(None).save(tmp_path / "s.json"))
    long_ago = dated("2001-01-02T00:00:00Z", "2001-01-03T00:00:00Z")
    far_ahead = dated("2999-01-02T00:00:00Z", "2999-01-03T00:00:00Z")
    assert label_policy(written, long_ago.runs) == "retrospective"
    assert label_policy(written, far_ahead.runs) == "given"


def test_runs_without_dates_are_declared():
    assert label_policy(frozen("2026-01-01"), envelopes(*RUNS).runs) == "given"


def test_folded_from_these_runs_is_analysis_and_from_others_is_not():
    runs = dated("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z")
    folded = fold_snapshot(frozen("2026-01-01"), runs, name="folded")
    assert label_policy(folded, runs.runs) == "analysis"
    # No register can make a value known before the run that found it.
    assert label_policy(folded, runs.runs, registered=[folded.digest]) == "analysis"
    later = dated("2026-02-02T00:00:00Z", "2026-02-03T00:00:00Z")
    assert label_policy(folded, later.runs) == "given"
    earlier = dated("2025-02-02T00:00:00Z", "2025-02-03T00:00:00Z")
    assert label_policy(folded, earlier.runs) == "retrospective"
    assert label_policy(analysis_snapshot(frozen("2026-01-01", 1.0), runs), runs.runs) == "analysis"


def test_a_contract_that_says_frozen_and_is_not_gets_refused():
    runs = dated("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z")
    refuse_unfrozen(frozen("2026-01-01"), runs.runs)
    with pytest.raises(IntegrityError, match="expected values known before the first run, got retrospective ones"):
        refuse_unfrozen(frozen("2026-03-01"), runs.runs)
    with pytest.raises(IntegrityError, match="analysis"):
        refuse_unfrozen(fold_snapshot(frozen("2026-01-01"), runs, name="f"), runs.runs)


def test_analysis_is_the_exact_minimum_where_a_fold_is_not():
    """A candidate better by less than the tolerance is no discovery, and still not allowed to score below zero."""
    prior = frozen("2026-01-01", 9.0 * (1 + 1e-12))
    runs = envelopes(*RUNS)
    assert analysis_snapshot(prior, runs).values["i1"].value == 9.0
    assert fold_snapshot(prior, runs, name="f") is prior
    assert gl.score(runs, analysis_snapshot(prior, runs)).frame["final_gap"].min() == 0.0
    assert gl.score(runs, prior).frame["final_gap"].min() < 0.0


def test_analysis_without_prior_takes_the_best_of_the_campaign():
    snapshot = analysis_snapshot(None, envelopes(*RUNS, ("a", "i2", 1, [])))
    assert {name: entry.value for name, entry in snapshot.values.items()} == {"i1": 9.0}
    assert snapshot.values["i1"].more["fold"]["run"] == "a/i1/1"


@pytest.mark.parametrize("bad", [0.0, -3.0])
def test_analysis_does_not_hide_a_reference_that_is_not_positive(bad):
    snapshot = analysis_snapshot(frozen("2026-01-01", bad), envelopes(*RUNS))
    assert snapshot.values["i1"].value == bad
    with pytest.raises(MissingReferenceError, match=r"i1 \(-?[03]\)"):
        gl.score(envelopes(*RUNS), snapshot)


def test_analysis_fills_what_the_store_names_without_a_number():
    assert analysis_snapshot(frozen("2026-01-01", float("nan")), envelopes(*RUNS)).values["i1"].value == 9.0


def test_analysis_keeps_a_certificate_that_only_the_last_bits_contradict():
    close = Snapshot.from_values({"i1": 9.0 * (1 + 1e-12)}, name="s", certified=["i1"])
    far = Snapshot.from_values({"i1": 10.0}, name="s", certified=["i1"])
    assert analysis_snapshot(close, envelopes(*RUNS)).values["i1"].certified
    assert not analysis_snapshot(far, envelopes(*RUNS)).values["i1"].certified


@given(drawn_runs(), references)
def test_analysis_never_gives_a_negative_score(runs, values):
    built = envelopes(*runs)
    snapshot = analysis_snapshot(Snapshot.from_values(values, name="prior"), built)
    scores = gl.score(built, snapshot, kernels=["squeezed", "maxform", "berthold", "dimacs:1.1"]).frame
    for kernel in ("squeezed", "maxform", "berthold", "dimacs:1.1"):
        assert (scores[kernel] >= 0).all()
    assert not scores["beaten"].any()
    assert all(snapshot.values[name].value <= value for name, value in values.items())


@given(drawn_runs(), references)
def test_analysis_of_maximised_objectives(runs, values):
    built = build_envelopes(campaign(*runs), transform="reciprocal:1e6")
    snapshot = analysis_snapshot(Snapshot.from_values(values, name="prior"), built)
    assert (gl.score(built, snapshot).frame["squeezed"] >= 0).all()
    assert all(snapshot.values[name].value >= value for name, value in values.items())


@pytest.mark.slow
@given(drawn_runs(), references, drawn_runs())
def test_frozen_scores_do_not_change_when_a_later_snapshot_appears(runs, values, later):
    built = envelopes(*runs)
    snapshot = Snapshot.from_values(values, name="frozen", as_of="2026-01-01")
    digest, before = snapshot.digest, gl.score(built, snapshot).frame
    fold_snapshot(fold_snapshot(snapshot, built, name="later"), envelopes(*later), name="even later")
    assert snapshot.digest == digest
    assert gl.score(built, snapshot).frame.equals(before)


@given(drawn_runs(), references)
def test_two_snapshots_in_one_call_give_what_each_gives_alone(runs, values):
    built = envelopes(*runs)
    frozen_one = Snapshot.from_values(values, name="frozen")
    folded = fold_snapshot(frozen_one, built, name="folded")
    both = gl.score_grid(built, [frozen_one, folded])
    for scores, snapshot in zip(both, (frozen_one, folded), strict=True):
        assert scores.frame.equals(gl.score(built, snapshot).frame)
        assert scores.reference.digest == snapshot.digest


def test_a_set_of_runs_has_one_digest_whatever_their_order():
    runs = dated("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z").runs
    assert runs_digest(runs) == runs_digest(runs.reverse())
    assert runs_digest(runs) != runs_digest(runs.head(1))


def test_folded_values_are_known_when_the_last_run_began():
    runs = dated("2026-01-03T00:00:00Z", "2026-01-02T00:00:00Z")
    assert analysis_snapshot(frozen("2026-01-01"), runs).as_of == "2026-01-03T00:00:00Z"
    assert analysis_snapshot(frozen(None), runs).as_of is None
