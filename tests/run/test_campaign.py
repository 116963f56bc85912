"""A campaign of scripted solvers: interrupted, killed and resumed, it ends as the one that was left alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import gapline
from gapline.errors import EnvironmentLacksError, IntegrityError
from gapline.journal.line import EVENTS_FILE
from gapline.journal.read import read_journal
from gapline.journal.register import read_register
from gapline.run.campaign import rebuild_campaign, run_study
from gapline.run.resume import study_status

ARMS = {"steady": ["scripted", "{seed}", "5", "0"], "silent": ["silent"], "crashing": ["dies", "3"]}


def content(study: Path) -> dict[tuple[str, str, int], tuple[str, list[float], list[int]]]:
    """What a score is made of, stamps aside: they are the host's and differ from run to run."""
    campaign = gapline.open(study / "campaign")
    found = {}
    for row in campaign.runs.iter_rows(named=True):
        part = slice(row["first"], row["first"] + row["count"])
        found[row["arm"], row["instance"], row["seed"]] = (
            row["status"],
            campaign.objective[part].tolist(),
            campaign.verdict[part].tolist(),
        )
    return found


def expected(*seeds: int) -> dict[tuple[str, str, int], tuple[str, list[float], list[int]]]:
    found = {}
    for instance in ("one", "two"):
        for seed in seeds:
            steady = [1000.0 / (number + seed + 1) for number in range(5)]
            found["steady", instance, seed] = ("finished", steady, [1] * 5)
            found["silent", instance, seed] = ("finished", [], [])
            found["crashing", instance, seed] = ("crashed", [10.0, 9.0], [1, 1])
    return found


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


def test_a_killed_supervisor_leaves_a_broken_attempt_and_no_solver(make_study, eventually):
    study = make_study({"waiting": ["waits"]}, seeds=(1,))
    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    processes = [int(path.name.partition("-")[2]) for path in study.path.glob("alive-*")]
    (nursery,) = _children(runner.pid)
    (supervisor,) = _children(nursery)
    os.kill(supervisor, signal.SIGKILL)
    eventually(lambda: not any(_is_alive(process) for process in processes))
    eventually(lambda: len(study.attempts()) == 2)
    (study.path / "go").touch()
    out, err = runner.communicate()
    assert runner.returncode == 1
    assert "the supervisor died" in err
    assert "go on with: gapline run" in out
    assert run_study(study.path).left == 0


def test_ctrl_c_lets_the_runs_under_way_finish_and_launches_no_more(make_study, eventually):
    study = make_study({"waiting": ["waits"]})
    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    runner.send_signal(signal.SIGINT)
    for line in runner.stderr:
        if "press Ctrl-C again" in line:
            break
    (study.path / "go").touch()
    out, _ = runner.communicate()
    assert runner.returncode == 130
    assert "1 of 4 runs done, 3 left" in out
    assert f"go on with: gapline run {study.path}" in out
    assert len(study.attempts()) == 1
    assert run_study(study.path).left == 0
    assert len(gapline.open(study.path / "campaign")) == 4


@pytest.mark.parametrize(("signals", "code"), [(["SIGINT", "SIGINT"], 130), (["SIGTERM"], 143)])
def test_ctrl_c_twice_or_sigterm_ends_the_runs_and_keeps_what_they_found(make_study, eventually, signals, code):
    study = make_study({"waiting": ["waits"]})
    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    for name in signals:
        runner.send_signal(signal.Signals[name])
        for line in runner.stderr:
            if "press Ctrl-C again" in line or "ending the runs" in line:
                break
    out, _ = runner.communicate()
    assert runner.returncode == code
    assert f"go on with: gapline run {study.path}" in out
    journal = read_journal(study.attempts()[0])
    assert journal.ending.cause == "interrupted"
    assert [event.objective for event in journal.events] == [10.0]
    assert not any(_is_alive(int(path.name.partition("-")[2])) for path in study.path.glob("alive-*"))
    # Its prefix is evidence, not a run: nothing of it is scored, and the cell is named.
    campaign = gapline.open(study.path / "campaign")
    assert len(campaign) == 0
    (cell,) = campaign.interrupted
    assert cell in {("waiting", "one", 1), ("waiting", "two", 1)}
    status = study_status(study.path)
    assert (status.cells["interrupted"], status.cells["missing"], status.left) == (1, 3, 4)
    (study.path / "go").touch()
    assert run_study(study.path).left == 0
    assert gapline.open(study.path / "campaign").interrupted == ()
    assert study_status(study.path).superseded == 1


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


