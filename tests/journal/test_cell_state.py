"""One count of runs: `score`, `status`, `watch` and `serve` agree on which are done and which wait for a verdict."""

import json
import os
import re
import shutil

import pytest

import gapline as gl
from gapline.cli.app import run as gapline
from gapline.journal.index import open_index
from gapline.journal.plan_coverage import waits_for_verdict
from gapline.journal.read import read_journal
from gapline.journal.rebuild import renew_campaign
from gapline.journal.verdicts import Judge, StoredVerdict, read_verdicts, write_verdicts
from gapline.live.hub import Hub
from gapline.live.state import LiveStudy
from live_studies import live_study, still

JUDGE = Judge("cvrp", "1", "cvrp")
CELLS = ("a/i1/1", "a/j1/1", "b/i1/1", "b/j1/1")


def judge_attempt(attempt, *, by=JUDGE, valid=True):
    """Write the verdicts of a checker on every candidate of an attempt."""
    journal = read_journal(attempt)
    verdicts = [StoredVerdict(place, valid, None) for place in journal.questions()]
    stored = [StoredVerdict(journal.events[one.seq].sequence, one.valid) for one in verdicts]
    return write_verdicts(journal, by, checked="2026-08-01", candidates=len(stored), verdicts=stored).path


@pytest.fixture
def study(tmp_path):
    """A study of which every run is whole and judged, with its campaign written."""
    with live_study(tmp_path / "study", checker="cvrp") as written:
        for number, name in enumerate(CELLS):
            written.begin(name)
            written.say(name, 1.0, 30.0 + number, solution=[number])
            written.end(name)
            judge_attempt(written.attempts[name])
        with open_index(written.path) as index:
            renew_campaign(written.path, index)
        yield written


def printed(capsys, *command):
    capsys.readouterr()
    assert gapline([*command]) == 0
    return capsys.readouterr().out


def counts(study, capsys):
    """Return, by command, how many runs are done, how many wait, and how many are in a mean."""
    score = json.loads(printed(capsys, "score", str(study.path), "--json"))
    status = json.loads(printed(capsys, "status", str(study.path), "--json"))
    watched = printed(capsys, "watch", str(study.path), "--once")
    served = Hub(study.path).of(None).look()
    found = {"score": (score["coverage"]["runs"], score["coverage"]["unchecked"])}
    found["status"] = (status["done"], status["unchecked"])
    said = re.search(r"; (\d+) done(?:, (\d+) waiting for a verdict)?, 0 left of 4", watched)
    found["watch"] = (int(said[1]), int(said[2] or 0))
    found["serve"] = (served["progress"]["done"], served["progress"]["unchecked"])
    assert (served["coverage"]["runs"], served["coverage"]["unchecked"]) == found["serve"]
    # As many as the means are over.
    in_means = [sum(row["runs"] for row in answer["arms"]) for answer in (score, served)]
    assert [*in_means, sum(status["statuses"].values())] == [found["score"][0]] * 3
    return found


def test_a_run_whose_verdict_file_is_gone_waits_for_it_in_every_command(study, capsys):
    assert set(counts(study, capsys).values()) == {(4, 0)}
    next(study.attempts["a/i1/1"].glob("verdicts-*")).unlink()
    assert set(counts(study, capsys).values()) == {(3, 1)}
    text = printed(capsys, "score", str(study.path))
    assert "3 of 4 planned runs, 1 waiting for a verdict" in " ".join(text.split())
    assert f"3 of 4 planned runs done, 1 waiting for a verdict (gapline check {study.path})" in " ".join(
        printed(capsys, "status", str(study.path)).split()
    )
    # What is merged has no verdict either.
    printed(capsys, "merge", str(study.path), "-o", str(study.path / "merged"))
    assert gl.open(study.path / "merged").diagnostics.unchecked > 0
    # Judged again, it counts again.
    judge_attempt(study.attempts["a/i1/1"])
    assert set(counts(study, capsys).values()) == {(4, 0)}


