"""Verdicts: beside the journal, one file per checker version, and a checker that fails leaves candidates unchecked."""

import gc
import json
import os
import shutil
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import gapline
from dask_cluster import wait_for_workers
from gapline.checkers.command import PATIENCE as PROGRAM_PATIENCE
from gapline.contract.tables import VerdictCode
from gapline.errors import EnvironmentLacksError, UsageError
from gapline.journal.line import EVENTS_FILE
from gapline.journal.read import Journal, read_journal
from gapline.journal.rebuild import rebuild_campaign
from gapline.run import check_run
from gapline.run.campaign import run_study
from gapline.run.check_run import PATIENCE, CheckSettings, check_attempt, check_study, identify_checker
from gapline.run.resume import study_status

# Judges the solutions [seed, number] of the scripted solver: even numbers are valid at 100 - number.
CHECKER = """
import os, sys, time
__version__ = "{version}"
def check(instance, solution):
    seed, number = solution
    print("noise that must not get between the answers")
    {misbehaviour}
    return 100.0 - number if number % 2 == 0 else "odd number"
"""
ARMS = {"steady": ["scripted", "{seed}", "4", "0"]}


def write_checker(study: Path, *, version: str = "1", misbehaviour: str = "pass") -> None:
    (study / "judge.py").write_text(CHECKER.format(version=version, misbehaviour=misbehaviour))


@pytest.fixture
def study(make_study) -> Path:
    made = make_study(ARMS, seeds=(1,), checker="python:judge:check").path
    write_checker(made)
    return made


def columns(study: Path, instance: str = "one") -> tuple[list[float], list[int], list[float]]:
    campaign = gapline.open(study / "campaign")
    row = campaign.runs.filter(instance=instance).row(0, named=True)
    part = slice(row["first"], row["first"] + row["count"])
    return campaign.objective[part].tolist(), campaign.verdict[part].tolist(), campaign.claimed[part].tolist()


def test_the_checked_objective_rules_and_the_claimed_one_is_kept(study):
    report = run_study(study)
    assert report.left == 0
    claimed = [1000.0 / (number + 2) for number in range(4)]
    assert columns(study) == ([100.0, claimed[1], 98.0, claimed[3]], [1, 0, 1, 0], claimed)
    campaign = gapline.open(study / "campaign")
    assert campaign.facts["checker"] == "python:judge:check 1"
    assert campaign.diagnostics.rejected == {"odd number": 4}
    assert set(campaign.runs["validation"]) == {"checker"}
    (verdicts,) = (study / "journal").glob("steady_one*/attempt-001/verdicts-*.jsonl")
    head, *lines = [json.loads(line) for line in verdicts.read_text().splitlines()]
    assert (head["checker"], head["version"], head["candidates"]) == ("python:judge:check", "1", 4)
    assert [line.get("reason") for line in lines] == [None, "odd number"] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "misbehaviour",
    [
        "number == 2 and os.abort()",
        "number == 2 and os._exit(0)",
        "number == 2 and 1 / 0",
        "number == 2 and sys.stdout.flush() is None and time.sleep(1000)",
    ],
    ids=["crash", "exit", "exception", "hang"],
)
def test_a_checker_that_fails_leaves_that_candidate_unchecked_and_can_be_asked_again(study, misbehaviour, monkeypatch):
    write_checker(study, misbehaviour=misbehaviour)
    run_study(study, check=False)
    assert columns(study)[1] == [VerdictCode.UNCHECKED] * 4
    monkeypatch.setattr("gapline.run.check_run.identify_checker", _impatient)
    results = check_study(study)
    assert [(r.valid, r.invalid, r.unchecked) for r in results] == [(1, 2, 1)] * 2
    assert all("is unchecked" in problem for r in results for problem in r.problems)
    assert columns(study)[1] == [1, 0, VerdictCode.UNCHECKED, 0]
    write_checker(study)
    assert [(r.valid, r.invalid, r.unchecked) for r in check_study(study)] == [(2, 2, 0)] * 2
    assert columns(study)[1] == [1, 0, 1, 0]


@pytest.mark.slow
def test_what_a_checker_that_dies_said_is_told_and_kept_until_it_does_not(study):
    write_checker(study, misbehaviour='number == 2 and (sys.stderr.write("no licence\\n"), os._exit(3))')
    (first, *_) = run_study(study, jobs=1).results
    (problem,) = first.problems
    assert problem.endswith("got the end of its output (exit code 3); it said: no licence")
    (log, _) = sorted((study / "journal").glob("*/attempt-001/checker.log"))
    assert "no licence\n" in log.read_text()
    write_checker(study, misbehaviour="number == 2 and 1 / 0")
    check_study(study)
    assert "ZeroDivisionError" in log.read_text()
    assert "judge.py" in log.read_text()
    write_checker(study)
    check_study(study)
    assert not log.exists()


