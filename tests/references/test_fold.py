from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import gapline as gl
from gapline.campaign.campaign import Campaign
from gapline.envelope.build import build_envelopes
from gapline.errors import IntegrityError, UsageError
from gapline.references.alarms import AlarmKind
from gapline.references.diff import diff_snapshots
from gapline.references.fold import fold, fold_snapshot
from gapline.references.fold_candidates import Offer
from gapline.references.snapshot import Snapshot
from references.campaigns import campaign, drawn_runs, envelopes, references

RUNS = (
    ("a", "i1", 1, [(1, 12.0), (5, 9.0)]),
    ("b", "i1", 1, [(2, 9.0)]),
    ("a", "i2", 1, [(1, 20.0)]),
    ("a", "i3", 1, [(1, 7.0)]),
)
OLD = Snapshot.from_values({"i1": 10.0, "i2": 5.0, "i3": 8.0}, name="old", certified=["i3"], as_of="2026-01-01")


def test_only_what_is_beaten_changes_and_names_its_run(tmp_path):
    file = OLD.save(tmp_path / "old.json")
    before = file.read_bytes()
    folded = fold(OLD, envelopes(*RUNS, best_solution_digest=["d1", "d2", "d3", "d4"]), name="new")
    assert [(c.instance, c.old, c.new, c.arm, c.run, c.time, c.solution_digest) for c in folded.changes] == [
        ("i1", 10.0, 9.0, "b", "b/i1/1", 2.0, "d2")
    ]
    new = folded.snapshot
    assert new.parent == OLD.digest
    assert new.values["i2"] == OLD.values["i2"]
    assert new.values["i1"].source == "run b/i1/1 at 2 s, valid by checker"
    assert new.values["i1"].more["fold"]["solution_digest"] == "d2"
    new.save(tmp_path / "new.json")
    assert file.read_bytes() == before


def test_a_certified_value_is_never_replaced_but_raises_an_alarm():
    folded = fold(OLD, envelopes(*RUNS), name="new")
    assert folded.snapshot.values["i3"] == OLD.values["i3"]
    assert [(a.kind, a.instance) for a in folded.alarms] == [(AlarmKind.CANDIDATE, "i3")]


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ([("a", "i2", 1, [(1, 20.0)])], "nothing was beaten by more than the tolerance: the content is that of the old "
         "snapshot"),
        ([("a", "i3", 1, [(1, 7.0)])], "no uncertified value was beaten; 1 certified value is contradicted: see ALARM"),
        ([("a", "i1", 1, [(1, 9.0)])], "1 value beaten or added"),
        (RUNS, "1 value beaten or added; 1 certified value is contradicted: see ALARM"),
    ],
)  # fmt: skip
def test_the_summary_never_says_nothing_above_an_alarm(runs, sentence):
    assert fold(OLD, envelopes(*runs), name="new").summary() == sentence


@pytest.mark.parametrize(
    ("as_of", "refused"),
    [("2026-03-01T11:59:59Z", True), ("2026-02-28", True), ("2026-03-01", False), ("2026-03-01T13:00:00+01:00", False)],
)
def test_a_value_cannot_be_known_before_the_run_that_found_it_began(as_of, refused):
    built = envelopes(("a", "i1", 1, [(1, 9.0)]), ("a", "i2", 1, [(1, 20.0)]), started=["2026-03-01T12:00:00Z"] * 2)
    if refused:
        with pytest.raises(
            UsageError, match="not before the start of run a/i1/1, which found a value, of 2026-03-01T12"
        ):
            fold(OLD, built, name="new", as_of=as_of)
    else:
        assert fold(OLD, built, name="new", as_of=as_of).snapshot.as_of == as_of


def test_a_start_that_is_no_moment_is_said():
    built = envelopes(("a", "i1", 1, [(1, 9.0)]), started=["yesterday"])
    with pytest.raises(IntegrityError, match="got 'yesterday'"):
        fold(OLD, built, name="new", as_of="2026-03-01")


def test_the_tolerance_is_relative():
    runs = envelopes(("a", "i1", 1, [(1, 10.0 * (1 - 5e-10))]))
    assert fold_snapshot(OLD, runs, name="new") is OLD
    assert fold_snapshot(OLD, runs, name="new", tolerance=1e-10).values["i1"].value == 10.0 * (1 - 5e-10)


