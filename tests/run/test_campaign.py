"""A campaign of scripted solvers: every cell is a row, whatever became of it."""

import os
import shutil
import signal
import sys

import pytest

import gapline
from gapline.errors import EnvironmentLacksError, IntegrityError
from gapline.executors.core_leases import cores
from gapline.journal.read import read_journal
from gapline.journal.register import read_register
from gapline.process.control import Control
from gapline.run.campaign import RunReport, _signals, run_study
from gapline.run.progress import Progress
from gapline.run.resume import study_status
from run.campaign_content import ARMS, content, expected
from scripted_studies import ScriptedStudy


@pytest.mark.slow
def test_every_cell_is_a_row_whatever_became_of_it(make_study):
    study = make_study(ARMS)
    done = study.run()
    assert done.returncode == 0, done.stderr
    assert "12 of 12 runs done, 0 left" in done.stdout
    assert content(study.path) == expected(1, 2)
    runs = gapline.open(study.path / "campaign").runs
    assert runs["attempts"].to_list() == [1] * 12
    assert set(runs["clock"]) == {"wall"}
    assert set(runs["validation"]) == {"solver"}
    assert set(runs["tier"]) == {1}
    assert set(runs["leftover"]) == {0}
    assert runs.filter(arm="steady")["solver_version"].unique().to_list() == ["1.2"]
    assert runs.filter(arm="crashing")["exit_code"].unique().to_list() == [3]
    assert runs.filter(instance="one")["size"].unique().to_list() == [3.0]
    assert runs["instance_digest"].str.starts_with("sha256:").all()
    assert runs.filter(arm="steady")["best_solution_digest"].n_unique() == 2
    assert all(stamp.endswith("+00:00") for stamp in runs["started"])


@pytest.mark.slow
def test_when_the_runner_is_killed_its_solvers_and_their_daemons_die(make_study, eventually):
    study = make_study({"waiting": ["waits"]}, seeds=(1,))
    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    processes = [int(path.name.partition("-")[2]) for path in study.path.glob("alive-*")]
    runner.kill()
    runner.communicate()
    eventually(lambda: study_status(study.path).cells["running"] == 0)
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    journal = read_journal(study.attempts()[0])
    assert journal.ending.cause == "runner lost"
    assert [event.objective for event in journal.events] == [10.0]
    assert journal.ending.leftover == 0
    (study.path / "go").touch()
    assert run_study(study.path).left == 0
    runs = gapline.open(study.path / "campaign").runs
    assert sorted(runs["attempts"]) == [1, 2]
    assert set(runs["status"]) == {"finished"}


@pytest.mark.slow
def test_two_runners_share_the_cells_and_never_a_file(make_study):
    study = make_study({"steady": ["scripted", "{seed}", "5", "0.02"]}, seeds=(1, 2, 3))
    runners = [study.start(), study.start()]
    for runner in runners:
        _, err = runner.communicate()
        assert runner.returncode == 0, err
    assert len(study.attempts()) == 6
    assert all(path.name == "attempt-001" for path in study.attempts())
    assert run_study(study.path).results == []
    assert len(gapline.open(study.path / "campaign")) == 6


@pytest.mark.slow
def test_runners_of_two_studies_never_share_a_core(make_study, tmp_path, eventually):
    if len(cores()) < 2:
        pytest.skip("this machine has one core")
    first = make_study({"waiting": ["waits"]}, seeds=(1,))
    second = ScriptedStudy(shutil.copytree(first.path, tmp_path / "second"))
    runners = []
    for study in (first, second):
        runners.append(study.start("-j", "1"))
        eventually(lambda study=study: len(list(study.path.glob("alive-*"))) == 2)
    used = [read_journal(study.attempts()[0]).order.cpus for study in (first, second)]
    assert used[0] != used[1]
    for study, runner in zip((first, second), runners, strict=True):
        (study.path / "go").touch()
        runner.communicate()
        assert runner.returncode == 0


def test_a_missing_program_is_found_before_anything_runs(make_study):
    study = make_study({"silent": ["silent"]})
    contract = study.path / "study.toml"
    contract.write_text(contract.read_text() + "\n[[arms]]\nname='x'\nsolver='command'\ncommand=['./nowhere']\n")
    with pytest.raises(EnvironmentLacksError, match="nowhere"):
        run_study(study.path)
    assert not (study.path / "journal").exists()