def test_what_the_program_of_a_checker_said_is_kept(study):
    (study / "program.py").write_text(
        'import sys\nprint(\'{"checker": "c", "version": "1"}\', flush=True)\ninput()\n'
        "sys.stderr.write('first words\\nlast words\\n')\nsys.exit(4)\n"
    )
    contract = study / "study.toml"
    contract.write_text(contract.read_text().replace("python:judge:check", f"command:{sys.executable} program.py"))
    problems = run_study(study).problems
    assert len(problems) == 8
    assert all(problem.endswith("(exit code 4); it said: last words") for problem in problems)
    for log in (study / "journal").glob("*/attempt-001/checker.log"):
        assert log.read_text().count("first words\nlast words") == 4


def test_a_checker_that_cannot_even_begin_says_why(study):
    (study / "judge.py").write_text("import sys, os\nsys.stderr.write('out of paper\\n')\nos._exit(5)\n")
    with pytest.raises(EnvironmentLacksError, match=r"exit code 5\); it said: out of paper"):
        run_study(study)


def _impatient(study: Path, checker: str, *, again: bool = False) -> CheckSettings:
    found = identify_checker(study, checker, again=again)
    return CheckSettings(found.checker, found.name, found.version, patience=3.0, again=again)


def test_a_checker_that_always_crashes_is_given_up(study):
    write_checker(study, misbehaviour="os.abort()")
    report = run_study(study)
    assert report.left == 0
    assert columns(study)[1] == [VerdictCode.UNCHECKED] * 4
    assert sum(result.unchecked for result in report.results) == 8


@pytest.mark.slow
def test_runs_that_wait_for_verdicts_are_checked_by_the_next_call_and_not_run_again(study):
    write_checker(study, misbehaviour="os.abort()")
    run_study(study)
    before = {path: path.read_bytes() for path in study.glob(f"journal/*/*/{EVENTS_FILE}")}
    write_checker(study)
    report = run_study(study)
    assert report.outcomes == {"skipped": 2}
    assert columns(study)[1] == [1, 0, 1, 0]
    assert {path: path.read_bytes() for path in study.glob(f"journal/*/*/{EVENTS_FILE}")} == before


def test_a_check_that_is_stopped_leaves_the_rest_for_the_next_call(study):
    run_study(study, check=False)
    (attempt,) = study.glob("journal/steady_one*/attempt-001")
    answers = iter([False, False, False, True])
    settings = identify_checker(study, "python:judge:check")
    stopped = check_attempt(study, read_journal(attempt), settings, stopping=lambda: next(answers, True))
    assert (stopped.valid, stopped.invalid, stopped.unchecked) == (1, 1, 2)
    whole = check_attempt(study, read_journal(attempt), settings)
    assert (whole.valid, whole.invalid, whole.unchecked) == (2, 2, 0)


def test_verdicts_of_two_versions_are_kept_apart_and_the_last_whole_one_counts(study):
    run_study(study)
    write_checker(study, version="2", misbehaviour="return 7.0")
    results = check_study(study)
    assert [r.fresh for r in results] == [True, True]
    assert len(list(study.glob("journal/*/*/verdicts-*.jsonl"))) == 4
    assert columns(study)[0] == [7.0] * 4
    campaign = gapline.open(study / "campaign")
    assert campaign.facts["checker"] == "python:judge:check 2"
    assert any("are left out" in note for note in campaign.diagnostics.notes)


@pytest.mark.slow
def test_another_checker_does_not_take_the_study_over_even_under_the_same_name_and_version(make_study):
    program = "import json, sys; print(json.dumps(dict(checker='mine', version='1')), flush=True)\n"
    program += "for line in sys.stdin: print(json.dumps({answer}), flush=True)\n"
    study = make_study(ARMS, seeds=(1,), checker=f"command:{sys.executable} good.py").path
    (study / "good.py").write_text(program.format(answer="dict(valid=True, objective=50.0)"))
    (study / "other.py").write_text(program.format(answer="dict(valid=True, objective=1.0)"))
    run_study(study)
    assert columns(study)[0] == [50.0] * 4
    for again in (False, True):
        results = check_study(study, checker=f"command:{sys.executable} other.py", again=again)
        assert [result.fresh for result in results] == [True, True]
        assert columns(study)[0] == [50.0] * 4
    other = gapline.read(study, checker=f"command:{sys.executable} other.py")
    assert other.objective.tolist() == [1.0] * 8
    assert [r.fresh for r in check_study(study)] == [False, False]
    assert run_study(study).results == []


def test_checking_again_replaces_the_verdicts_of_the_same_version(study):
    run_study(study)
    assert [r.fresh for r in check_study(study)] == [False, False]
    write_checker(study, misbehaviour="return 7.0")
    assert [r.fresh for r in check_study(study, again=True)] == [True, True]
    assert columns(study)[0] == [7.0] * 4
    assert len(list(study.glob("journal/*/*/verdicts-*.jsonl"))) == 2