def test_late_candidates_count_only_when_asked_for():
    late = campaign(
        ("a", "i1", 1, [(1, 12.0, True), (31, 8.0, True), (32, 1.0, False)]), ("a", "i2", 1, [(40, 4.0, True)])
    )
    built = build_envelopes(late)
    assert fold_snapshot(OLD, built, name="new") is OLD
    folded = fold(OLD, built, name="new", include_late=True, campaign=late)
    assert [(c.instance, c.new, c.time) for c in folded.changes] == [("i1", 8.0, 31.0), ("i2", 4.0, 40.0)]
    with pytest.raises(UsageError, match="expected the campaign"):
        fold(OLD, built, name="new", include_late=True)


def test_a_late_candidate_that_nobody_checked_or_that_is_not_positive_is_no_record():
    for trace in ([(1, 12.0, True), (31, 8.0, None)], [(1, 12.0, True), (31, -1.0, True)]):
        late = campaign(("a", "i1", 1, trace))
        built = build_envelopes(late, unchecked="leave-out")
        assert fold(OLD, built, name="new", include_late=True, campaign=late).changes == ()


def test_two_checkers_that_differ_are_named():
    late = replace(campaign(*RUNS), facts={"checker": "c 2"})
    for priced, notes in (
        ("c 1", ["checkers differ: the snapshot was priced by c 1, the campaign by c 2"]),
        ("c 2", []),
    ):
        entries = {name: entry.document() for name, entry in OLD.values.items()}
        old = Snapshot.from_entries(entries, name="old", store={"name": "s"}, checker=priced)
        assert [n for n in fold(old, build_envelopes(late), name="new", campaign=late).notes if "checker" in n] == notes


def test_the_solvers_word_is_not_folded_unless_asked_for():
    runs = envelopes(*RUNS, validation=["solver", "solver", "checker", "checker"])
    folded = fold(OLD, runs, name="new")
    assert folded.snapshot is OLD
    assert folded.notes == ("runs left out because only the solver vouches for their candidates: 2",)
    assert fold_snapshot(OLD, runs, name="new", trust_solver=True).values["i1"].value == 9.0


def test_instances_the_snapshot_does_not_have_are_added_only_when_asked_for():
    small = Snapshot.from_values({"i2": 30.0}, name="small")
    folded = fold(small, envelopes(*RUNS), name="new")
    assert list(folded.snapshot.values) == ["i2"]
    assert folded.notes == ("instances that the snapshot does not have, not added: 2 (i1, i3)",)
    assert list(fold_snapshot(small, envelopes(*RUNS), name="new", add=True).values) == ["i1", "i2", "i3"]


def test_a_raw_value_is_stored_and_beaten_on_the_transformed_scale():
    built = build_envelopes(
        campaign(("a", "i1", 1, [(1, 12.0)]), ("a", "i2", 1, [(1, 4.0)])), transform="negate-shift:100"
    )
    folded = fold_snapshot(OLD, built, name="new")
    assert (folded.values["i1"].value, folded.values["i2"].value) == (12.0, 5.0)


def test_components_of_a_hierarchical_objective_are_folded():
    runs = pl.DataFrame(
        {"arm": ["a"], "instance": ["i"], "seed": [1], "horizon": [30.0], "size": [100.0], "first": [0], "count": [2],
         "validation": ["checker"]}
    )  # fmt: skip
    made = Campaign.from_arrays(
        runs=runs, time=np.array([1.0, 2.0]), objective=np.array([300.0, 260.0]), verdict=np.ones(2, np.uint8),
        primary=np.array([3.0, 3.0]), secondary=np.array([300.0, 260.0]),
    )  # fmt: skip
    built = build_envelopes(made, transform="hierarchical:10n")
    entry = {"value": 3280.0, "primary": 3.0, "secondary": 280.0}
    old = Snapshot.from_entries({"i": entry}, name="old", store={"name": "s"})
    new = fold_snapshot(old, built, name="new").values["i"]
    assert (new.value, new.primary, new.secondary) == (3260.0, 3.0, 260.0)
    better = Snapshot.from_entries({"i": entry | {"primary": 2.0}}, name="better", store={"name": "s"})
    assert fold_snapshot(better, built, name="new") is better


def test_wrong_use_is_refused():
    for options, message in (({"tolerance": -1.0}, "tolerance"), ({"as_of": "soon"}, "as_of")):
        with pytest.raises(UsageError, match=f"{message}: expected"):
            fold(OLD, envelopes(*RUNS), name="new", **options)