def test_a_program_beside_the_contract_is_found_from_anywhere(make_study):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    program = study.path / "mine"
    program.write_text(f"#!{sys.executable}\nprint('{{\"objective\": 4.0}}')\n")
    program.chmod(0o755)
    contract = study.path / "study.toml"
    contract.write_text(contract.read_text() + "\n[[arms]]\nname='mine'\nsolver='command'\ncommand=['./mine']\n")
    assert run_study(study.path).left == 0
    assert content(study.path)["mine", "one", 1] == ("finished", [4.0], [1])


@pytest.mark.parametrize(
    "name", ["../../x", "/etc/passwd", "n" * 300, "a\u202eb\x07", "case", "CASE", "<img onerror=x>"]
)
def test_hostile_names_stay_inside_the_study(make_study, name):
    study = make_study({name: ["dies", "0"]}, seeds=(1,))
    report = run_study(study.path)
    assert report.left == 0
    assert {key[0] for key in content(study.path)} == {name}
    assert {path.parent.parent for path in study.attempts()} == {study.path / "journal"}


@pytest.mark.slow
def test_the_plan_is_registered_before_the_first_solver_starts(make_study, eventually):
    study = make_study({"waiting": ["waits"]}, seeds=(1,))
    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    entry = read_register(study.path).first
    assert (entry.begun, entry.planned) == (0, 2)
    assert entry.solvers["waiting"].startswith("command ")
    (study.path / "go").touch()
    runner.communicate()
    run_study(study.path)
    assert len(read_register(study.path).entries) == 1
    contract = study.path / "study.toml"
    contract.write_text(contract.read_text().replace("seeds = [1]", "seeds = [1, 2]"))
    run_study(study.path)
    assert [(entry.begun, entry.planned) for entry in read_register(study.path).entries] == [(0, 2), (2, 4)]


def test_a_register_that_was_edited_stops_the_runner(make_study):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    run_study(study.path)
    path = study.path / "journal" / "register.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"policy":"frozen"', b'"policy":"analysis"'))
    with pytest.raises(IntegrityError, match=r"register\.jsonl:1: the line was changed"):
        run_study(study.path)


def test_a_signal_in_the_middle_of_a_write_to_the_same_stream_is_still_told(tmp_path, capfd):
    """A buffered stream cannot be entered again: Python raises there, and the campaign must not end by it."""

    class Writing(Progress):
        def say(self, message):  # noqa: ARG002
            raise RuntimeError("reentrant call")

    control, report = Control(), RunReport(tmp_path, planned=1, before=0)
    with _signals(control, Writing(), report):
        os.kill(os.getpid(), signal.SIGINT)
        assert (control.stopping, control.killing, report.interrupted) == (True, False, "SIGINT")
        os.kill(os.getpid(), signal.SIGINT)
        assert control.killing
    said = capfd.readouterr().err
    assert "press Ctrl-C again" in said
    assert "ending the runs under way" in said


@pytest.mark.skipif(len(cores()) < 2, reason="this machine has one core")
def test_each_run_has_the_cores_and_the_memory_of_its_own_cell(make_study):
    """A ladder of threads in one contract: every step is pinned to as many cores, and says so to its solver."""
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    contract = study.path / "study.toml"
    contract.write_text(
        contract.read_text() + 'ladder = { threads = [1, 2] }\n[[where]]\ninstance = "two"\nmemory = 700\n'
    )
    assert run_study(study.path).done == 4
    runs = gapline.open(study.path / "campaign").runs.sort("arm", "instance")
    assert runs.select("arm", "instance", "threads").rows() == [
        ("silent threads=1", "one", 1), ("silent threads=1", "two", 1),
        ("silent threads=2", "one", 2), ("silent threads=2", "two", 2),
    ]  # fmt: skip
    assert [len(cpus.split(",")) for cpus in runs["cpus"]] == [1, 1, 2, 2]
    orders = [read_journal(attempt).order for attempt in study.attempts()]
    assert {(order.instance, order.memory) for order in orders} == {("one", None), ("two", 700)}
    assert {order.environment["GAPLINE_THREADS"] for order in orders} == {"1", "2"}
