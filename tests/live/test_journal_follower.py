"""A look at a study costs what changed, and misses nothing of it."""

import os
import shutil

import pytest

from gapline.journal.plan_coverage import CellState
from gapline.journal.records import Order, order_text
from gapline.live.journal_follower import Follower
from gapline.run.claim import claim, new_attempt
from live_studies import live_study


@pytest.fixture
def study(tmp_path):
    with live_study(tmp_path / "study", seeds=(1, 2)) as written:
        yield written


def follower_of(study):
    return Follower(study.path, study.cells, checked=False)


def stages(follower):
    return {str(one.key): one.stage.value for one in follower.cells.values() if one.stage is not CellState.MISSING}


def settle(attempt, moment):
    """Let the folders of an attempt have been left alone since a moment."""
    for folder in (attempt, attempt.parent):
        os.utime(folder, (moment, moment))


def test_a_study_that_has_not_begun_has_no_journal(study):
    follower = follower_of(study)
    assert not follower.look()
    assert stages(follower) == {}


def test_a_cell_goes_through_its_stages(study):
    follower = follower_of(study)
    follower.look()
    study.begin("a/i1/1")
    changes = follower.look()
    assert [(str(one.key), before, one.stage) for one, before in changes.moved] == [
        ("a/i1/1", CellState.MISSING, CellState.RUNNING)
    ]
    study.say("a/i1/1", 0.5, 30.0)
    changes = follower.look()
    assert [str(one.key) for one in changes.grown] == ["a/i1/1"]
    assert not changes.moved
    assert not follower.look()
    study.end("a/i1/1")
    (moved,) = follower.look().moved
    assert moved[0].stage is CellState.DONE
    assert moved[0].counting.outcome.ending.cause == "exit"


def test_a_cell_is_under_way_once_something_is_ordered(study):
    """As `gapline score` counts it: a claim alone does not say of which run it is."""
    follower = follower_of(study)
    directory = study.cell("a/i1/1").directory(study.path)
    with claim(directory):
        follower.look()
        assert stages(follower) == {}
        attempt = new_attempt(directory)
        os.utime(study.path / "journal", (1, 1))
        follower.look()
        assert stages(follower) == {}
        order = Order(arm="a", instance="i1", seed=1, panel="i", horizon=10.0, attempt=1)
        (attempt / "run.json").write_bytes(order_text(order))
        follower.look()
        assert stages(follower) == {"a/i1/1": "running"}


def test_an_attempt_that_was_cut_short_is_interrupted_and_goes_on_in_a_new_one(study):
    follower = follower_of(study)
    study.begin("b/j1/2")
    follower.look()
    study.end("b/j1/2", cause="runner lost")
    follower.look()
    assert stages(follower) == {"b/j1/2": "interrupted"}
    study.begin("b/j1/2")
    study.say("b/j1/2", 0.25, 40.0)
    follower.look()
    assert stages(follower) == {"b/j1/2": "running"}
    (one,) = follower.running()
    assert one.growing.attempt.name == "attempt-002"
    study.end("b/j1/2")
    follower.look()
    assert stages(follower) == {"b/j1/2": "done"}


def test_a_line_that_is_torn_is_not_yet_whole(study):
    follower = follower_of(study)
    attempt = study.begin("a/i1/1")
    study.say("a/i1/1", 1.0, 30.0)
    follower.look()
    journal = attempt / "events.jsonl"
    whole = journal.read_bytes()
    study.say("a/i1/1", 2.0, 20.0)
    everything = journal.read_bytes()
    os.truncate(journal, len(whole) + 7)
    assert not follower.look()
    (one,) = follower.running()
    assert one.growing.journal.corruption is None
    assert len(one.growing.journal.events) == 1
    with journal.open("ab") as stream:
        stream.write(everything[len(whole) + 7 :])
    assert follower.look().grown == [one]
    assert len(one.growing.journal.events) == 2


def test_a_quarantined_journal_is_said_to_be_one(study):
    study.run("a/i1/1", [(1.0, 30.0)])
    journal = study.attempts["a/i1/1"] / "events.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"30.0", b"31.0"))
    follower = follower_of(study)
    follower.look()
    assert stages(follower) == {"a/i1/1": "quarantined"}


def test_whole_runs_wait_for_their_verdicts(tmp_path):
    with live_study(tmp_path / "study", checker="cvrp") as study:
        study.begin("a/i1/1")
        study.say("a/i1/1", 1.0, 30.0, solution=[1])
        study.end("a/i1/1")
        follower = Follower(study.path, study.cells, checked=True)
        follower.look()
        assert stages(follower) == {"a/i1/1": "unchecked"}


def test_done_cells_are_asked_in_turn_and_a_changed_one_is_found(study):
    names = [str(cell.key) for cell in study.cells]
    for name in names:
        study.run(name, [(1.0, 30.0)])
        settle(study.attempts[name], 1)
    follower = follower_of(study)
    follower.look()
    shutil.rmtree(study.attempts[names[3]])
    os.utime(study.attempts[names[3]].parent, (2, 2))
    assert follower.look().rewritten
    assert follower.cells[study.cell(names[3]).directory(study.path).name].stage is CellState.MISSING


def test_a_done_run_costs_no_more_looks_than_its_turn(tmp_path, monkeypatch):
    """System calls per look do not grow with the runs that are done."""
    with live_study(tmp_path / "study", seeds=range(1, 31)) as study:
        for cell in study.cells:
            study.run(str(cell.key), [(1.0, 30.0)])
        follower = follower_of(study)
        follower.look()
        reads = []
        real = follower.index.read
        monkeypatch.setattr(follower.index, "read", lambda attempt: reads.append(attempt) or real(attempt))
        follower.look()
        assert len(reads) <= 20


def test_up_to_when_a_run_is_known_is_never_more_than_the_clock_allows(study):
    now = [100.0]
    follower = Follower(study.path, study.cells, checked=False, clock=lambda: now[0])
    study.begin("a/i1/1")
    follower.look()
    (one,) = follower.running()
    study.say("a/i1/1", 1.5, 30.0)
    now[0] = 104.0
    follower.look()
    # Begun at 101 at the latest: its first line was there at 100.
    assert one.known_until(104.0) == 1.5
    assert one.known_until(110.0) == pytest.approx(110 - 101 - 2)


def test_a_run_that_was_found_under_way_began_at_its_last_stamp_at_the_latest(study):
    study.begin("a/i1/1")
    study.say("a/i1/1", 3.0, 30.0)
    follower = Follower(study.path, study.cells, checked=False, clock=lambda: 50.0)
    follower.look()
    (one,) = follower.running()
    assert one.known_until(50.0) == 3.0
    assert one.known_until(55.0) == pytest.approx(55 - 47 - 2)