def test_a_changed_instance_is_refused():
    old = Snapshot.from_entries({"i1": {"value": 10.0, "instance_digest": "sha256:aa"}}, name="o", store={"name": "s"})
    with pytest.raises(IntegrityError, match="got 1 that changed"):
        fold(old, envelopes(RUNS[0], instance_digest=["sha256:bb"]), name="new")
    same = fold_snapshot(old, envelopes(RUNS[0], instance_digest=["sha256:aa"]), name="new")
    assert same.values["i1"].instance_digest == "sha256:aa"


def test_as_of_moves_to_the_last_start():
    runs = envelopes(RUNS[0], started=["2026-05-01T00:00:00Z"])
    assert fold_snapshot(OLD, runs, name="new").as_of == "2026-05-01T00:00:00Z"
    assert fold_snapshot(OLD, envelopes(RUNS[0]), name="new").as_of is None
    assert fold_snapshot(OLD, envelopes(RUNS[0]), name="new", as_of="2026-06-01").as_of == "2026-06-01"


@given(drawn_runs(), references)
def test_fold_is_idempotent(runs, values):
    built = envelopes(*runs)
    once = fold_snapshot(Snapshot.from_values(values, name="old"), built, name="new")
    assert fold_snapshot(once, built, name="newer") is once


@given(drawn_runs(), references)
def test_fold_is_monotone(runs, values):
    """No value gets worse, none is better than the best candidate, and what is left unbeaten stays to the last bit."""
    old, built = Snapshot.from_values(values, name="old"), envelopes(*runs)
    new = fold_snapshot(old, built, name="new")
    diff = diff_snapshots(old, new)
    assert not diff.worsened
    assert not diff.added
    assert not diff.removed
    best = dict(built.runs.group_by("instance").agg(best=pl.col("best").min()).iter_rows())
    for name, value in values.items():
        found = best.get(name)
        expected = found if found is not None and value - found > 1e-9 * value else value
        assert new.values[name].value == expected


@given(drawn_runs(), references)
def test_fold_does_not_depend_on_the_order_of_the_runs(runs, values):
    old = Snapshot.from_values(values, name="old")
    forward, backward = (fold_snapshot(old, envelopes(*order), name="new") for order in (runs, runs[::-1]))
    assert forward.digest == backward.digest


def offered(values, name="theirs", certified=(), as_of=None):
    return Offer(name, Snapshot.from_values(values, name=name, certified=certified, as_of=as_of))


def test_values_and_runs_are_folded_together_and_the_rest_stays_to_the_last_bit():
    entries = {name: entry.document() for name, entry in OLD.values.items()} | {
        "i4": {"value": 40.0, "certified": False, "source": "a paper", "note": "kept"}
    }
    old = Snapshot.from_entries(entries, name="old", store={"name": "s"}, as_of="2026-01-01")
    offers = [offered({"i1": 9.5, "i2": 4.0, "i4": 41.0}, as_of="2026-04-01")]
    runs = envelopes(*RUNS[:2], started=["2026-03-01T00:00:00Z"] * 2)
    folded = fold(old, runs, offers=offers, name="new", trust_solver=True)
    assert [(c.instance, c.old, c.new, c.run) for c in folded.changes] == [
        ("i1", 10.0, 9.0, "b/i1/1"), ("i2", 5.0, 4.0, None),
    ]  # fmt: skip
    new = folded.snapshot
    assert (new.parent, new.as_of) == (old.digest, "2026-04-01")
    for name in ("i3", "i4"):
        assert new.values[name].document() == old.values[name].document()
    assert new.values["i2"].source == "given; values; not checked: taken on the user's word"
    assert new.more["fold"]["sources"] == [
        {"store": {"name": "values"}, "as_of": "2026-04-01", "taken": 1, "rejected": 0}
    ]


def test_a_value_that_beats_a_run_too_is_the_new_one():
    folded = fold(OLD, envelopes(*RUNS[:2]), offers=[offered({"i1": 8.0})], name="new", trust_solver=True)
    assert [(c.new, c.run) for c in folded.changes] == [(8.0, None)]


