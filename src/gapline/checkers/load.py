"""Find a checker by the name that a contract gives it."""

from importlib import import_module

from gapline.checkers.verdict import Checker
from gapline.errors import UsageError
from gapline.text import meant

# Each name is a class in a module of `gapline.checkers`.
CHECKERS = {
    "tdvrptw": "tdvrptw.TdvrptwChecker",
    "vrptw": "routing.VrptwChecker",
    "cvrp": "routing.CvrpChecker",
    "mip": "mip.MipChecker",
}


def load_checker(name: str) -> Checker:
    """Return the checker of that name, ready to check.

    Parameters
    ----------
    name
        `tdvrptw`, `vrptw`, `cvrp` or `mip`; `command:PROGRAM [ARGUMENTS]` for a program that speaks JSON lines;
        `python:MODULE:FUNCTION` for a function of an instance path and a solution.

    Raises
    ------
    UsageError
        When there is no such checker.
    EnvironmentLacksError
        When its package or program is missing.
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
