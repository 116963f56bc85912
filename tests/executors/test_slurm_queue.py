"""Campaigns through a real SLURM without accounting: arrays, killed jobs and runners, scancel, a node that is lost."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from clusters import ARMS, ancestors, broken_and_whole, content, expected, processes_named
from gapline.errors import EnvironmentLacksError
from gapline.executors.slurm_queue import SlurmQueue
from gapline.run.campaign import run_study
from patience import PATIENCE

pytest.importorskip("submitit")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("slurm")]
SEEDS = (1, 2)
# A solver that waits is two processes, both of which write down who they are.
TWO_RUNS = 4
ON = "slurm:partition=short"


@pytest.fixture
def start():
    """Start runners; whatever a test leaves of them is killed."""
    runners = []

    def begin(study, *options: str) -> "subprocess.Popen[str]":
        runners.append(study.start("--on", *options))
        return runners[-1]

    yield begin
    for runner in runners:
        runner.kill()
        runner.communicate()


def wanted(*arms: str) -> dict:
    return {key: value for key, value in expected().items() if key[0] in arms and key[2] in SEEDS}


def ended(runner: "subprocess.Popen[str]") -> tuple[dict, str]:
    """What a runner answered with --json, and what it said meanwhile."""
    out, err = runner.communicate(timeout=PATIENCE)
    return json.loads(out), err


def job_of(process: int) -> str:
    """The job in whose script a process runs, as squeue names it."""
    environment = Path(f"/proc/{process}/environ").read_bytes().decode()
    number, task = (re.search(rf"SLURM_ARRAY_{name}_ID=(\d+)", environment) for name in ("JOB", "TASK"))
    return f"{number.group(1)}_{task.group(1)}"


@pytest.mark.slow
def test_cells_are_an_array_with_the_limits_of_the_contract_and_what_runs_is_said(make_study, slurm, eventually, start):
    study = make_study(ARMS, seeds=SEEDS)
    contract = study.path / "study.toml"
    contract.write_text(contract.read_text().replace("grace = 0.5", "grace = 0.5\nmemory = 500"))
    runner = start(study, f"{ON},jobs=6", "--json")
    # Six in the queue of a node with two cores: two run.
    eventually(lambda: len(slurm.jobs("RUNNING")) == 2 and len(slurm.jobs()) == 6)
    script = slurm.script(slurm.jobs()[0].partition("_")[0])
    for line in ("--array=0-5%6", "--partition=short", "--cpus-per-task=1", "--mem=2GB", "--job-name=gapline"):
        assert f"#SBATCH {line}" in script
    assert re.search(r"#SBATCH --time=12\b", script)
    said = []
    for line in runner.stderr:
        said.append(line)
        if "running" in line:
            break
    (study.path / "go").touch()
    # By the same reader to the end: lines that came with the last one wait in it.
    err = runner.stderr.read()
    answer, _ = ended(runner)
    assert runner.returncode == 0, err
    assert (answer["left"], answer["busy"], answer["problems"]) == (0, 0, [])
    assert content(study.path) == wanted(*ARMS)
    assert broken_and_whole(study.path) == (0, 8)
    assert said[0] == "8 runs to make, 0 made before, at most 6 jobs in the queue\n"
    assert re.search(r"[12] running, [45] waiting", said[-1])
    # `sacct` answers nothing on a site without accounting: that is not the user's trouble.
    assert "sacct" not in err
    assert len(re.findall(r"^\[\d/8\]", "".join(said) + err, re.MULTILINE)) == 8
    assert len(said) + len(err.splitlines()) < 30
    assert not (study.path / "jobs").exists()
    # A job that has ended stays in the queue until its node is clear.
    eventually(lambda: slurm.jobs() == [])


@pytest.mark.slow
def test_a_job_that_is_killed_is_sent_again(make_study, eventually, start):
    study = make_study({"waiting": ["waits"]}, seeds=SEEDS)
    runner = start(study, ON, "--json")
    eventually(lambda: len(processes_named(study.path)) == TWO_RUNS)
    solver = processes_named(study.path)[0]
    task = next(pid for pid in ancestors(solver) if b"submitit.core._submit" in _command(pid))
    os.kill(task, signal.SIGKILL)
    eventually(lambda: solver not in processes_named(study.path))
    (study.path / "go").touch()
    answer, err = ended(runner)
    assert (runner.returncode, answer["left"], answer["problems"]) == (0, 0, []), err
    assert content(study.path) == wanted("waiting")
    assert broken_and_whole(study.path) == (1, 4)


def _command(process: int) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


@pytest.mark.slow
def test_a_cell_whose_job_somebody_cancels_is_left_and_said(make_study, slurm, eventually, start):
    """One that runs and one that waits: nobody sends a job again that a person has called back."""
    study = make_study({"waiting": ["waits"]}, seeds=SEEDS)
    runner = start(study, ON, "--json")
    eventually(lambda: len(processes_named(study.path)) == TWO_RUNS and len(slurm.jobs("PENDING")) == 2)
    running, waiting = job_of(processes_named(study.path)[0]), slurm.jobs("PENDING")[0]
    slurm.ask("scancel", running, waiting)
    eventually(lambda: not {running, waiting} & set(slurm.jobs()))
    (study.path / "go").touch()
    answer, err = ended(runner)
    assert (runner.returncode, answer["done"], answer["left"]) == (1, 2, 2), err
    assert sorted(re.findall(r"job (\d+_\d+) was cancelled", "\n".join(answer["problems"]))) == sorted(
        [running, waiting]
    )
    # Nothing of it passes for a run that ended by itself.
    assert broken_and_whole(study.path)[1] == 2
    again = study.run("--on", ON, "--json")
    assert (again.returncode, json.loads(again.stdout)["left"]) == (0, 0), again.stderr
    assert content(study.path) == wanted("waiting")
    assert broken_and_whole(study.path)[1] == 4


@pytest.mark.slow
def test_after_a_killed_runner_its_jobs_are_called_back_and_nothing_is_made_twice(make_study, slurm, eventually, start):
    study = make_study({"waiting": ["waits"]}, seeds=SEEDS)
    first = start(study, ON)
    eventually(lambda: len(processes_named(study.path)) == TWO_RUNS and len(slurm.jobs("PENDING")) == 2)
    left = slurm.jobs()
    first.kill()
    first.communicate()
    second = start(study, ON, "--json")
    eventually(lambda: len(processes_named(study.path)) == TWO_RUNS and not set(left) & set(slurm.jobs()))
    (study.path / "go").touch()
    answer, err = ended(second)
    assert (second.returncode, answer["left"], answer["busy"]) == (0, 0, 0), err
    assert "calling back 4 jobs of a runner that is gone" in err
    assert content(study.path) == wanted("waiting")
    assert broken_and_whole(study.path) == (2, 4)
    # A job stands in the queue for a moment after its result is there.
    eventually(lambda: slurm.jobs() == [])
    assert not (study.path / "jobs").exists()


@pytest.mark.slow
def test_a_node_that_goes_down_and_comes_back_costs_time_and_nothing_else(make_study, slurm, eventually, start):
    study = make_study({"waiting": ["waits"]}, seeds=SEEDS)
    runner = start(study, ON, "--json")
    eventually(lambda: len(processes_named(study.path)) == TWO_RUNS)
    slurm.node_is("down")
    eventually(lambda: not processes_named(study.path))
    said = []
    for line in runner.stderr:
        said.append(line)
        if "nothing runs" in line:
            break
    assert re.search(r"nothing runs, \d waiting", said[-1])
    slurm.node_is("resume")
    (study.path / "go").touch()
    answer, err = ended(runner)
    assert (runner.returncode, answer["left"], answer["problems"]) == (0, 0, []), err
    assert content(study.path) == wanted("waiting")
    assert broken_and_whole(study.path) == (2, 4)


@pytest.mark.slow
def test_ctrl_c_lets_running_jobs_finish_and_calls_back_those_that_wait(make_study, slurm, eventually, start):
    study = make_study({"waiting": ["waits"]}, seeds=SEEDS)
    runner = start(study, ON, "--json")
    eventually(lambda: len(processes_named(study.path)) == TWO_RUNS and len(slurm.jobs("PENDING")) == 2)
    runner.send_signal(signal.SIGINT)
    eventually(lambda: len(slurm.jobs("PENDING")) == 0)
    assert len(processes_named(study.path)) == TWO_RUNS
    (study.path / "go").touch()
    answer, err = ended(runner)
    assert (runner.returncode, answer["done"], answer["left"], answer["problems"]) == (130, 2, 2, []), err
    assert broken_and_whole(study.path) == (0, 2)


def test_a_partition_that_is_not_there_is_one_sentence(make_study, slurm):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    with pytest.raises(EnvironmentLacksError, match=r"--on slurm: .*invalid partition specified: nowhere"):
        run_study(study.path, on="slurm:partition=nowhere")
    assert not list(study.path.glob("journal/*/attempt-*"))
    assert slurm.jobs() == []


def test_a_controller_that_does_not_answer_ends_no_job(slurm, monkeypatch, tmp_path):
    """Its restart takes minutes on a large site: what it said last holds until it answers again."""
    (job,) = re.findall(r"\d+", slurm.ask("sbatch", "--wrap", "sleep 600", "--output=/dev/null"))
    queue = SlurmQueue()
    queue.look(now=True)
    known = queue.state(job)
    assert (known.has_ended, queue.silence) == (False, None)
    (tmp_path / "slurm.conf").touch()
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    queue.look(now=True)
    assert queue.state(job) == known
    assert queue.silence
    slurm.use(monkeypatch)
    queue.cancel([job])
    queue.wait_until_gone([job], patience=60.0)
    assert queue.state(job).name == "CANCELLED"
    assert (queue.silence, queue.state("0").has_ended) == (None, True)
