from gapline.envelope.build import build_envelopes
from gapline.references.alarms import EXPLANATIONS, AlarmKind, best_runs, find_alarms, negative_notes
from gapline.references.snapshot import Snapshot
from references.campaigns import campaign, envelopes
from references.contradicted import RUNS, snapshot


def test_a_candidate_below_a_certified_optimum_is_shown_with_both_sides():
    (alarm,) = find_alarms(snapshot({"i1": 10.0, "i2": 9.0}, certified=["i1"]), envelopes(*RUNS))
    assert alarm.kind is AlarmKind.CANDIDATE
    assert (alarm.certificate.value, alarm.other.value) == (10.0, 9.0)
    assert "source of s" in str(alarm)
    assert "run a/i1/1 at 5 s, valid by checker" in str(alarm)


def test_values_within_the_tolerance_raise_no_alarm():
    close = snapshot({"i1": 9.0 + 8e-9}, certified=["i1"])
    assert find_alarms(close, envelopes(*RUNS)) == []
    assert len(find_alarms(close, envelopes(*RUNS), tolerance=1e-10)) == 1


def test_late_and_invalid_candidates_raise_no_alarm():
    runs = envelopes(("a", "i1", 1, [(1, 12.0, True), (2, 1.0, False), (31, 1.0, True)]))
    assert find_alarms(snapshot({"i1": 10.0}, certified=["i1"]), runs) == []


def test_a_maximised_candidate_above_a_certified_optimum():
    built = build_envelopes(campaign(("a", "i1", 1, [(1, 12.0)])), transform="negate-shift:100")
    (alarm,) = find_alarms(snapshot({"i1": 10.0}, certified=["i1"]), built)
    assert (alarm.certificate.value, alarm.other.value) == (10.0, 12.0)
    assert find_alarms(snapshot({"i1": 13.0}, certified=["i1"]), built) == []


def test_a_frozen_value_below_a_certified_one():
    old, new = snapshot({"i1": 10.0, "i2": 5.0}, "old", certified=["i1"]), snapshot({"i1": 9.0, "i2": 4.0}, "new")
    for pair in ([old, new], [new, old]):
        (alarm,) = find_alarms(pair)
        assert alarm.kind is AlarmKind.VALUE
        assert (alarm.certificate.value, alarm.other.value) == (10.0, 9.0)
        assert "snapshot old" in alarm.certificate.source
        assert "snapshot new" in alarm.other.source
    assert find_alarms([old, new], sense="max") == []
    assert find_alarms([old, snapshot({"i1": 11.0}, "worse")]) == []


def test_two_certificates_that_differ():
    one, other = (snapshot({"i1": value}, name, certified=["i1"]) for value, name in ((10.0, "one"), (11.0, "other")))
    (alarm,) = find_alarms([one, other])
    assert alarm.kind is AlarmKind.CERTIFICATES
    assert (alarm.certificate.value, alarm.other.value) == (10.0, 11.0)


def test_neither_certificates_nor_values_that_differ_in_the_last_bits_raise_an_alarm():
    one = snapshot({"i1": 10.0}, "one", certified=["i1"])
    for other in (snapshot({"i1": 10.0 - 1e-9}, "two"), snapshot({"i1": 10.0 - 1e-9}, "two", certified=["i1"])):
        assert find_alarms([one, other]) == []
        assert len(find_alarms([one, other], tolerance=1e-12)) == 1


def test_a_value_that_is_not_the_optimum_of_its_own_certificate():
    def stating(optimum):
        entries = {"i1": {"value": 10.0, "certified": True, "certificate": {"proven_optimum": optimum}}}
        return Snapshot.from_entries(entries, name="s", store={"name": "s"})

    for optimum in (9.0, 11.0):
        (alarm,) = find_alarms(stating(optimum))
        assert alarm.kind is AlarmKind.INSIDE
        assert (alarm.certificate.value, alarm.other.value) == (optimum, 10.0)
    assert find_alarms(stating(10.0 + 1e-9)) == []


def test_the_best_run_is_the_earlier_of_two_that_found_the_same():
    runs = envelopes(("a", "i1", 1, [(5, 9.0)]), ("b", "i1", 2, [(2, 9.0)]), ("b", "i1", 1, [(2, 9.0)]))
    assert best_runs(runs).select("arm", "seed", "best_time").rows() == [("b", 1, 2.0)]


def test_negative_scores_come_with_their_explanations():
    notes = negative_notes([("a/i/1", -0.25), ("b/i/1", 0.5), ("c/i/1", -0.5), ("d/i/1", -1e-12)])
    assert notes[0] == "2 runs score below zero: c/i/1 (-0.5), a/i/1 (-0.25)"
    assert "not a certificate" in notes[1]
    assert [line.removeprefix("- ") for line in notes[2:]] == list(EXPLANATIONS)
    assert [text.partition(":")[0] for text in EXPLANATIONS] == [
        "improvement", "stale reference", "instance mismatch", "direction", "defect",
    ]  # fmt: skip
