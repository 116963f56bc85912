"""Workers on other machines hear the runner through the study directory, and notice its silence."""

import os
import subprocess
import sys

import pytest

from gapline.executors import heartbeat
from gapline.executors.heartbeat import clear_heartbeats, heartbeat_file, heartbeat_sender, heartbeat_watch
from gapline.process.control import Control


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(heartbeat, "WORKER_LOOKS_EVERY", 0.005)
    monkeypatch.setattr(heartbeat, "LOOK_EVERY", 0.005)


def test_stop_and_kill_reach_the_worker(tmp_path, eventually):
    runner, worker = Control(), Control()
    with heartbeat_sender(tmp_path, "r", runner), heartbeat_watch(tmp_path, "r", worker):
        runner.stop("SIGINT")
        eventually(lambda: worker.stopping)
        assert not worker.killing
        runner.kill("SIGINT")
        eventually(lambda: worker.killing)
    # After a clean end nothing of it is left in the study.
    assert not heartbeat_file(tmp_path, "r").exists()


def test_a_runner_that_is_silent_is_lost(tmp_path, eventually):
    worker = Control()
    with heartbeat_watch(tmp_path, "never-was", worker, patience=0.0):
        eventually(lambda: worker.killing)
    assert worker.reason == "runner lost"


def test_a_runner_that_beats_is_not_lost(tmp_path, eventually, monkeypatch):
    """The worker sees many more beats than its patience would bear without them."""
    monkeypatch.setattr(heartbeat, "BEAT_EVERY", 0.0)
    runner, worker = Control(), Control()
    with heartbeat_sender(tmp_path, "r", runner), heartbeat_watch(tmp_path, "r", worker, patience=30.0):
        seen = set()
        eventually(lambda: len(seen) > 20 or seen.add(heartbeat_file(tmp_path, "r").read_bytes()))
        assert not worker.stopping


def test_an_error_of_the_runner_ends_the_workers(tmp_path, eventually):
    worker = Control()
    with heartbeat_watch(tmp_path, "r", worker, patience=1e9):
        with pytest.raises(ValueError, match="broken"), heartbeat_sender(tmp_path, "r", Control()):
            raise ValueError("broken")
        eventually(lambda: worker.killing)


def test_files_of_dead_runners_go_and_those_of_the_living_stay(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from gapline.process.control import Control\n"
        "from gapline.executors.heartbeat import heartbeat_sender\n"
        "with heartbeat_sender(Path(sys.argv[1]), 'dead', Control()): os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert heartbeat_file(tmp_path, "dead").exists()
    old = heartbeat_file(tmp_path, "old")
    old.write_text('{"beat": 3, "host": "elsewhere"}')
    os.utime(old, (0, 0))
    heartbeat_file(tmp_path, "far").write_text('{"beat": 3, "host": "elsewhere"}')
    with heartbeat_sender(tmp_path, "alive", Control()):
        clear_heartbeats(tmp_path)
        assert sorted(path.name for path in tmp_path.glob("journal/*")) == ["runner-alive.json", "runner-far.json"]
