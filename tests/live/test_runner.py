"""Whether somebody still runs a study: processes here, heartbeats from elsewhere."""

import json
import os
import platform

import msgspec

from gapline.executors.heartbeat import PATIENCE, Beat, heartbeat_file
from gapline.files.process_start import began
from gapline.live.journal_follower import Follower
from gapline.live.progress import Phase, RunnerWatch
from live_studies import live_study


def look(study, watch=None):
    follower = Follower(study.path, study.cells, checked=False)
    follower.look()
    return (watch or RunnerWatch(study.path)).look(follower)


def beat(study, number, **facts):
    path = heartbeat_file(study.path, "abc")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.encode(Beat(number, **facts)))


def test_a_campaign_elsewhere_lives_as_long_as_its_heart_beats(tmp_path):
    now = [0.0]
    with live_study(tmp_path / "study") as study:
        study.begin("a/i1/1", claimed=False)
        claim = {"host": "node7", "process": 1, "began": 5, "runner": "abc"}
        (study.attempts["a/i1/1"].parent / "claim").write_text(json.dumps(claim))
        watch = RunnerWatch(study.path, clock=lambda: now[0])
        beat(study, 1, host="login", process=3, began=9)
        assert look(study, watch).alive
        now[0] += PATIENCE + 1
        # It has not changed: whoever wrote it is gone.
        assert not look(study, watch).alive
        beat(study, 2, host="login", process=3, began=9)
        assert look(study, watch).alive
        beat(study, -1, host="login", process=3, began=9)
        assert not look(study, watch).alive


def test_a_heartbeat_of_a_process_of_this_machine_that_is_gone_is_none(tmp_path):
    with live_study(tmp_path / "study") as study:
        beat(study, 1, host=platform.node(), process=os.getpid(), began=began(os.getpid()) + 1)
        assert look(study).phase is Phase.NOT_BEGUN
        beat(study, 1, host=platform.node(), process=os.getpid(), began=began(os.getpid()))
        assert look(study).phase is Phase.RUNNING


def test_a_runner_on_another_machine_may_be_alive_and_nobody_can_tell(tmp_path):
    with live_study(tmp_path / "study") as study:
        study.begin("a/i1/1", claimed=False)
        claim = {"host": "node7", "process": 1, "began": 5, "runner": None}
        (study.attempts["a/i1/1"].parent / "claim").write_text(json.dumps(claim))
        runner = look(study)
        assert (runner.phase, runner.alive) == (Phase.RUNNING, None)


def test_why_it_stopped_is_told_by_the_attempts_that_were_cut_short(tmp_path):
    expected = {
        "interrupted": "the runner was stopped",
        "runner lost": "the runner died",
        "infrastructure": "the runner stopped, as the machine failed it",
    }
    for number, (cause, words) in enumerate(expected.items()):
        with live_study(tmp_path / f"study{number}") as study:
            study.begin("a/i1/1", claimed=False)
            study.end("a/i1/1", cause=cause)
            runner = look(study)
            assert runner.words == f"{words}; 4 runs are left"
            assert runner.resume == f"gapline run {study.path}"


def test_without_an_end_nobody_said_a_word(tmp_path):
    with live_study(tmp_path / "study") as study:
        study.begin("a/i1/1", claimed=False)
        assert look(study).words == "the runner or its machine stopped without a word; 4 runs are left"


def test_a_finished_study_needs_nobody(tmp_path):
    with live_study(tmp_path / "study") as study:
        for cell in study.cells:
            study.run(str(cell.key), [(1.0, 30.0)])
        runner = look(study)
        assert (runner.phase, runner.resume) == (Phase.FINISHED, None)


def test_a_study_is_not_finished_while_its_runner_checks_the_last_run(tmp_path):
    with live_study(tmp_path / "study", checker="cvrp") as study:
        for name in map(str, [cell.key for cell in study.cells]):
            study.begin(name)
            study.say(name, 1.0, 12, solution=[[1]])
            study.end(name)
        follower = Follower(study.path, study.cells, checked=True, checker="cvrp")
        follower.look()
        watch = RunnerWatch(study.path)
        assert watch.look(follower).phase is Phase.RUNNING
        # It was told to check nothing: no verdict will come.
        (study.path / "journal" / "options.json").write_text('["--no-check"]')
        runner = watch.look(follower)
        assert (runner.phase, "gapline check" in runner.words) == (Phase.FINISHED, True)
