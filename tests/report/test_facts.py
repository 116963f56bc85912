"""What a report says beside its numbers."""

import pytest

import gapline as gl
from gapline.report.facts import instance_set_digest, study_facts, study_notes
from gapline.report.statements.methods import methods_clauses
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


def test_disturbed_measurements_are_in_the_notes_and_the_methods():
    study = study_of(disturbed="shared core", cpus="0", load=3.5, host="h")
    said = "4 of 4 runs were disturbed (shared core 4)"
    # The notes of every command, and those of a report, which say how all runs were measured.
    measured = [note for note in study.notes() if note.startswith("measurement")]
    assert measured == [f"measurement: {said}", "measurement: at worst: load 3.5"]
    assert study_notes(study).count(f"measurement: {said}") == 1
    clauses = {clause.topic: clause.text for clause in methods_clauses(study_facts(study))}
    assert clauses["disturbed measurements"] == f"{said}. At worst: load 3.5."
    calm = study_of(disturbed="", cpus="0", load=0.5, host="h")
    assert calm.notes() == study_of().notes()
    assert "disturbed measurements" not in {clause.topic for clause in methods_clauses(study_facts(calm))}
    assert "measurement: 0 of 4 runs were disturbed" in study_notes(calm)


@pytest.mark.slow
def test_how_the_runs_were_measured_is_on_the_page(tmp_path):
    study = study_of(disturbed="shared core", cpus="0", load=3.5, host="h")
    write_report(study, tmp_path, formats=("svg",))
    assert "4 of 4 runs were disturbed (shared core 4)" in (tmp_path / "report.html").read_text()


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
