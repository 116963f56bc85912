"""Interrupted, killed and resumed, a campaign ends as the one that was left alone."""

import pytest

import gapline
from gapline.journal.line import EVENTS_FILE
from gapline.run.campaign import rebuild_campaign, run_study
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
