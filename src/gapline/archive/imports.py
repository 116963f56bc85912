"""Which modules of a study its Python files import: found by reading them, nothing is run."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from gapline.archive.left_out import is_hidden
from gapline.model.limits import read_document


def with_imports(files: Iterable[Path], folder: Path) -> set[Path]:
    """Return Python files of a folder and those of it that they import, directly or through each other.

    A module is looked for beside the file that imports it and in the folder itself, as Python does for a program and
    for code that is loaded from a study; of a package all modules are taken.
    """
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        if file.name == "__init__.py":
            waiting += (path for path in file.parent.rglob("*.py") if not is_hidden(path.relative_to(folder)))
        if file.suffix == ".py":
            waiting += [there for name in _imported(file) for there in _places(name, file, folder)]
    return found


def _imported(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(read_document(file))
    except (OSError, SyntaxError, ValueError, RecursionError):
        # Whatever it is, no Python of ours reads it.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ([node.module] if node.module else [alias.name for alias in node.names])


def _places(name: str, file: Path, folder: Path) -> Iterator[Path]:
    first, *rest = name.split(".")
    for parent in dict.fromkeys((file.parent, folder)):
        for place in (
            parent / first / "__init__.py",
            parent.joinpath(first, *rest).with_suffix(".py"),
            parent / f"{first}.py",
        ):
            if place.is_file() and place.is_relative_to(folder):
                yield place
