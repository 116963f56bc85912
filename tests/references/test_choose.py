"""Which reference is meant: the given ones, the contract's, the carried ones, and what a policy makes of them."""

import pytest

from gapline.errors import IntegrityError, UsageError
from gapline.references.choice import choose_references, stored_snapshots
from gapline.references.snapshot import Snapshot
from references.campaigns import campaign, envelopes

RUNS = (("a", "i1", 1, [(1, 12.0), (5, 9.0)]), ("a", "i2", 1, [(1, 5.0)]))
KNOWN = Snapshot.from_values({"i1": 10.0, "i2": 5.0}, name="known")


def test_given_snapshots_go_before_carried_ones(tmp_path):
    campaign(*RUNS).save(tmp_path / "campaign")
    KNOWN.save(tmp_path / "campaign" / "references.json")
    given = Snapshot.from_values({"i1": 1.0}, name="given")
    assert stored_snapshots([str(tmp_path)], None, None, None, [given]) == (given,)
    assert stored_snapshots([str(tmp_path)], None, None, None, []) == (KNOWN,)
    # One campaign named twice carries its references once.
    assert stored_snapshots([str(tmp_path), str(tmp_path / "campaign")], None, None, None, []) == (KNOWN,)


def test_references_and_snapshots_together_are_refused():
    with pytest.raises(UsageError, match="references or snapshots, got both"):
        stored_snapshots([], None, None, "refs.csv", [KNOWN])


def test_both_policies_stand_side_by_side_the_declared_one_first():
    declared, folded = choose_references([KNOWN], envelopes(*RUNS), "both", None)
    assert (declared.policy, declared.snapshot) == ("given", KNOWN)
    assert folded.policy == "analysis"
    assert {name: entry.value for name, entry in folded.snapshot.values.items()} == {"i1": 9.0, "i2": 5.0}


def test_frozen_needs_the_registered_digest_where_there_is_a_register():
    (found,) = choose_references([KNOWN], envelopes(*RUNS), "frozen", frozenset({KNOWN.digest}))
    assert found.policy == "frozen"
    with pytest.raises(IntegrityError, match="registered before the first run"):
        choose_references([KNOWN], envelopes(*RUNS), "frozen", frozenset({"sha256:other"}))


def test_without_a_snapshot_only_the_policy_analysis_has_a_reference():
    (found,) = choose_references([], envelopes(*RUNS), "analysis", None)
    assert found.snapshot.values["i1"].value == 9.0
    with pytest.raises(UsageError, match="expected a reference"):
        choose_references([], envelopes(*RUNS), None, None)
    for named, words in ((None, "got none"), ("references/k.json", "got none: references/k.json, which the contract")):
        with pytest.raises(UsageError, match=f"expected a reference for the instances, {words}") as error:
            choose_references([], envelopes(*RUNS), None, None, named=named)
        hint = error.value.hint
        assert hint.startswith("--policy analysis takes the best of these runs; known values come from --references")
        assert "`gapline snapshot freeze csv:FILE --name known -o STUDY/references/known.json`" in hint
    with pytest.raises(UsageError, match="frozen, analysis or both, got 'best'"):
        choose_references([KNOWN], envelopes(*RUNS), "best", None)


def test_the_tolerance_decides_whether_a_certificate_survives_the_fold():
    proven = Snapshot.from_values({"i1": 9.5, "i2": 5.0}, name="proven", certified=["i1"])
    for tolerance, certified in ((1e-9, False), (0.1, True)):
        (found,) = choose_references([proven], envelopes(*RUNS), "analysis", None, tolerance)
        assert (found.snapshot.values["i1"].value, found.snapshot.values["i1"].certified) == (9.0, certified)


def test_what_a_store_says_of_itself_is_handed_on(tmp_path):
    (tmp_path / "lib.solu").write_text("=opt= i1 10\n=unkn= i2\n")
    notes = []
    (found,) = stored_snapshots([], None, None, tmp_path / "lib.solu", [], notes)
    assert (found.name, found.values["i1"].certified) == ("lib", True)
    assert notes[0] == "instances without a primal value: 1 (i2)"
