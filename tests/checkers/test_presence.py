"""A checker is looked for without running it: what is missing is said, what is there is not started."""

import sys

import pytest

from gapline.checkers.load import own_checker_lack

MODULE = """import pathlib, no_such_package_at_all
pathlib.Path(__file__).with_name("it-ran").write_text("it did")

def check(instance, solution):
    return 1.0

also = check
"""


@pytest.fixture
def study(tmp_path):
    package = tmp_path / "deep" / "er"
    package.mkdir(parents=True)
    (tmp_path / "judge.py").write_text(MODULE)
    (tmp_path / "deep" / "__init__.py").write_text(MODULE)
    (package / "__init__.py").write_text("from .inner import *\n")
    (package / "inner.py").write_text(MODULE)
    (tmp_path / "wrong.py").write_text("def check(:\n")
    program = tmp_path / "program"
    program.write_text(f"#!{sys.executable}\n" + MODULE)
    program.chmod(0o755)
    (tmp_path / "plain").write_text("no program")
    yield tmp_path
    assert list(tmp_path.rglob("it-ran")) == []
    assert list(tmp_path.rglob("__pycache__")) == []
    assert not {"judge", "deep"} & set(sys.modules)


@pytest.mark.parametrize(
    "name",
    [
        "python:judge:check",
        "python:judge:also",
        "python:deep.er.inner:check",
        "python:deep.er:anything",  # a star import: it cannot be known
        "python:json:dumps",
        "python:math:sqrt",
        "command:./program --fast",
        "command:sh -c 'exit 1'",
    ],
)
def test_what_is_there_lacks_nothing(study, name):
    assert own_checker_lack(name, study) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("python:nobody:check", "cannot import nobody: it is neither in the study directory nor installed"),
        ("python:deep.no:check", "cannot import deep.no: "),
        ("python:judge.no:check", "cannot import judge.no: "),
        ("python:wrong:check", "cannot import wrong: "),
        ("python:judge:chekc", "expected a function in judge, got no 'chekc'; did you mean 'check'?"),
        ("python:judge", "expected python:MODULE:FUNCTION, got 'python:judge'"),
        ("command:./plain", "expected a program, got './plain', which is not there or not executable"),
        ("command:no-such-program", "expected a program, got 'no-such-program'"),
        ("command: ", "expected command:PROGRAM"),
        ("command:'x", "No closing quotation"),
    ],
)
def test_what_is_missing_is_said(study, name, words):
    assert words in own_checker_lack(name, study)


def test_a_module_beside_the_user_is_not_one_of_the_study(study, tmp_path, monkeypatch):
    monkeypatch.chdir(study)
    other = tmp_path / "other"
    other.mkdir()
    assert own_checker_lack("command:./program", other) is not None
    assert own_checker_lack("python:judge:check", other) is not None