def test_a_changed_journal_is_quarantined_named_and_run_again(make_study):
    study = make_study({"steady": ["scripted", "{seed}", "5", "0"]}, seeds=(1,))
    run_study(study.path)
    path = study.attempts()[0] / EVENTS_FILE
    path.write_bytes(path.read_bytes().replace(b'"objective": 500.0', b'"objective": 400.0'))
    campaign = rebuild_campaign(study.path)
    assert (len(campaign), len(campaign.interrupted)) == (1, 1)
    assert any(f"{EVENTS_FILE}:3:" in problem for problem in campaign.diagnostics.problems)
    status = study_status(study.path)
    assert (status.cells["quarantined"], status.left) == (1, 1)
    again = run_study(study.path)
    assert any("the run is quarantined" in problem for problem in again.campaign.diagnostics.problems)
    assert gapline.open(study.path / "campaign").runs["status"].to_list() == ["finished"] * 2
    assert len(study.attempts()) == 3


def test_another_contract_does_not_go_on_with_the_same_runs(make_study):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    run_study(study.path)
    contract = study.path / "study.toml"
    contract.write_text(contract.read_text().replace("horizon = 60.0", "horizon = 30.0"))
    with pytest.raises(IntegrityError, match="horizon 60, now 30"):
        run_study(study.path)


def test_another_instance_under_the_same_name_is_refused(make_study):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    run_study(study.path)
    (study.path / "instances" / "one.txt").write_text("changed\n")
    with pytest.raises(IntegrityError, match=r"instance sha256:\w+, now sha256:\w+"):
        run_study(study.path)


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


def test_a_full_disk_stops_the_campaign_and_is_not_the_solvers_fault(make_study, tmp_path):
    """On a file system of 400 kB: the campaign stops, says how much was missing, and goes on when there is room."""
    study = make_study({"steady": ["scripted", "{seed}", "2000", "0"]}, seeds=(1,))
    small = tmp_path / "small"
    small.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(small)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a small file system cannot be mounted here")
    try:
        shutil.copytree(study.path, small / "study")
        (small / "filler").write_bytes(bytes(200_000))
        code = "from gapline.cli import main; main()"
        command = [sys.executable, "-c", code, "run", str(small / "study"), "--json", "-j", "1"]
        full = subprocess.run(command, capture_output=True, text=True, check=False)
        assert full.returncode == 3, full.stderr
        assert "No space left on device" in full.stdout + full.stderr
        for path in small.glob("study/journal/*/attempt-*"):
            assert read_journal(path).torn == 0
        (small / "filler").unlink()
        subprocess.run(["mount", "-o", "remount,size=10m", str(small)], check=True)
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["left"] == 0
        assert [len(values) for _, values, _ in content(small / "study").values()] == [2000, 2000]
    finally:
        subprocess.run(["umount", str(small)], check=True)


def _children(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()] or [
        int(pid) for path in Path(f"/proc/{parent}/task").glob("*/children") for pid in path.read_text().split()
    ]


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


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


def test_an_instance_that_vanishes_is_the_problem_of_its_cells_alone(make_study, eventually):
    """The run under way on another instance goes on to its end, and the cells of the lost one are left and named."""
    study = make_study({"waiting": ["waits"]})
    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    running = read_journal(study.attempts()[0]).order.instance
    lost = {"one": "two", "two": "one"}[running]
    (study.path / "instances" / f"{lost}.txt").rename(study.path / "instances" / "elsewhere.txt")
    (study.path / "go").touch()
    out, err = runner.communicate()
    assert runner.returncode == 1, err
    assert "2 of 4 runs done, 2 left" in out
    assert f"waiting/{lost}/1" in err
    assert f"{lost}.txt: expected the instance, got No such file or directory" in err
    campaign = gapline.open(study.path / "campaign")
    assert campaign.runs.select("instance", "status").unique().rows() == [(running, "finished")]
    (study.path / "instances" / "elsewhere.txt").rename(study.path / "instances" / f"{lost}.txt")
    assert run_study(study.path).left == 0