def test_the_table_of_planned_runs_counts_those_that_wait_and_those_under_way(study, capsys):
    next(study.attempts["a/i1/1"].glob("verdicts-*")).unlink()
    text = printed(capsys, "analyse", str(study.path), "--table", "completeness")
    head, _, row = (line.split() for line in text.splitlines()[1:4])
    found = dict(zip(head, row, strict=True))
    assert (found["expected"], found["present"], found["unchecked"]) == ("1", "0", "1")
    states = ("present", "unchecked", "running", "interrupted", "missing")
    for one in gl.analyse(gl.open_study(str(study.path), draws=50)).completeness.to_dicts():
        assert sum(one[name] for name in states) == one["expected"]


def test_another_version_of_the_checker_does_not_judge_one_run_of_many(study, capsys):
    next(study.attempts["b/j1/1"].glob("verdicts-*")).unlink()
    judge_attempt(study.attempts["b/j1/1"], by=Judge("cvrp", "2", "cvrp"))
    assert set(counts(study, capsys).values()) == {(3, 1)}


def test_a_checker_that_failed_on_one_candidate_leaves_its_run_waiting(study, capsys):
    judge_attempt(study.attempts["a/j1/1"], valid=None)
    with open_index(study.path) as index:
        renew_campaign(study.path, index)
    assert set(counts(study, capsys).values()) == {(3, 1)}


def test_a_watched_study_loses_and_regains_the_run(study):
    live = LiveStudy(study.path, clock=still)
    assert live.look()["progress"]["done"] == 4
    next(study.attempts["a/i1/1"].glob("verdicts-*")).unlink()
    os.utime(study.attempts["a/i1/1"], (1.7e9, 1.7e9))
    state = live.look()
    assert (state["progress"]["done"], state["progress"]["unchecked"]) == (3, 1)
    assert [row["runs"] for row in state["arms"]] == [1, 2]
    judge_attempt(study.attempts["a/i1/1"])
    # Two changes of a folder within one tick of the clock look like one.
    os.utime(study.attempts["a/i1/1"], (1.6e9, 1.6e9))
    state = live.look()
    assert (state["progress"]["done"], state["progress"]["unchecked"]) == (4, 0)
    assert sum(row["runs"] for row in state["arms"]) == 4


def test_a_run_that_waits_is_neither_empty_nor_missing(study, capsys):
    next(study.attempts["a/i1/1"].glob("verdicts-*")).unlink()
    for missing, runs in (("leave-out", 3), ("empty", 3)):
        found = json.loads(printed(capsys, "score", str(study.path), "--missing", missing, "--json"))["coverage"]
        assert (found["runs"], found["unchecked"], found["missing"], found["filled"]) == (runs, 1, 0, 0)
        assert found["complete"] is False
    assert gapline(["score", str(study.path), "--missing", "refuse"]) == 1
    assert "a/i1/1 (unchecked)" in capsys.readouterr().err
    # The solver's word counts where it is asked for.
    found = json.loads(printed(capsys, "score", str(study.path), "--validation", "solver", "--json"))["coverage"]
    assert (found["runs"], found["unchecked"]) == (4, 0)


def test_without_any_verdict_there_is_nothing_to_score(study, capsys):
    for attempt in study.attempts.values():
        next(attempt.glob("verdicts-*")).unlink()
    assert gapline(["score", str(study.path)]) == 1
    assert "expected a verdict for every candidate, got 4 unchecked in 4 runs" in capsys.readouterr().err
    state = LiveStudy(study.path, clock=still).look()
    assert (state["progress"]["done"], state["progress"]["unchecked"], state["arms"]) == (0, 4, [])
    assert "no table: 4 waiting for a verdict" in printed(capsys, "watch", str(study.path), "--once")


def test_verdicts_that_were_removed_with_their_journals_cannot_be_asked_for(study, capsys):
    """Somebody who keeps the campaign alone has taken the choice."""
    for attempt in study.attempts.values():
        shutil.rmtree(attempt)
    assert json.loads(printed(capsys, "score", str(study.path), "--json"))["coverage"]["runs"] == 4


def test_who_waits_for_a_verdict(study):
    attempt = study.attempts["a/i1/1"]
    run, stored = read_journal(attempt), read_verdicts(read_journal(attempt))
    assert not waits_for_verdict(run, stored, JUDGE)
    assert waits_for_verdict(run, stored, None)
    assert waits_for_verdict(run, [], JUDGE)
    run.asked = 0
    assert not waits_for_verdict(run, [], JUDGE)
