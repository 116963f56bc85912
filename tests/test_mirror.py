"""Tests mirror the source: a newcomer finds the tests of a module by its name."""

from pathlib import Path

import gapline

SOURCE, TESTS = Path(gapline.__file__).parent, Path(__file__).parent
# Constants alone, which other modules' tests use on every line.
NOTHING_TO_TEST = {"model/version.py"}


def test_every_module_has_a_test_file_of_its_name():
    lacking = []
    for module in sorted(SOURCE.rglob("*.py")):
        path = module.relative_to(SOURCE)
        if path.name == "__init__.py" or path.as_posix() in NOTHING_TO_TEST:
            continue
        # `import` is a keyword, so its module is `import_`.
        if not (TESTS / path.parent / f"test_{path.stem.removesuffix('_')}.py").is_file():
            lacking.append(path.as_posix())
    assert lacking == []
