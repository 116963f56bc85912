"""A disturbed run is run again on request; how it was measured decides which attempt counts."""

import pytest

import gapline
from gapline.journal.attempts import attempt_number, attempts_of, read_cell
from gapline.journal.line import EVENTS_FILE, JournalWriter
from gapline.run.campaign import run_study
from gapline.run.resume import study_status
from journal.sample_journal import ORDER, bodies
from scripted_studies import plant


@pytest.mark.usefixtures("quiet_machine")
def test_a_disturbed_run_is_run_again_and_both_attempts_are_kept(make_study):
    study = make_study({"steady": ["scripted", "{seed}", "5", "0"]}, seeds=(1,))
    run_study(study.path)
    noisy, quiet = study.attempts()
    plant(noisy, 1.0, foreign_share=0.9, elapsed=200.0)
    status = study_status(study.path)
    assert (status.fairness.disturbed, status.fairness.reasons) == (1, {"shared cores": 1})
    assert status.left == 0
    # Nothing is run again unasked, and a disturbed run counts until then.
    assert run_study(study.path).results == []
    runs = gapline.open(study.path / "campaign").runs
    assert sorted(runs["disturbed"]) == ["", "shared cores"]

    report = run_study(study.path, rerun_noisy=True)
    assert [result.outcome for result in report.results] == ["done"]
    assert [path.parent.name for path in study.attempts()] == [noisy.parent.name] * 2 + [quiet.parent.name]
    campaign = gapline.open(study.path / "campaign")
    again = campaign.runs.filter(attempts=2).row(0, named=True)
    assert (again["attempt"], again["disturbed"]) == (2, "")
    # The disturbed attempt found a better value: that is no reason to count it.
    assert campaign.objective.min() > 1.0
    assert run_study(study.path, rerun_noisy=True).results == []


@pytest.mark.usefixtures("quiet_machine")
def test_where_every_attempt_is_disturbed_the_first_counts(make_study):
    study = make_study({"steady": ["scripted", "{seed}", "5", "0"]}, seeds=(1,))
    run_study(study.path)
    first = study.attempts()[0]
    plant(first, 50.0, foreign_share=0.9, elapsed=200.0)
    run_study(study.path, rerun_noisy=True)
    plant(first.parent / "attempt-002", 1.0, foreign_share=0.5, elapsed=300.0)
    assert [r.outcome for r in run_study(study.path, rerun_noisy=True, check=False).results] == ["done"]
    plant(first.parent / "attempt-003", 1.0, foreign_share=0.5, elapsed=300.0)
    run_study(study.path)
    campaign = gapline.open(study.path / "campaign")
    row = campaign.runs.filter(attempts=3).row(0, named=True)
    assert row["attempt"] == 1
    assert campaign.objective[row["first"]] == 50.0


def test_a_cell_is_interrupted_where_attempts_were_begun_and_none_is_whole(tmp_path):
    cell = tmp_path / "cell"
    assert not read_cell(cell).interrupted
    for number in (1, 2):
        attempt = cell / f"attempt-00{number}"
        attempt.mkdir(parents=True)
        writer = JournalWriter(attempt / EVENTS_FILE)
        # The first attempt has no end, as a killed runner leaves it.
        writer.append(bodies()[: -1 if number == 1 else None])
        writer.close()
        record = read_cell(cell)
        assert (record.interrupted, record.counting is None) == ((True, True) if number == 1 else (False, False))
        assert record.order == ORDER


def test_a_name_that_is_not_ours_is_no_attempt(tmp_path):
    for name in (
        "attempt-002",
        "attempt-001",
        "attempt-1000",
        "attempt-001.bak",
        "attempt-x",
        "attempt-1",
        "attempt-٣٣٣",
    ):
        (tmp_path / name).mkdir()
    (tmp_path / "attempt-003").touch()
    assert [path.name for path in attempts_of(tmp_path)] == ["attempt-001", "attempt-002", "attempt-1000"]
    assert attempt_number(tmp_path / "attempt-001.bak") == 0
