"""Tests mirror the folders of the source, and a class has a name of its own: a newcomer finds what they look for."""

import ast
from collections import Counter
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


def test_no_two_classes_have_the_same_name():
    """A search for the name of a class finds one, and a message that names it can mean no other."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert {name for name, number in names.items() if number > 1} == set()