def test_an_offered_value_below_a_certificate_is_an_alarm():
    folded = fold(OLD, offers=[offered({"i3": 7.0, "i1": 11.0}, certified=["i1"])], name="new", trust_solver=True)
    assert folded.snapshot is OLD
    assert {(alarm.kind, alarm.instance) for alarm in folded.alarms} == {
        (AlarmKind.VALUE, "i3"), (AlarmKind.VALUE, "i1"),
    }  # fmt: skip
    assert folded.summary() == "no uncertified value was beaten; 2 certified values are contradicted: see ALARM"


def test_values_that_nobody_checked_neither_count_nor_ring():
    vouched = Offer("vouched", Snapshot.from_values({"i1": 9.0}, name="v"), checked={"i1": "cvrp 1"})
    folded = fold(OLD, offers=[vouched, offered({"i3": 7.0, "i2": 1.0})], name="new")
    assert [(c.instance, c.new) for c in folded.changes] == [("i1", 9.0)]
    assert folded.alarms == ()
    assert "values left out because nobody checked a solution of theirs: 2 (i2, i3)" in folded.notes


def test_a_value_of_another_instance_is_refused():
    def made(digest):
        return Snapshot.from_entries({"i": {"value": 1.0, "instance_digest": digest}}, name=digest, store={"name": "s"})

    with pytest.raises(IntegrityError, match="got 1 that changed"):
        fold(made("sha256:aa"), offers=[Offer("theirs", made("sha256:bb"))], name="new", trust_solver=True)


def test_values_cannot_be_known_before_their_source_says_so():
    offers = [offered({"i1": 9.0}, as_of="2026-04-01")]
    with pytest.raises(UsageError, match="not before the values of theirs of 2026-04-01"):
        fold(OLD, offers=offers, name="new", trust_solver=True, as_of="2026-03-01")
    assert fold(OLD, offers=[offered({"i1": 9.0})], name="new", trust_solver=True).snapshot.as_of is None


def test_folding_values_again_changes_nothing():
    other = Snapshot.from_values({"i1": 9.0, "i2": 9.0}, name="theirs")
    once = fold_snapshot(OLD, other, name="new", trust_solver=True)
    assert once.values["i1"].value == 9.0
    assert fold_snapshot(once, other, name="newer", trust_solver=True) is once
    assert fold_snapshot(once, OLD, name="newer", trust_solver=True) is once


@given(references, references)
def test_folding_values_is_monotone(ours, theirs):
    old = Snapshot.from_values(ours, name="old")
    new = fold_snapshot(old, Snapshot.from_values(theirs, name="theirs"), name="new", trust_solver=True)
    for name, value in ours.items():
        better = theirs.get(name, value)
        assert new.values[name].value == (better if value - better > 1e-9 * value else value)


def test_a_fold_rings_where_runs_contradict_each_other_or_a_stored_value():
    rows = [("a", "i1", 12.0, 11.0), ("b", "i1", 10.5, None), ("a", "i2", 30.0, 20.0)]
    table = pl.DataFrame(
        [{"arm": arm, "instance": name, "seed": 1, "horizon": 9.0, "time": 1.0, "objective": value, "valid": True,
          "bound": bound} for arm, name, value, bound in rows]
    )  # fmt: skip
    made = gl.read(table)
    folded = fold(OLD, build_envelopes(made), campaign=made, name="new")
    assert {(alarm.kind, alarm.instance) for alarm in folded.alarms} == {
        (AlarmKind.BOUND, "i1"), (AlarmKind.STORED_BOUND, "i1"), (AlarmKind.STORED_BOUND, "i2"),
    }  # fmt: skip
    assert folded.summary() == "no uncertified value was beaten; 3 claimed proofs are contradicted: see ALARM"


def test_runs_of_another_sense_are_refused():
    old = Snapshot.from_entries({"i1": {"value": 10.0}}, name="old", store={"name": "s"}, sense="max")
    with pytest.raises(IntegrityError, match=r"i1 \(max in the snapshot, min in the runs\)"):
        fold(old, envelopes(RUNS[0]), name="new")


def test_a_value_of_runs_that_maximise_keeps_their_direction():
    old = Snapshot.from_values({"i1": 10.0, "i2": 99.0}, name="old")
    runs = campaign(("a", "i1", 1, [(1, 12.0)]), ("a", "i2", 1, [(1, 50.0)]))
    new = fold(old, build_envelopes(runs, sense="max"), name="new").snapshot
    assert (new.values["i1"].value, new.sense_of("i1")) == (12.0, "max")
    assert [one.instance for one in diff_snapshots(old, new).improved] == ["i1"]
