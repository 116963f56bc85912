"""Argument checks at the public interface, so that a mistake gets our message and not one of Python's."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any, TypeVar

from gapline.contract.result_table import Shown
from gapline.errors import UsageError

Kind = TypeVar("Kind")

# The call that converts what a caller has into what a function takes; by class name, so that nothing is imported.
_FROM_TRACES = "gl.build_envelopes(gl.read(…))"
_WAYS = {
    ("Campaign", "traces"): "gl.read(…)",
    ("Envelopes", "Campaign"): "gl.build_envelopes(campaign)",
    ("Envelopes", "traces"): _FROM_TRACES,
    ("Envelopes", "Study"): "study.envelopes",
    ("Scores", "Envelopes"): "gl.score(envelopes, references)",
    ("Scores", "Campaign"): "gl.score(gl.build_envelopes(campaign), references)",
    ("Scores", "traces"): f"gl.score({_FROM_TRACES}, references)",
    ("Scores", "Study"): "study.scores[0]",
    ("Study", "traces"): "gl.open_study(…, references=…)",
    ("Study", "Campaign"): "gl.open_study(campaign, references=…)",
    ("Study", "Envelopes"): "gl.open_study(campaign, references=…), which builds the envelopes",
    ("Campaign", "Study"): "study.campaign",
    ("Snapshot", "Study"): "study.snapshot",
}
_TRACES = ("str", "PosixPath", "WindowsPath", "DataFrame", "LazyFrame", "Table", "list", "tuple")


def expect(value: Any, kind: type[Kind], what: str) -> Kind:
    """Return a value if it is of the expected kind.

    Raises
    ------
    UsageError
        Names the expected class, the given one, and the call that converts one into the other.

    >>> expect("runs.csv", dict, "score")
    Traceback (most recent call last):
    gapline.errors.UsageError: score: expected dict, got str
    """
    if isinstance(value, kind):
        return value
    got = "nothing" if value is None else type(value).__name__
    origin = "traces" if got in _TRACES else got
    raise UsageError(f"{what}: expected {kind.__name__}, got {got}", hint=_WAYS.get((kind.__name__, origin)))


def several(given: Any) -> list[Any]:
    """Return an argument, which may be one value or several, as a list.

    >>> several("squeezed"), several(["raw"]), several(0.01), several({"i": 10.0})
    (['squeezed'], ['raw'], [0.01], [{'i': 10.0}])
    """
    # A snapshot can be iterated too, over its fields.
    single = isinstance(given, str | bytes | PurePath | Mapping | Shown)
    return list(given) if isinstance(given, Iterable) and not single else [given]
