"""Python functions as checkers."""

import os
import sys

import pytest

from gapline.checkers import CheckerFailure, Verdict, load_checker
from gapline.checkers.python import PythonChecker
from gapline.errors import UsageError
from gapline.testing import CheckerSuite

SOURCE = """
import math

def check(path, solution):
    wanted = float(path.read_text())
    if not isinstance(solution, list) or not all(type(item) is float and math.isfinite(item) for item in solution):
        return "malformed solution: expected a list of numbers"
    if sum(solution) < wanted:
        return f"too little: {sum(solution)} of {wanted}"
    if solution == [99.0]:
        raise RuntimeError("boom")
    if solution == [98.0]:
        return None
    if solution == [97.0]:
        return float("nan")
    return sum(solution)
"""


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sum_checker.py").write_text(SOURCE)
    (tmp_path / "goal.txt").write_text("3")


class TestPython(CheckerSuite):
    checker = "python:sum_checker:check"
    valid = (([1.0, 2.5], 3.5), ([3.0], 3.0))
    invalid = (([1.0], "too little: 1.0 of 3.0"), ({"a": 1}, "malformed"))

    @pytest.fixture
    def instance(self, tmp_path):
        return tmp_path / "goal.txt"

    @pytest.mark.parametrize(("solution", "message"), [([99.0], "boom"), ([98.0], "None"), ([97.0], "nan")])
    def test_a_failure_of_the_function_is_no_verdict(self, loaded, instance, solution, message):
        with pytest.raises(CheckerFailure, match=message):
            loaded.check(instance, solution)

    def test_the_version_follows_the_source(self, loaded):
        assert len(loaded.version) == 12
        assert loaded.name == "python:sum_checker:check"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("python:sum_checker:chekc", "did you mean 'check'"),
        ("python:no_such_module:check", "cannot import no_such_module"),
        ("python:sum_checker", "expected python:MODULE:FUNCTION"),
        ("tdvrtw", "did you mean 'tdvrptw'"),
        ("command:", "got 'command:'"),
    ],
)
def test_what_is_not_there_is_named(name, message):
    with pytest.raises(UsageError, match=message):
        load_checker(name)


def test_a_verdict_may_be_returned_as_it_is():
    checker = PythonChecker("x", lambda _path, _solution: Verdict.reject("no"), "1")
    assert checker.check("i", None) == Verdict.reject("no")


def test_a_checker_that_is_edited_at_once_is_the_one_that_runs(tmp_path, monkeypatch):
    """As long and as old as before: a compiled copy would pass for it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.chdir(tmp_path)
    found = []
    for version in ("3", "4"):
        (tmp_path / "edited_checker.py").write_text(f'__version__ = "{version}"\ncheck = max\n')
        os.utime(tmp_path / "edited_checker.py", (1e9, 1e9))
        monkeypatch.delitem(sys.modules, "edited_checker", raising=False)
        found.append(load_checker("python:edited_checker:check").version)
    assert found == ["3", "4"]
    assert not (tmp_path / "__pycache__").exists()
    assert not sys.dont_write_bytecode
