"""A new study is there as a whole or not at all."""

import pytest

from gapline.errors import UsageError
from gapline.generate.study import new_study


def fill(study, more="study.toml"):
    (study / "instances").mkdir()
    (study / "instances/a").write_text("a")
    (study / more).write_text("contract")


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_study_comes_beside_what_is_there(tmp_path):
    (tmp_path / "README.md").write_text("mine")
    with new_study(tmp_path) as study:
        fill(study)
        assert "study.toml" not in entries(tmp_path)
    assert entries(tmp_path) == ["README.md", "instances", "study.toml"]
    with pytest.raises(UsageError, match=r"expected a directory without study\.toml"), new_study(tmp_path):
        pytest.fail("it was to be refused before anything is written")


def test_a_failure_leaves_nothing_not_even_the_folders(tmp_path):
    with pytest.raises(FileNotFoundError), new_study(tmp_path / "a" / "b") as study:
        fill(study, "nowhere/study.toml")
    assert entries(tmp_path) == []


def test_files_of_the_same_name_are_never_replaced(tmp_path):
    (tmp_path / "instances").mkdir()
    (tmp_path / "instances/b").write_text("b")
    refused = pytest.raises(UsageError, match="expected a directory without instances, got one with it")
    with refused, new_study(tmp_path) as study:
        fill(study)
    assert entries(tmp_path) == ["instances"]
    assert entries(tmp_path / "instances") == ["b"]


def test_a_move_that_fails_is_taken_back(tmp_path, monkeypatch):
    from pathlib import Path

    rename = Path.rename

    def failing(path, target):
        if path.name == "study.toml":
            raise OSError(28, "No space left on device", str(target))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="No space left"), new_study(tmp_path / "s") as study:
        fill(study)
    assert entries(tmp_path) == []
