"""Cells that somebody else has: waited for, taken over when they are free, named when they are not."""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest

import gapline
from clusters import ancestors, processes_named
from gapline.cli.app import run as command_line
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.journal.read import read_journal
from gapline.process.tree import open_by, process_state
from gapline.run import campaign as held_cells
from gapline.run.campaign import run_study
from gapline.run.claim import claim
from gapline.run.progress import Progress


def cells_of(study):
    return Plan.of(load_contract(study.path)).cells


def test_a_cell_that_is_given_back_undone_is_run_by_the_one_who_waited(make_study):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    with ExitStack() as stack:
        stack.enter_context(claim(cells_of(study)[0].directory(study.path)))
        said = []

        class GivesBack(Progress):
            def say(self, message):
                said.append(message)
                stack.close()

        report = run_study(study.path, progress=GivesBack())
    assert (report.done, report.busy, report.left) == (2, 0, 0)
    assert said == [f"waiting for silent/one/1: held by process {os.getpid()} on {os.uname().nodename}"]
    assert len(gapline.open(study.path / "campaign")) == 2


def test_zero_means_that_every_run_is_whole(make_study, monkeypatch, capsys):
    study = make_study({"silent": ["silent"]}, seeds=(1,), horizon=0.5)
    monkeypatch.setattr(held_cells, "CLEAR_WITHIN", -2.0)
    (cell, _) = cells_of(study)
    with claim(cell.directory(study.path)):
        assert command_line(["run", str(study.path), "-j", "1", "--order-seed", "3"]) == 4
    out, err = capsys.readouterr()
    assert f"problem: silent/one/1: held by process {os.getpid()} on" in err
    assert "1 of 2 runs done, 0 left" in out
    assert f"go on with: gapline run {study.path} --jobs 1 --order-seed 3" in out
    assert len(gapline.open(study.path / "campaign")) == 1
    assert command_line(["run", str(study.path)]) == 0


@pytest.mark.slow
def test_a_stopped_supervisor_of_a_dead_runner_is_let_go_on_and_ends(make_study, eventually):
    study = make_study({"waiting": ["waits"]}, seeds=(1,))
    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    (attempt,) = study.attempts()
    (supervisor,) = [pid for pid in open_by(attempt.parent / "claim") if pid != runner.pid and _is_parent(pid, study)]
    os.kill(supervisor, signal.SIGSTOP)
    runner.kill()
    # Not to its end: the stopped one has its standard error open.
    runner.wait()
    (study.path / "go").touch()
    assert run_study(study.path).done == 2
    assert process_state(supervisor) in ("", "Z")
    assert read_journal(attempt).ending is not None
    runner.communicate()


def test_what_a_dead_runner_left_and_does_not_end_is_ended(make_study, monkeypatch):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    directory = cells_of(study)[0].directory(study.path)
    code = (
        "import os, sys, time; from pathlib import Path; from gapline.run.claim import claim\n"
        "with claim(Path(sys.argv[1])):\n"
        "    if os.fork() == 0:\n        print(os.getpid(), flush=True); time.sleep(1000)\n"
        "    os._exit(0)"
    )
    left = _first_line([sys.executable, "-c", code, str(directory)])
    monkeypatch.setattr(held_cells, "CLEAR_WITHIN", 0.3)
    said = []

    class Listens(Progress):
        def say(self, message):
            said.append(message)

    assert run_study(study.path, progress=Listens()).done == 2
    assert f"which is gone, and of which {left} is left" in said[0]
    assert process_state(left) in ("", "Z")


def _first_line(command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    line = process.stdout.readline()
    process.wait()
    process.stdout.close()
    return int(line)


def _is_parent(pid, study):
    return any(ancestors(one)[:1] == [pid] for one in processes_named(study.path))
