"""A real Dask scheduler and two workers on the loopback: the campaign is the one of this machine, whoever dies."""

import json
import os
import signal
from pathlib import Path

import pytest

import gapline
from clusters import (
    ARMS,
    HORIZON,
    SEEDS,
    ancestors,
    broken_and_whole,
    content,
    expected,
    processes_named,
    score_table,
)
from dask_cluster import running, wait_for_workers
from gapline.errors import EnvironmentLacksError, UsageError
from gapline.journal.read import read_journal
from gapline.run.campaign import run_study
from patience import PATIENCE

pytestmark = pytest.mark.slow

pytest.importorskip("distributed")


def test_forty_cells_on_two_workers_of_which_one_is_killed_give_the_local_table(
    make_study, scheduler, start_worker, eventually, tmp_path
):
    local = make_study(ARMS, seeds=SEEDS, horizon=HORIZON)
    (local.path / "go").touch()
    assert run_study(local.path).left == 0
    assert content(local.path) == expected()
    table = score_table(local.path)
    assert len(table) == 40
    local.path.rename(tmp_path / "local")

    whole = make_study(ARMS, seeds=SEEDS, horizon=HORIZON)
    (whole.path / "go").touch()
    workers = [start_worker(scheduler, "--resources", "solver=1") for _ in range(2)]
    wait_for_workers(scheduler, 2)
    report = run_study(whole.path, on=f"dask:{scheduler}")
    assert (report.left, report.problems) == (0, [])
    assert content(whole.path) == expected()
    assert score_table(whole.path) == table
    assert broken_and_whole(whole.path) == (0, 40)
    # Two workers of one machine do not know each other, and still no core had two runs at a time.
    assert _overlaps(whole.path) == 0
    assert not list(whole.path.glob("journal/runner-*"))
    whole.path.rename(tmp_path / "whole")

    study = make_study(ARMS, seeds=SEEDS, horizon=HORIZON)
    runner = study.start("--on", f"dask:{scheduler}", "--json")
    eventually(lambda: len(processes_named(study.path)) >= 2)
    solver = processes_named(study.path)[0]
    parents = ancestors(solver)
    (victim,) = [worker for worker in workers if worker.pid in parents]
    os.kill(victim.pid, signal.SIGKILL)
    # Its supervisor finds out and ends the solver: with an open gate the run might be whole before that.
    eventually(lambda: solver not in processes_named(study.path))
    (study.path / "go").touch()
    out, err = runner.communicate()
    assert runner.returncode == 0, err
    assert json.loads(out)["left"] == 0
    assert content(study.path) == expected()
    assert score_table(study.path) == table
    # The attempt of the killed worker is kept beside the one that counts.
    assert broken_and_whole(study.path) == (1, 40)
    runs = gapline.open(study.path / "campaign").runs
    (twice,) = runs.filter(attempts=2).rows(named=True)
    assert twice["arm"] == "waiting"
    assert runs["order_seed"].n_unique() == 1
    assert sorted(runs["order_position"]) == list(range(1, 41))


def _overlaps(study):
    """Count pairs of runs that had the same core at the same time."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for attempt in study.glob("journal/*/attempt-*"):
        journal = read_journal(attempt)
        (core,) = journal.order.cpus
        zero = journal.ending.zero
        spans.setdefault(core, []).append((zero, zero + int(journal.ending.elapsed * 1e9)))
    return sum(
        later[0] < earlier[1]
        for core in spans.values()
        for earlier, later in zip(sorted(core), sorted(core)[1:], strict=False)
    )


def test_a_cluster_that_cannot_run_the_study_is_refused_before_anything_runs(make_study, scheduler, start_worker):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    start_worker(scheduler)
    wait_for_workers(scheduler, 1)
    with pytest.raises(EnvironmentLacksError, match="expected workers with the resource solver, got none"):
        run_study(study.path, on=f"dask:{scheduler}")
    with pytest.raises(UsageError, match="got no address"):
        run_study(study.path, on="dask")
    assert not list(study.path.glob("journal/*/attempt-*"))


def test_ctrl_c_twice_ends_the_solvers_of_the_workers(make_study, scheduler, start_worker, eventually):
    study = make_study({"waiting": ["waits"]}, seeds=(1,))
    start_worker(scheduler, "--resources", "solver=1")
    wait_for_workers(scheduler, 1)
    runner = study.start("--on", f"dask:{scheduler}")
    eventually(lambda: len(processes_named(study.path)) == 2)
    processes = processes_named(study.path)
    for _ in range(2):
        runner.send_signal(signal.SIGINT)
        for line in runner.stderr:
            if "press Ctrl-C again" in line or "ending the runs" in line:
                break
    out, err = runner.communicate()
    assert runner.returncode == 130, err
    assert "0 of 2 runs done, 2 left" in out
    assert not any(Path(f"/proc/{process}").exists() for process in processes)
    assert read_journal(study.attempts()[0]).ending.cause == "interrupted"


def test_a_scheduler_that_is_killed_ends_the_campaign_in_one_sentence(make_study, tmp_path, start_worker, eventually):
    study = make_study({"waiting": ["waits"]}, seeds=(1,))
    file = tmp_path / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with running("distributed.cli.dask_scheduler", *options) as scheduler:
        eventually(lambda: file.exists() and bool(file.read_text().strip()))
        address = json.loads(file.read_text())["address"]
        start_worker(address, "--resources", "solver=1")
        wait_for_workers(address, 1)
        runner = study.start("--on", f"dask:{address}")
        eventually(lambda: len(processes_named(study.path)) == 2)
        scheduler.kill()
        scheduler.wait()
        _, err = runner.communicate(timeout=PATIENCE)
    assert runner.returncode == 3, err
    said = [line for line in err.splitlines() if "runs to make" not in line]
    assert said == [
        f"error: --on dask:{address}: expected its scheduler, got none: it was ended or cannot be reached",
        f"Hint: go on with: gapline run {study.path} --on dask:{address}",
    ]
    eventually(lambda: not processes_named(study.path))
    # What the dead left is cleared by the next who runs here.
    (study.path / "go").touch()
    assert run_study(study.path).left == 0
    assert not list(study.path.glob("journal/runner-*"))
