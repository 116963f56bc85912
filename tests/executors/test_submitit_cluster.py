"""Jobs of submitit's local executor: real processes, real scripts, and one that is killed in the middle."""

import json
import os
import signal
from pathlib import Path

import pytest

from clusters import ARMS, HORIZON, ancestors, broken_and_whole, content, expected, processes_named, score_table
from gapline.errors import EnvironmentLacksError, UsageError
from gapline.executors.submitit_cluster import submitit_executor
from gapline.journal.read import read_journal
from gapline.run.campaign import run_study

pytestmark = pytest.mark.slow

pytest.importorskip("submitit")
SEEDS = (1, 2)


def test_jobs_of_which_one_is_killed_give_the_local_table(make_study, eventually, tmp_path):
    local = make_study(ARMS, seeds=SEEDS, horizon=HORIZON)
    (local.path / "go").touch()
    assert run_study(local.path).left == 0
    table = score_table(local.path)
    local.path.rename(tmp_path / "local")

    study = make_study(ARMS, seeds=SEEDS, horizon=HORIZON)
    runner = study.start("--on", "submitit:local:jobs=2", "--json")
    eventually(lambda: len(processes_named(study.path)) >= 2)
    # Solver, supervisor, job.
    solver = processes_named(study.path)[0]
    job = ancestors(solver)
    task = next(pid for pid in job if _runs(pid, "submitit.core._submit"))
    os.kill(task, signal.SIGKILL)
    # Its supervisor finds out and ends the solver: with an open gate the run might be whole before that.
    eventually(lambda: solver not in processes_named(study.path))
    (study.path / "go").touch()
    out, err = runner.communicate()
    assert runner.returncode == 0, err
    assert json.loads(out)["left"] == 0
    assert content(study.path) == {key: value for key, value in expected().items() if key[2] in SEEDS}
    assert score_table(study.path) == table
    assert broken_and_whole(study.path) == (1, 8)
    # Scripts and logs of jobs that ended well are not part of a study.
    assert not (study.path / "jobs").exists()


def _runs(process: int, module: str) -> bool:
    return module.encode() in Path(f"/proc/{process}/cmdline").read_bytes()


def test_ctrl_c_twice_ends_the_solvers_of_the_jobs(make_study, eventually):
    study = make_study({"waiting": ["waits"]}, seeds=(1,))
    runner = study.start("--on", "submitit:local:jobs=1")
    eventually(lambda: len(processes_named(study.path)) == 2)
    said = []
    for _ in range(2):
        runner.send_signal(signal.SIGINT)
        for line in runner.stderr:
            said.append(line)
            if "press Ctrl-C again" in line or "ending the runs" in line:
                break
    out, err = runner.communicate()
    assert runner.returncode == 130, "".join([*said, err])
    assert "0 of 2 runs done, 2 left" in out
    assert processes_named(study.path) == []
    assert read_journal(study.attempts()[0]).ending.cause == "interrupted"


def test_a_batch_system_that_is_not_there_is_said_before_anything_runs(make_study, tmp_path, monkeypatch):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentLacksError, match="--on slurm: expected a batch system"):
        run_study(study.path, on="slurm")
    # Its commands are there, its controller is not.
    (tmp_path / "srun").write_text("")
    (tmp_path / "srun").chmod(0o755)
    (tmp_path / "squeue").write_text("#!/bin/sh\necho 'squeue: error: no controller' >&2; exit 1\n")
    (tmp_path / "squeue").chmod(0o755)
    with pytest.raises(EnvironmentLacksError, match="expected SLURM to answer, got squeue: error: no controller"):
        run_study(study.path, on="slurm")
    with pytest.raises(EnvironmentLacksError, match="--on nowhere: expected a batch system"):
        run_study(study.path, on="submitit:nowhere")
    with pytest.raises(UsageError, match="expected parameters that it knows"):
        run_study(study.path, on="submitit:local:partitions=x")
    assert not list(study.path.glob("journal/*/attempt-*"))
    assert not (study.path / "jobs").exists()


def test_a_job_of_oar_has_the_cores_and_the_time_of_the_contract(tmp_path, monkeypatch):
    """As far as it goes without OAR: the plug-in takes our parameters and puts them into its script."""
    pytest.importorskip("submitit_oar")
    commands = tmp_path / "oar"
    commands.mkdir()
    (commands / "oarsub").write_text("#!/bin/sh\n")
    (commands / "oarsub").chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    limits = {"seconds": 60.0, "threads": 2, "memory": 500, "jobs": 5}
    with submitit_executor("oar", tmp_path, "r", **limits, options={"queue": "long"}) as executor:
        inner = executor._inner._executor
        script = inner._make_submission_file_text(inner._submitit_command_str, "id")
    assert "#OAR -q long" in script
    assert " -P -u -m submitit.core._submit" in script
    assert "core=2" in script
    assert "walltime=00:11" in script
