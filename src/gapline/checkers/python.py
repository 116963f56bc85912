"""Any Python function as a checker: `python:MODULE:FUNCTION`."""

import hashlib
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

from gapline.checkers.verdict import Checker, CheckerFailure, Verdict
from gapline.contract.user_code import uncompiled
from gapline.errors import UsageError
from gapline.files.open_file import read_regular
from gapline.text import meant

Function = Callable[[Path, object], Verdict | float | str]


class PythonChecker:
    """Check through a function of an instance path and a solution.

    The function returns the objective that it computed (the candidate is valid), a text with the reason (it is not), or
    a `Verdict`. Any exception leaves the candidate unchecked.
    """

    def __init__(self, name: str, function: Function, version: str) -> None:
        self.name = name
        self.version = version
        self._function = function

    def check(self, instance: str | Path, solution: object, /) -> Verdict:
        """Return the function's verdict."""
        try:
            found = self._function(Path(instance), solution)
        except CheckerFailure:
            raise
        except Exception as error:
            raise CheckerFailure(f"{self.name}: {type(error).__name__}: {error}") from error
        if isinstance(found, Verdict):
            return found
        if isinstance(found, str) and found.strip():
            return Verdict.reject(found)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return Verdict.accept(found)
        raise CheckerFailure(f"{self.name}: expected an objective, a reason or a Verdict, got {found!r}")


def _load_from(folder: str, name: str) -> None:
    """Load a module from a folder, even if the path has another module of this name."""
    spec = PathFinder.find_spec(name, [folder])
    if spec is None or spec.loader is None or getattr(sys.modules.get(name), "__file__", None) == spec.origin:
        return
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def load_python_checker(target: str) -> Checker:
    """Import `MODULE:FUNCTION`; the current directory is searched first for MODULE, last for its imports."""
    module_name, _, function_name = target.partition(":")
    if not module_name or not function_name:
        raise UsageError(f"checker: expected python:MODULE:FUNCTION, got 'python:{target}'")
    here = str(Path.cwd())
    if here not in sys.path:
        # Last: a file `numpy.py` in the study must not be imported instead of the package.
        sys.path.append(here)
    try:
        with uncompiled():
            _load_from(here, module_name.partition(".")[0])
            module = import_module(module_name)
    except Exception as error:
        raise UsageError(f"checker python:{target}: cannot import {module_name}: {error}") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise UsageError(
            f"checker python:{target}: expected a function in {module_name}, got no {function_name!r}",
            hint=meant(function_name, [name for name in vars(module) if not name.startswith("_")]),
        )
    version = getattr(module, "__version__", None)
    if not isinstance(version, str):
        source = getattr(module, "__file__", None)
        # Without a stated version, use the digest of the source: edited code may give other verdicts.
        version = hashlib.sha256(read_regular(source)).hexdigest()[:12] if source else "unknown"
    return PythonChecker(f"python:{target}", function, version)
