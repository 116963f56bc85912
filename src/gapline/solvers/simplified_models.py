"""The simplified problems that adapters solve instead of the instance: part of the day, or its mean.

An arm that solves a simplified model is described and not compared, unless its contract states that the model is exact.
"""

from collections.abc import Mapping
from pathlib import Path

from gapline.errors import UsageError

_SLICES = {"min": "least", "mean": "mean", "mid": "midday", "max": "largest"}


def guess_problem(path: Path) -> str:
    """Return the problem that a file name suggests.

    >>> [guess_problem(Path(name)) for name in ("a.vrp.json", "a.vrp", "a.txt")]
    ['tdvrptw', 'cvrp', 'vrptw']
    """
    for suffix, problem in ((".vrp.json", "tdvrptw"), (".vrp", "cvrp"), (".txt", "vrptw")):
        if path.name.endswith(suffix):
            return problem
    raise UsageError(f"{path}: expected .vrp.json, .vrp or .txt, got {path.suffix!r}", hint="set options.problem")


def problem_of(options: Mapping[str, object], path: Path) -> str:
    """Return the problem of an instance: the option `problem`, otherwise what the file name suggests.

    >>> problem_of({"problem": "cvrp"}, Path("a.dat"))
    'cvrp'
    """
    return str(options["problem"]) if "problem" in options else guess_problem(path)


def exact_model(_options: Mapping[str, object], _path: Path) -> str:
    """Return an empty text: the adapter solves every instance as it is."""
    return ""


def static_model_name(options: Mapping[str, object], path: Path) -> str:
    """Return the single value that a static model uses per travel time; empty for instances without a day.

    >>> static_model_name({}, Path("a.vrp.json")), static_model_name({}, Path("a.vrp"))
    ('mean travel times', '')
    """
    which = str(options.get("slice", "mean"))
    return f"{_SLICES.get(which, which)} travel times" if _has_day(options, path) else ""


def sliced_model_name(options: Mapping[str, object], path: Path) -> str:
    """Return the slices of the day between which travel times are interpolated; one slice by default.

    >>> sliced_model_name({"slices": 24}, Path("a.vrp.json")), sliced_model_name({}, Path("a.vrp.json"))
    ('travel times interpolated between 24 slices of the day', 'mean travel times')
    """
    count = options.get("slices", 1)
    if not _has_day(options, path) or count == 1:
        return static_model_name({**options, "slice": "mean"}, path)
    return f"travel times interpolated between {count} slices of the day"


def optional_slices_name(options: Mapping[str, object], path: Path) -> str:
    """Return the slices of the day, or an empty text: by default the adapter takes the true travel times.

    >>> optional_slices_name({}, Path("a.vrp.json"))
    ''
    """
    return sliced_model_name(options, path) if "slices" in options else ""


def _has_day(options: Mapping[str, object], path: Path) -> bool:
    try:
        return problem_of(options, path) == "tdvrptw"
    except UsageError:
        # The adapter itself reports the error in the name.
        return False
