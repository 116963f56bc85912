"""Find a checker by its name in a contract, or report what is missing for it, without running its code."""

import ast
import shlex
import shutil
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from gapline.checkers.verdict import Checker
from gapline.contract.names import split_python_name
from gapline.errors import UsageError
from gapline.files.open_file import read_regular
from gapline.text import meant

# Each value is a class in a module of `gapline.checkers`.
CHECKERS = {
    "tdvrptw": "tdvrptw.TdvrptwChecker",
    "vrptw": "routing.VrptwChecker",
    "cvrp": "routing.CvrpChecker",
    "mip": "mip.MipChecker",
}


def load_checker(name: str) -> Checker:
    """Return the checker with this name, ready to check.

    Parameters
    ----------
    name
        `tdvrptw`, `vrptw`, `cvrp` or `mip`; `command:PROGRAM [ARGUMENTS]` for a program that speaks JSON lines;
        `python:MODULE:FUNCTION` for a function of an instance path and a solution.

    Raises
    ------
    UsageError
        If there is no such checker.
    EnvironmentLacksError
        If its package or program is missing.
    """
    kind, _, rest = name.partition(":")
    if kind == "command" and rest.strip():
        from gapline.checkers.command import CommandChecker

        return CommandChecker(rest)
    if kind == "python" and rest.strip():
        from gapline.checkers.python import load_python_checker

        return load_python_checker(rest)
    if name in CHECKERS:
        module, _, kind = CHECKERS[name].partition(".")
        made: Checker = getattr(import_module(f"gapline.checkers.{module}"), kind)()
        return made
    raise UsageError(
        f"checker: expected one of {', '.join(CHECKERS)}, command:PROGRAM or python:MODULE:FUNCTION, got {name!r}",
        hint=meant(name, CHECKERS),
    )


def own_checker_lack(name: str, study: Path) -> str | None:
    """Report what a checker that is a program or a function lacks; None if nothing is seen to be missing.

    A program is looked up in the place from which it would be started, a module where it would be imported from. The
    source is read, not run: whether its imports exist and whether it answers is only noticed by `gapline run` and
    `gapline check`.
    """
    kind, _, rest = name.partition(":")
    if kind == "command":
        return _program_lack(rest, study)
    found = split_python_name(name)
    return f"expected python:MODULE:FUNCTION, got {name!r}" if found is None else _function_lack(*found, study)


def _program_lack(command: str, study: Path) -> str | None:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        return str(error)
    if not arguments:
        return f"expected command:PROGRAM [ARGUMENTS], got 'command:{command}'"
    program = arguments[0]
    # A checker starts in the study directory; a name without a slash is looked up on the path.
    if shutil.which(str(study.absolute() / program) if "/" in program else program) is None:
        return f"expected a program, got {program!r}, which is not there or not executable"
    return None


def _function_lack(module: str, function: str, study: Path) -> str | None:
    spec = _spec_of(module, study)
    if spec is None:
        return f"cannot import {module}: it is neither in the study directory nor installed"
    path = Path(spec.origin or "")
    if path.suffix != ".py" or not path.is_file():
        # Compiled or in an archive: its source cannot be read.
        return None
    try:
        tree = ast.parse(read_regular(path))
    except (SyntaxError, ValueError, OSError) as error:
        return f"cannot import {module}: {error}"
    names = _names(tree)
    if function in names or "*" in names or "__getattr__" in names:
        return None
    near = meant(function, [one for one in names if not one.startswith("_")])
    return f"expected a function in {module}, got no {function!r}" + (f"; {near}" if near else "")


def _spec_of(module: str, study: Path) -> ModuleSpec | None:
    """Find a module part by part, as the checker's process would: `find_spec` of a dotted name imports its packages."""
    top, *rest = module.split(".")
    try:
        spec = PathFinder.find_spec(top, [str(study.absolute())]) or find_spec(top)
    except ValueError:
        # A module that is already loaded and has no spec.
        return None
    name = top
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return spec


def _names(tree: ast.AST) -> list[str]:
    """Return every name that a module may bind, including names inside functions: too many rather than too few."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.alias):
            names.append(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
    return names
