"""What a study lacks here, one line for each arm and for the checker."""

import sys

import pytest

from gapline.cli.doctor import study_lacks
from gapline.errors import ContractError


def test_a_study_that_can_run_lacks_nothing(make_study):
    assert study_lacks(make_study({"a": ["silent"], "b": ["silent"]}).path) == (2, [])


def test_a_program_and_a_checker_that_are_missing_are_a_line_each(make_study):
    path = make_study({"a": ["silent"]}, checker="python:judge:check").path
    contract = path / "study.toml"
    contract.write_text(contract.read_text() + "\n[[arms]]\nname='b'\nsolver='command'\ncommand=['./nowhere']\n")
    count, (arm, checker) = study_lacks(path)
    assert count == 2
    assert arm.startswith("arm b: expected a program, got ")
    assert checker.startswith("checker python:judge:check: ")
    assert "cannot import judge" in checker
    assert "\n" not in checker


def test_a_program_beside_the_contract_is_no_lack(make_study, monkeypatch):
    path = make_study({"a": ["silent"]}).path
    program = path / "mine"
    program.write_text(f"#!{sys.executable}\n")
    program.chmod(0o755)
    contract = path / "study.toml"
    contract.write_text(contract.read_text() + "\n[[arms]]\nname='b'\nsolver='command'\ncommand=['./mine']\n")
    assert study_lacks(path) == (2, [])
    monkeypatch.chdir(path)
    assert study_lacks(".") == (2, [])


def test_an_instance_that_is_not_there_is_a_mistake_of_the_contract(make_study):
    path = make_study({"a": ["silent"]}).path
    (path / "instances" / "one.txt").unlink()
    with pytest.raises(ContractError, match=r"one\.txt"):
        study_lacks(path)
