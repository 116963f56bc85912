"""Interrupted, killed and resumed, a campaign ends as the one that was left alone."""

from collections import Counter

import pytest

import gapline
from gapline.journal import read
from gapline.journal.line import EVENTS_FILE
from gapline.journal.rebuild import rebuild_campaign
from gapline.run.campaign import run_study
from gapline.run.check_run import check_study
from gapline.run.resume import study_status
from run.campaign_content import ARMS, content, expected


def test_a_second_call_runs_nothing_and_changes_nothing(make_study):
    study = make_study(ARMS, seeds=(1,))
    run_study(study.path)
    before = {path: (path / EVENTS_FILE).read_bytes() for path in study.attempts()}
    digest = gapline.open(study.path / "campaign").digest()
    report = run_study(study.path)
    assert (report.before, report.results) == (6, [])
    assert {path: (path / EVENTS_FILE).read_bytes() for path in study.attempts()} == before
    assert gapline.open(study.path / "campaign").digest() == digest


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 2_000, 4_000, 6_000])
def test_killed_anywhere_and_resumed_the_campaign_is_the_same(make_study, eventually, size):
    """The runner is killed as soon as the journals hold so many bytes; the broken attempts stay, and do not count."""
    study = make_study({**ARMS, "steady": ["scripted", "{seed}", "5", "0.02"]}, seeds=(1,))
    runner = study.start()
    eventually(
        lambda: (
            runner.poll() is not None
            or sum(path.stat().st_size for path in study.path.glob(f"journal/*/*/{EVENTS_FILE}")) >= size
        )
    )
    runner.kill()
    runner.communicate()
    # The supervisors of the dead runner hold their cells until they have cleared them.
    eventually(lambda: study_status(study.path).cells["running"] == 0)
    broken = {path: (path / EVENTS_FILE).read_bytes() for path in study.attempts() if (path / EVENTS_FILE).exists()}
    assert run_study(study.path).left == 0
    assert content(study.path) == expected(1)
    assert {path: (path / EVENTS_FILE).read_bytes() for path in broken} == broken


def test_a_changed_journal_is_quarantined_named_and_run_again(make_study):
    study = make_study({"steady": ["scripted", "{seed}", "5", "0"]}, seeds=(1,))
    run_study(study.path)
    path = study.attempts()[0] / EVENTS_FILE
    path.write_bytes(path.read_bytes().replace(b'"objective": 500.0', b'"objective": 400.0'))
    campaign = rebuild_campaign(study.path)
    assert (len(campaign), len(campaign.interrupted)) == (1, 1)
    assert campaign.diagnostics.problems == ()
    assert any(f"{EVENTS_FILE}:3:" in note for note in campaign.diagnostics.notes)
    status = study_status(study.path)
    assert (status.cells["quarantined"], status.left) == (1, 1)
    again = run_study(study.path)
    assert again.campaign.diagnostics.superseded == {"changed after it was written": 1}
    status = study_status(study.path)
    assert (status.superseded, status.problems) == (1, [])
    assert f"{EVENTS_FILE}:3:" in status.changed[0]
    assert gapline.open(study.path / "campaign").runs["status"].to_list() == ["finished"] * 2
    assert len(study.attempts()) == 3


@pytest.fixture
def parses(monkeypatch):
    """How often each journal was parsed, and since when it was asked the last time."""
    found, real = Counter(), read.read_lines
    monkeypatch.setattr(
        read, "read_lines", lambda journal, stream: found.update([journal.path]) or real(journal, stream)
    )

    def asked():
        counts, _ = dict(found), found.clear()
        return counts

    return asked


def journals(study, times):
    return dict.fromkeys((path / EVENTS_FILE for path in study.attempts()), times)


def test_journals_of_done_runs_are_not_parsed_again(make_study, parses):
    """They were, twice by each call that had nothing to do."""
    study = make_study(ARMS, seeds=(1,))
    run_study(study.path)
    assert parses() == journals(study, 1)
    assert run_study(study.path).left == 0
    assert study_status(study.path).left == 0
    rebuild_campaign(study.path)
    assert parses() == {}


@pytest.mark.slow
def test_a_run_that_is_checked_is_parsed_to_be_judged_and_to_be_taken_and_then_no_more(make_study, parses):
    study = make_study({"steady": ["scripted", "{seed}", "4", "0"]}, seeds=(1,), checker="python:judge:check")
    (study.path / "judge.py").write_text("def check(instance, solution):\n    return 5.0\n")
    run_study(study.path)
    assert parses() == journals(study, 2)
    assert run_study(study.path).left == 0
    assert parses() == {}
    before = gapline.open(study.path / "campaign").digest()
    assert [result.fresh for result in check_study(study.path)] == [False] * 2
    # The one that reads everything, so that no damage stays unseen; once.
    assert parses() == journals(study, 1)
    check_study(study.path, again=True)
    assert parses() == journals(study, 2)
    assert gapline.open(study.path / "campaign").digest() == before


def test_runs_that_wait_for_verdicts_are_parsed_to_be_judged_and_to_be_taken(make_study, parses):
    """It was four times: by the runner, by the one who has the cell, by the checker, and for the campaign."""
    study = make_study({"steady": ["scripted", "{seed}", "4", "0"]}, seeds=(1,), checker="python:judge:check")
    (study.path / "judge.py").write_text("def check(instance, solution):\n    return 5.0\n")
    run_study(study.path, check=False)
    assert parses() == journals(study, 1)
    assert run_study(study.path).campaign.diagnostics.unchecked == 0
    assert parses() == journals(study, 2)


def test_status_does_not_need_the_index_nor_the_campaign(make_study, parses):
    study = make_study(ARMS, seeds=(1,))
    run_study(study.path)
    before = study_status(study.path)
    for name in ("index.jsonl", "campaign.json"):
        (study.path / "journal" / name).unlink()
    parses()
    assert study_status(study.path) == before
    assert parses() == journals(study, 1)
    assert study_status(study.path) == before
    assert parses() == {}