def test_verdicts_that_were_damaged_wait_and_are_judged_anew(study):
    run_study(study)
    before = columns(study)
    (path,) = study.glob("journal/steady_one*/attempt-001/verdicts-*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"valid":true', b'"valid":false', 1))
    rebuild_campaign(study)
    assert columns(study)[1] == [VerdictCode.UNCHECKED] * 4
    (problem,) = study_status(study).problems
    assert f"{path.name}:2: expected checksum" in problem
    results = check_study(study)
    assert sorted(r.fresh for r in results) == [False, True]
    assert [problem for r in results for problem in r.problems if "judged anew" in problem]
    assert columns(study) == before


def test_candidates_without_a_solution_are_rejected_and_bad_numbers_never_reach_the_checker(make_study):
    study = make_study({"numbers": ["numbers"]}, seeds=(1,), checker="python:judge:check").path
    write_checker(study)
    run_study(study)
    rejected = gapline.open(study / "campaign").diagnostics.rejected
    assert rejected["no solution to check"] == 2
    assert rejected["objective not finite"] == 8
    assert gapline.open(study / "campaign").diagnostics.unchecked == 0


def test_a_checker_that_cannot_be_found_is_found_out_before_anything_runs(make_study):
    study = make_study(ARMS, checker="python:judge:check").path
    with pytest.raises(UsageError, match="cannot import judge"):
        run_study(study)
    assert not (study / "journal").exists()
    write_checker(study)
    (study / "judge.py").write_text("import os; os.abort()")
    with pytest.raises(EnvironmentLacksError, match="signal 6"):
        run_study(study)


def test_another_instance_under_the_same_name_is_not_checked_against(study):
    run_study(study, check=False)
    (study / "instances" / "one.txt").write_text("changed\n")
    results = {result.key.instance: result for result in check_study(study)}
    assert results["one"].unchecked == 4
    assert "expected the instance that was solved" in results["one"].problems[0]
    assert results["two"].unchecked == 0


def test_other_bytes_with_the_same_problem_are_checked_against(study):
    run_study(study, check=False)
    file = study / "instances" / "one.txt"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    results = {result.key.instance: result for result in check_study(study)}
    assert (results["one"].unchecked, results["one"].problems) == (0, ())
    file.unlink()
    again = {result.key.instance: result for result in check_study(study, again=True)}
    assert "got no file at instances/one.txt" in again["one"].problems[0]


def test_we_wait_longer_than_a_checker_waits_for_its_own_program():
    assert PATIENCE > PROGRAM_PATIENCE


@pytest.mark.slow
def test_one_journal_at_a_time_is_in_memory(study, monkeypatch):
    run_study(study)
    held = []

    def judge(*given, **choices):
        gc.collect()
        held.append(sum(isinstance(one, Journal) for one in gc.get_objects()))
        return check_attempt(*given, **choices)

    monkeypatch.setattr(check_run, "check_attempt", judge)
    check_study(study)
    assert held == [1, 1]


def verdict_lines(study):
    """Every verdict file of a study, without the moment at which it was written and what follows from it."""
    found = {}
    for path in sorted(study.glob("journal/*/attempt-*/verdicts-*.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found[str(path.relative_to(study))] = [
            {name: value for name, value in line.items() if name not in ("checked", "crc")} for line in lines
        ]
    return found


@pytest.fixture
def judged(make_study):
    """A study with eight runs that wait for verdicts, and what judging them here gives."""
    made = make_study(ARMS, seeds=(1, 2, 3, 4), checker="python:judge:check").path
    write_checker(made)
    run_study(made, check=False)
    shutil.copytree(made, made.with_name("here"))
    here = check_study(made.with_name("here"))
    assert sum(result.fresh for result in here) == 8
    campaign = gapline.open(made.with_name("here") / "campaign")
    return made, here, verdict_lines(made.with_name("here")), campaign.digest()


@pytest.mark.slow
def test_on_processes_the_verdicts_are_those_of_this_one(judged):
    study, here, lines, digest = judged
    told = []
    assert check_study(study, on="local:2", progress=lambda *now: told.append(now)) == here
    assert verdict_lines(study) == lines
    assert gapline.open(study / "campaign").digest() == digest
    assert (told[0], told[-1]) == ((0, 8), (8, 8))
    # The next call finds them.
    assert not any(result.fresh for result in check_study(study, on="local:1"))


# One candidate of the third seed takes its time, once, and says who judges it.
HOLDING = (
    "(seed, number) == (3, 2) and not os.path.exists('held')"
    " and (open('held', 'w').write(str(os.getppid())), time.sleep(1000))"
)


@pytest.mark.slow
def test_on_dask_whoever_dies_the_verdicts_are_those_of_this_process(judged, scheduler, start_worker, eventually):
    pytest.importorskip("distributed")
    study, here, lines, digest = judged
    write_checker(study, misbehaviour=HOLDING)
    workers = {worker.pid: worker for worker in [start_worker(scheduler) for _ in range(3)]}
    wait_for_workers(scheduler, 3)
    said = study / "held"

    def kill_who_holds():
        eventually(lambda: said.exists() and bool(said.read_text()))
        os.kill(int(said.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill_who_holds)
    killer.start()
    found = check_study(study, on=f"dask:{scheduler}")
    killer.join()
    assert int(said.read_text()) in workers
    # What the lost worker had judged is not judged again.
    assert [replace(result, fresh=True) for result in found] == here
    assert verdict_lines(study) == lines
    assert gapline.open(study / "campaign").digest() == digest
