"""Code of the user's own is run only where that was asked for, and two functions never stand under one name."""

import subprocess
import sys

import pytest

from gapline.contract import user_code
from gapline.contract.user_code import code_digests, code_file, load_code, refuse_code
from gapline.errors import MixedScoresError, UsageError


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch):
    """Each test begins as a process does."""
    before = set(sys.modules)
    monkeypatch.setattr(user_code, "_loaded", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder, name="own_gaps", body="def f(z, r):\n    return z - r\n"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(body)
    return folder


def test_a_module_of_the_path_is_imported_by_its_name(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(write(tmp_path)))
    found = load_code("python:own_gaps:f")
    assert found.function(3, 1) == 2
    assert found.path == tmp_path / "own_gaps.py"
    done = subprocess.run(["sha256sum", str(found.path)], capture_output=True, text=True, check=True)
    assert found.digest == "sha256:" + done.stdout.split()[0]
    assert code_digests(["squeezed", "python:own_gaps:f"]) == (("python:own_gaps:f", found.digest),)
    # A compiled copy beside an edited source could run in its place.
    assert not (tmp_path / "__pycache__").exists()


def test_a_folder_is_looked_at_only_where_it_is_given(tmp_path):
    write(tmp_path)
    with pytest.raises(UsageError) as error:
        load_code("python:own_gaps:f")
    assert "No module named 'own_gaps'" in error.value.message
    assert "--allow-code" in error.value.hint
    assert load_code("python:own_gaps:f", folder=tmp_path).path == tmp_path / "own_gaps.py"


def test_the_folder_comes_first_for_the_module_and_last_for_what_it_imports(tmp_path, monkeypatch):
    elsewhere = write(tmp_path / "elsewhere", body="def f():\n    return 'elsewhere'\n")
    monkeypatch.syspath_prepend(str(elsewhere))
    body = "import msgspec, beside\ndef f():\n    return msgspec.__name__ + beside.NAME\n"
    study = write(tmp_path / "study", body=body)
    write(study, "msgspec", "raise SystemExit('the wrong module')\n")
    write(study, "beside", "NAME = ' beside'\n")
    assert load_code("python:own_gaps:f", folder=study).function() == "msgspec beside"


def test_a_package_and_a_module_in_it(tmp_path):
    write(tmp_path / "gaps_pack", "__init__", "")
    write(tmp_path / "gaps_pack", "inner", "def f():\n    return 1\n")
    found = load_code("python:gaps_pack.inner:f", folder=tmp_path)
    assert found.path == tmp_path / "gaps_pack" / "inner.py"
    assert code_file("python:gaps_pack:g", tmp_path) == tmp_path / "gaps_pack" / "__init__.py"
    assert code_file("python:nowhere:g", tmp_path) is None
    assert code_file("squeezed", tmp_path) is None


def test_another_source_under_the_same_name_is_refused(tmp_path):
    one, two = write(tmp_path / "one"), write(tmp_path / "two", body="def f(z, r):\n    return z + r\n")
    same = write(tmp_path / "same")
    first = load_code("python:own_gaps:f", folder=one)
    assert load_code("python:own_gaps:f", folder=same) is first
    with pytest.raises(MixedScoresError) as error:
        load_code("python:own_gaps:f", folder=two)
    assert str(one / "own_gaps.py") in error.value.message
    assert str(two / "own_gaps.py") in error.value.message
    # Another function of the other file would need the same module twice.
    with pytest.raises(UsageError, match="which another one has"):
        load_code("python:own_gaps:g", folder=two)


def test_a_source_that_was_edited_since_is_refused(tmp_path):
    load_code("python:own_gaps:f", folder=write(tmp_path))
    write(tmp_path, body="def f(z, r):\n    return 2 * (z - r)\n")
    with pytest.raises(MixedScoresError, match="expected one source"):
        load_code("python:own_gaps:f", folder=tmp_path)
    with pytest.raises(MixedScoresError, match="expected one source"):
        load_code("python:own_gaps:f")


@pytest.mark.parametrize("name", ["json", "gapline", "numpy"])
def test_no_module_of_a_study_takes_the_place_of_one_that_others_use(tmp_path, name):
    write(tmp_path, name, "raise SystemExit('ran')\n")
    with pytest.raises(UsageError, match="which another one has"):
        load_code(f"python:{name}:f", folder=tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("squeezed", "expected python:MODULE:FUNCTION"),
        ("python:own_gaps:g", "expected a function in own_gaps, got no 'g'"),
        ("python:own_gaps:NUMBER", "got no 'NUMBER'"),
        ("python:broken_gaps:f", "cannot import broken_gaps: ZeroDivisionError: division by zero"),
    ],
)
def test_what_cannot_be_loaded_says_why(tmp_path, name, message):
    write(tmp_path, body="NUMBER = 3\ndef f():\n    pass\n")
    write(tmp_path, "broken_gaps", "1 / 0\n")
    with pytest.raises(UsageError) as error:
        load_code(name, folder=tmp_path)
    assert message in error.value.message
    assert "broken_gaps" not in sys.modules


def test_a_function_without_a_source_is_refused():
    with pytest.raises(UsageError, match="expected a function with a source file"):
        load_code("python:sys:getsizeof")


def test_a_refusal_names_the_code_and_does_not_run_it(tmp_path):
    write(tmp_path, body="raise SystemExit('ran')\n")
    with pytest.raises(UsageError) as error:
        refuse_code(["python:own_gaps:f", "python:installed.pack:g"], tmp_path, where="study.toml: score.kernel")
    assert f"python:own_gaps:f ({tmp_path / 'own_gaps.py'})" in error.value.message
    assert "python:installed.pack:g (of an installed module)" in error.value.message
    assert "own_gaps" not in sys.modules
