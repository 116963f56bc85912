"""A disturbed run is flagged, and run again on request; how it was measured decides which attempt counts."""

import json
import subprocess
import sys

import msgspec
import pytest

import gapline
from gapline.journal import fairness
from gapline.journal.line import EVENTS_FILE
from gapline.journal.read import read_journal
from gapline.journal.write import JournalWriter
from gapline.run.campaign import run_study
from gapline.run.resume import study_status


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    """However busy the machine of the tests is, only the planted disturbance counts."""
    monkeypatch.setattr(fairness, "LATE", 1e9)
    monkeypatch.setattr(fairness, "NOISY_SECONDS", 100.0)


def plant(attempt, objective, **facts):
    """Write the journal of an attempt anew, with one candidate and an ending that differs."""
    journal = read_journal(attempt)
    end = msgspec.structs.replace(journal.ending, events=1, **facts)
    (attempt / EVENTS_FILE).unlink()
    writer = JournalWriter(attempt / EVENTS_FILE)
    say = b'"t":0.5,"say":{"objective": %f}' % objective
    writer.append([b'"start":' + msgspec.json.encode(journal.order), say, b'"end":' + msgspec.json.encode(end)])
    writer.close()


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


def test_status_tells_how_runs_were_measured(make_study):
    study = make_study({"steady": ["scripted", "{seed}", "5", "0"]}, seeds=(1,))
    run_study(study.path)
    plant(study.attempts()[0], 1.0, foreign_share=0.9, elapsed=200.0, jitter=0.004)
    plant(study.attempts()[1], 1.0, foreign_share=0.0, elapsed=1.0, jitter=0.001)
    command = [sys.executable, "-c", "from gapline.cli import main; main()", "status", str(study.path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "2 of 2 runs pinned to their cores on one host; governor" in text
    assert "others' share of the cores 90.0%" in text
    assert f"gapline run {study.path} --rerun-noisy" in text
    answer = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert answer["fairness"]["foreign_share"] == 0.9
    assert answer["fairness"]["overshoot"] == 140.0
    assert answer["fairness"]["reasons"]["shared cores"] == 1
