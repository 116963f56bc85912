"""User functions, named `python:MODULE:FUNCTION`: loaded once, and identified by the digest of their source.

A name in a file alone imports nothing. Functions that the caller names are imported by Python's own rules; those that
a contract names, and any in a study directory, only if the caller allows the code of the study to run.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from gapline.contract.names import split_python_name
from gapline.errors import MixedScoresError, UsageError, listing
from gapline.files.open_file import read_regular
from gapline.text import meant


@dataclass(frozen=True, slots=True)
class Code:
    """A loaded function: `path` is its source file, `digest` that of the file when it was loaded."""

    name: str
    function: Callable[..., Any]
    path: Path
    digest: str


_loaded: dict[str, Code] = {}
# Functions that were passed as objects; their source file is unknown.
_noted: dict[str, str] = {}


def code_file(name: str, folder: Path | None) -> Path | None:
    """Return the file in a folder that a name refers to, None if there is none; nothing is imported."""
    found = split_python_name(name)
    if found is None or folder is None:
        return None
    place = folder.joinpath(*found[0].split("."))
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


def refuse_code(names: Sequence[str], folder: Path | None, /, *, where: str, option: str = "--kernel") -> None:
    """Refuse to run the code that a contract names, and say which code it is."""
    shown = listing(f"{name} ({code_file(name, folder) or 'of an installed module'})" for name in names)
    raise UsageError(
        f"{where}: expected leave to run the code that it names, got none: {shown}",
        hint=f"read it, then allow it with --allow-code (in Python allow_code=True), or choose another with {option}",
    )


def load_code(name: str, /, *, folder: Path | None = None) -> Code:
    """Import a function; with a folder, MODULE is searched there first, and its own imports there last.

    One name stands for one source in a process: another file of the same name, or one that was edited meanwhile, is
    refused, since scores of two functions must not share a name.
    """
    found = split_python_name(name)
    if found is None:
        raise UsageError(f"code: expected python:MODULE:FUNCTION, got {name!r}")
    module_name, function_name = found
    here = code_file(name, folder)
    if (known := _loaded.get(name)) is not None:
        other = here or known.path
        if (digest := _digest(other)) != known.digest:
            ours = f"{known.path} ({known.digest[:19]}…)"
            raise MixedScoresError(
                f"{name}: expected one source, got {ours} and {other} ({digest[:19]}…)",
                hint="two functions cannot stand under one name: rename one, or start anew after an edit",
            )
        return known
    try:
        with uncompiled():
            if here is not None and folder is not None:
                _load_from(folder, module_name.partition(".")[0])
            module = import_module(module_name)
    except UsageError:
        raise
    except Exception as error:
        lost = isinstance(error, ModuleNotFoundError)
        hint = "put its directory on PYTHONPATH; a module of the study itself needs --allow-code" if lost else None
        raise UsageError(f"{name}: cannot import {module_name}: {type(error).__name__}: {error}", hint=hint) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise UsageError(
            f"{name}: expected a function in {module_name}, got no {function_name!r}",
            hint=meant(function_name, [one for one in vars(module) if not one.startswith("_")]),
        )
    path = _source(function, module)
    if path is None:
        raise UsageError(f"{name}: expected a function with a source file, got one without")
    _loaded[name] = Code(name, function, path, _digest(path))
    return _loaded[name]


@contextmanager
def uncompiled() -> Iterator[None]:
    """Write no bytecode of an import: Python would run it instead of an edited source of the same age and size."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def code_digests(names: Iterable[str], /) -> tuple[tuple[str, str], ...]:
    """Return the digest of each named function that was loaded or passed as an object."""
    known = {name: code.digest for name, code in _loaded.items()} | _noted
    return tuple((name, known[name]) for name in names if name in known)


def note_function(function: Callable[..., Any], name: str | None, /) -> str:
    """Record the digest of a function object; return its name, by default one that contains part of the digest.

    The digest covers source text, defaults and closure; without source (an interactive line), the compiled code.
    """
    code = getattr(function, "__code__", None)
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = repr(function) if code is None else repr((code.co_code, code.co_consts, code.co_names))
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    whole = repr((text, getattr(function, "__defaults__", None), cells))
    digest = "sha256:" + hashlib.sha256(whole.encode()).hexdigest()
    chosen = name or f"{getattr(function, '__name__', type(function).__name__)}@{digest[7:15]}"
    if _noted.setdefault(chosen, digest) != digest:
        raise MixedScoresError(
            f"{chosen}: expected one function under this name, got two",
            hint="scores of two functions must not stand under one name: give this one another",
        )
    return chosen


def _load_from(folder: Path, name: str) -> None:
    """Load a module or package from a folder; it never replaces a loaded module or one of the standard library."""
    spec = PathFinder.find_spec(name, [str(folder)])
    if spec is None or spec.loader is None or spec.origin is None:
        return
    loaded = sys.modules.get(name)
    if loaded is not None or name in sys.stdlib_module_names:
        origin = getattr(loaded, "__file__", None)
        if origin is not None and Path(origin).is_file() and _digest(Path(origin)) == _digest(Path(spec.origin)):
            return
        raise UsageError(
            f"{spec.origin}: expected a module under a name of its own, got {name!r}, which another one has",
            hint="rename the file",
        )
    if str(folder) not in sys.path:
        # Last, so that a file `numpy.py` in the folder does not shadow the package.
        sys.path.append(str(folder))
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _source(function: Callable[..., Any], module: ModuleType) -> Path | None:
    try:
        found = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        # An object with `__call__`, or a compiled function: use the file of its module.
        found = None
    path = found or getattr(module, "__file__", None)
    return Path(path) if path is not None and Path(path).is_file() else None


def _digest(path: Path) -> str:
    return "sha256:" + hashlib.sha256(read_regular(path)).hexdigest()
