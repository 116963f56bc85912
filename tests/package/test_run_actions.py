"""Runs and checks as actions: what each run was of, when, how it ended, and who judged it."""

import shutil

import polars as pl
import pytest

import gapline as gl
from crate_folders import stage
from gapline.contract.study_file import load_contract
from gapline.journal.read import read_journal
from gapline.package import run_actions as module
from gapline.package.crate import crate_document
from gapline.package.run_actions import study_actions
from gapline.run.check_run import check_study
from package.conftest import CHECKER
from scripted_studies import plant
from validators import crate_issues

COMPLETED, FAILED = (f"http://schema.org/{word}ActionStatus" for word in ("Completed", "Failed"))


def actions(folder):
    return study_actions(folder, load_contract(folder), [{"@id": "#author/1"}])


def attempt(study, arm, instance):
    (found,) = study.glob(f"journal/{arm}_{instance}_1_*/attempt-001")
    return found


def test_a_run_is_its_arm_on_an_instance_with_its_journal_as_result(bare_study):
    found = actions(bare_study)
    path = attempt(bare_study, "steady", "one")
    journal = read_journal(path)
    run = found.actions[f"#run/{path.parent.name}/attempt-001"]
    assert run["name"] == "steady on one, seed 1"
    assert run["description"] == "Attempt 1, horizon 60 s: finished"
    assert run["object"] == [{"@id": "instances/one.txt"}]
    assert run["result"] == [{"@id": f"{path.relative_to(bare_study).as_posix()}/events.jsonl"}]
    assert run["actionStatus"] == COMPLETED
    assert run["agent"] == [{"@id": "#author/1"}]
    assert run["startTime"][:19] == journal.ending.started[:19]
    assert run["startTime"] <= run["endTime"]
    (program,) = run["instrument"]
    assert program["@id"] == "#arm/steady/1.2"
    assert found.programs["#arm/steady/1.2"]["description"] == "An arm of the study: scripted"
    assert found.programs["#arm/steady/1.2"]["softwareVersion"] == "1.2"
    assert "error" not in run


def test_a_run_that_crashed_failed_and_says_how(bare_study):
    found = actions(bare_study)
    run = found.actions[f"#run/{attempt(bare_study, 'dying', 'one').parent.name}/attempt-001"]
    assert (run["actionStatus"], run["error"]) == (FAILED, "crashed, exit code 3")
    # It died before it said a version: none is invented.
    assert "softwareVersion" not in found.programs["#arm/dying"]


def test_an_attempt_that_was_cut_short_or_superseded_says_so(bare_study):
    first = attempt(bare_study, "steady", "one")
    shutil.copytree(first, first.with_name("attempt-002"))
    plant(first, 9.0, cause="interrupted", error="stopped by the operator")
    shutil.copytree(first.with_name("attempt-002"), first.with_name("attempt-003"))
    found = actions(bare_study).actions
    words = [found[f"#run/{first.parent.name}/attempt-00{n}"] for n in (1, 2, 3)]
    assert [one["actionStatus"] for one in words] == [FAILED, COMPLETED, COMPLETED]
    assert words[0]["error"] == "lost, stopped by the operator"
    assert words[0]["description"] == "Attempt 1, horizon 60 s: not whole, so it is no run"
    assert words[2]["description"].endswith("; another attempt counts")


@pytest.mark.slow
def test_each_checker_is_one_action_on_the_journals_it_judged(bare_study):
    (bare_study / "judge.py").write_text(CHECKER.replace('"3"', '"4"'), encoding="utf-8")
    check_study(bare_study)
    found = actions(bare_study)
    checks = {name: one for name, one in found.actions.items() if name.startswith("#check/")}
    assert sorted(checks) == [
        f"#check/python%3Ajudge%3Acheck/{version}/python%3Ajudge%3Acheck" for version in ("3", "4")
    ]
    for name, check in checks.items():
        version = name.split("/")[2]
        (program,) = check["instrument"]
        assert found.programs[program["@id"]]["softwareVersion"] == version
        # Only candidates with a solution are judged: those of the solver that dies have none.
        assert "8 candidates of" in check["description"]
        assert all(f"-{version}" in one["@id"] for one in check["result"])
        assert len(check["object"]) == len(check["result"])
        assert "startTime" not in check


@pytest.mark.slow
def test_beyond_a_number_of_runs_those_of_an_arm_are_one_action(described_study, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_RUNS", 3)
    folder = stage(described_study, tmp_path / "package")
    found = actions(folder)
    runs = found.actions["#runs/arm/dying"]
    assert runs["description"] == "2 attempts, 2 of which failed"
    assert (runs["object"], runs["result"]) == ([{"@id": "study.toml"}], [{"@id": "journal/"}])
    assert sorted(found.actions) == [
        "#check/python%3Ajudge%3Acheck/3/python%3Ajudge%3Acheck",
        "#runs/arm/dying",
        "#runs/arm/steady/1.2",
    ]
    assert not crate_issues(folder, "required", tmp_path / "required.json")


@pytest.mark.slow
def test_imported_runs_are_one_action_for_each_arm_without_times(described_study, tmp_path):
    """Nobody knows when they were made, and their logs are not in the package."""
    shutil.rmtree(described_study / "journal")
    runs = gl.open(described_study / "campaign").runs
    assert runs.filter(pl.col("arm") == "dying").height == 2
    folder = stage(described_study, tmp_path / "package")
    found = actions(folder)
    assert sorted(found.actions) == ["#runs/arm/dying", "#runs/arm/steady/1.2"]
    assert found.actions["#runs/arm/dying"]["description"] == "2 runs, read from logs that are not in this package"
    assert not {"startTime", "endTime", "actionStatus"} & set(found.actions["#runs/arm/dying"])
    assert found.last is None
    assert not crate_issues(folder, "required", tmp_path / "required.json")


def test_a_study_that_was_not_run_has_no_actions(make_study):
    study = make_study({"steady": ["scripted", "{seed}", "4", "0"]}).path
    assert actions(study).actions == {}
    root = crate_document(study)["@graph"][1]
    assert root["mentions"] == []
