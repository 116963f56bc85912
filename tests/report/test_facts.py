"""What a report says beside its numbers."""

import gapline as gl
from gapline.report.facts import instance_set_digest, study_facts, study_notes
from gapline.report.write import write_report
from report.report_studies import by_columns, report_of


def study_of(**columns):
    runs = [
        {"arm": arm, "instance": instance, "seed": 1, "horizon": 10.0, "trace": [(start, 12.0, True)]} | columns
        for arm, start in (("a", 1.0), ("b", 2.0))
        for instance in ("i", "j")
    ]
    campaign = gl.Campaign.from_runs(runs)
    snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 10.0}, name="mine")
    return report_of(campaign, snapshot, title="t")


def test_how_the_runs_were_measured_is_said(tmp_path):
    study = study_of(disturbed="shared core", cpus="0", load=3.5, host="h")
    assert any("measurement: 4 runs were disturbed (shared core 4)" in note for note in study_notes(study))
    write_report(study, tmp_path, formats=("svg",))
    assert "4 runs were disturbed (shared core 4)" in (tmp_path / "report.html").read_text()


def test_imported_runs_say_nothing_of_it():
    assert not any(note.startswith("measurement:") for note in study_notes(study_of()))


def test_the_digest_of_the_instances_is_that_of_their_sorted_digests():
    digest = instance_set_digest(by_columns(instance_digest=["sha256:aa", "sha256:aa"]).envelopes.runs)
    other = by_columns(instance_digest=["sha256:ab", "sha256:ab"])
    assert instance_set_digest(other.envelopes.runs) != digest
    assert instance_set_digest(by_columns(instance_digest=["sha256:aa", None]).envelopes.runs) is None


def test_an_arm_has_every_version_that_its_runs_name():
    study = by_columns(arm=["a", "a"], seed=[1, 2], solver=["pyvrp"] * 2, solver_version=["0.11", "0.10"])
    (solver,) = study_facts(study).solvers
    assert str(solver) == "a (pyvrp 0.10 and 0.11)"
    assert study_facts(study).changed_versions == (solver,)
    assert [str(solver) for solver in study_facts(by_columns()).solvers] == [
        "a (solver not stated)", "b (solver not stated)",
    ]  # fmt: skip
