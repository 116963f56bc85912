"""One cell: begun under one contract, on one instance, under a supervisor that may be killed."""

import os
import re
import signal

import pytest

import gapline
from gapline.campaign.store import file_digest
from gapline.contract.instance_digest import problem_digest_of
from gapline.errors import IntegrityError
from gapline.journal.read import read_journal
from gapline.process.cgroup import VARIABLE, group_base
from gapline.process.tree import signal_all, strays
from gapline.run.campaign import run_study
from run.campaign_content import children_of, is_alive


@pytest.mark.slow
def test_a_killed_supervisor_leaves_a_broken_attempt_and_no_solver(make_study, eventually):
    study = make_study({"waiting": ["waits"]}, seeds=(1,))
    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    processes = [int(path.name.partition("-")[2]) for path in study.path.glob("alive-*")]
    (nursery,) = children_of(runner.pid)
    (supervisor,) = children_of(nursery)
    os.kill(supervisor, signal.SIGKILL)
    eventually(lambda: not any(is_alive(process) for process in processes))
    eventually(lambda: len(study.attempts()) == 2)
    (study.path / "go").touch()
    out, err = runner.communicate()
    assert runner.returncode == 1
    assert "the supervisor died" in err
    assert "go on with: gapline run" in out
    assert run_study(study.path).left == 0


def test_a_solver_that_stops_its_supervisor_is_told_and_its_stamps_are_called_late(make_study):
    study = make_study({"stopping": ["stops_supervisor", "once"]}, seeds=(1,))
    report = run_study(study.path)
    assert report.done == 2
    assert "stopping/one/1: its supervisor was stopped 1 times and went on: stamps are late" in report.problems
    runs = gapline.open(study.path / "campaign").runs
    assert all("stopped supervisor" in reasons for reasons in runs["disturbed"])
    assert runs["count"].to_list() == [2, 2]


def test_a_solver_that_stops_its_supervisor_over_and_over_does_not_hang_the_campaign(make_study):
    study = make_study({"stopping": ["stops_supervisor", "always"], "silent": ["silent"]}, seeds=(1,))
    report = run_study(study.path)
    assert report.outcomes == {"done": 2, "interrupted": 2}
    ended = [problem for problem in report.problems if "(stopped 3 times, by its solver or somebody else)" in problem]
    assert len(ended) == 2
    for attempt in study.attempts():
        assert strays("GAPLINE_ATTEMPT", str(attempt)) == []


def test_a_process_that_hides_when_its_supervisor_is_killed_is_found(make_study):
    """In a session of its own, with an empty environment and another name: it is the nursery's child by then."""
    study = make_study({"hiding": ["hides"]}, seeds=(1,))
    report = run_study(study.path, jobs=1)
    assert report.outcomes == {"interrupted": 2}
    assert re.search(r"the supervisor died \(SIGKILL\); what it left was ended \(processes: [12]\)", report.problems[0])
    hidden = [int(path.name.partition("-")[2]) for path in study.path.glob("alive-*")]
    assert hidden
    assert not any(is_alive(process) for process in hidden)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [True, False])
def test_one_that_kills_the_nursery_too_is_found_by_its_group_or_said_to_be_possible(make_study, monkeypatch, groups):
    if groups and group_base() is None:
        pytest.skip("this machine has no cgroup v2 that we may write to")
    if not groups:
        monkeypatch.setenv(VARIABLE, "off")
    study = make_study({"hiding": ["hides", "nursery"]}, seeds=(1,))
    report = run_study(study.path, jobs=1)
    hidden = [int(path.name.partition("-")[2]) for path in study.path.glob("alive-*")]
    alive = [process for process in hidden if is_alive(process)]
    said = [problem for problem in report.problems if "a process that hides may be left" in problem]
    signal_all(alive, signal.SIGKILL)
    assert report.outcomes == {"interrupted": 2}
    assert (alive, said) == ([], []) if groups else (alive and said)


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


def test_other_bytes_with_the_same_problem_go_on_and_are_named_when_scored(make_study):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    run_study(study.path)
    file = study.path / "instances" / "one.txt"
    before = gapline.read(study.path).runs.filter(instance="one").row(0, named=True)
    assert before["problem_digest"] == problem_digest_of(file) != before["instance_digest"]
    file.write_bytes(file.read_bytes().replace(b"\n", b"  \r\n"))
    assert file_digest(file) != before["instance_digest"]
    assert run_study(study.path).left == 0
    contract = study.path / "study.toml"
    contract.write_text(contract.read_text().replace("horizon = 60.0", "horizon = 30.0"))
    with pytest.raises(IntegrityError, match="horizon 60, now 30"):
        run_study(study.path)


@pytest.mark.slow
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
    assert f"{lost}.txt: expected the instance, got no such file" in err
    campaign = gapline.open(study.path / "campaign")
    assert campaign.runs.select("instance", "status").unique().rows() == [(running, "finished")]
    (study.path / "instances" / "elsewhere.txt").rename(study.path / "instances" / f"{lost}.txt")
    assert run_study(study.path).left == 0
