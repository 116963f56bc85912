"""Tests mirror the folders of the source: a newcomer finds the tests of a module next to those of its neighbours."""

from pathlib import Path

import gapline

SOURCE, TESTS = Path(gapline.__file__).parent, Path(__file__).parent


def folders(root: Path, pattern: str) -> set[str]:
    return {path.parent.relative_to(root).as_posix() for path in root.rglob(pattern)}


def test_every_folder_of_the_source_has_tests_in_a_folder_of_its_name():
    modules = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    assert {path.parent.relative_to(SOURCE).as_posix() for path in modules} - folders(TESTS, "test_*.py") == set()


def test_no_folder_of_tests_is_left_behind_when_its_source_goes():
    assert folders(TESTS, "test_*.py") - folders(SOURCE, "*.py") == set()
