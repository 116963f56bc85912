"""The instance that was read last is kept as long as its file stays as it is."""

import pytest

from gapline.checkers.verdict import CheckerFailure, LastInstance


def test_a_file_is_read_once_and_again_when_it_changes_or_another_came_between(tmp_path):
    reads = []

    def read(path):
        reads.append(path.name)
        return path.read_text()

    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("two")
    last = LastInstance(read)
    assert [last.get(tmp_path / name) for name in "aaba"] == ["one", "one", "two", "one"]
    assert reads == ["a", "b", "a"]
    (tmp_path / "a").write_text("longer")
    assert last.get(str(tmp_path / "a")) == "longer"


def test_what_cannot_be_read_is_the_checkers_failure_and_is_tried_again(tmp_path):
    def read(path):
        return int(path.read_text())

    last = LastInstance(read)
    with pytest.raises(CheckerFailure, match=r"no: expected an instance that can be read, got .*No such file"):
        last.get(tmp_path / "no")
    (tmp_path / "n").write_text("x")
    with pytest.raises(CheckerFailure, match="invalid literal"):
        last.get(tmp_path / "n")
    (tmp_path / "n").write_text("17")
    assert last.get(tmp_path / "n") == 17
