"""Results that say other numbers than the journals do: whoever packs would publish two answers."""

import json
import math
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gapline.errors import GaplineError
from gapline.model.layout import RESULTS
from gapline.model.limits import read_document

RESULTS_FILE = "results.json"
# Words, digests and versions differ where a host got another name, or another gapline wrote them; numbers do not.
_NO_NUMBERS = frozenset(
    ("schema", "title", "versions", "campaign", "headline", "reading", "facts", "methods", "files", "derived", "notes")
)
# Of numbers that were printed and read again, or summed by another version of a library.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


def refuse_stale_results(study: Path, folder: Path) -> None:
    """Refuse a study whose `results/` differ in a number from those in a folder, which were written just now.

    Raises
    ------
    GaplineError
        With the first number that differs and the command that renews the results.
    """
    path = study / RESULTS / RESULTS_FILE
    try:
        old = json.loads(read_document(path))
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError) as error:
        raise GaplineError(f"{path}: expected results, got {error}", hint=_renew(study)) from error
    new = json.loads(read_document(folder / RESULTS / RESULTS_FILE))
    if (found := next(differing_numbers(old, new), None)) is not None:
        place, was, now = found
        raise GaplineError(
            f"{path}: expected the numbers that follow from what is packed, got another one: {place} is {was!r} "
            f"there and {now!r} now",
            hint=_renew(study),
        )


def _renew(study: Path) -> str:
    return f"renew them: gapline report {shlex.quote(str(study))}"


def differing_numbers(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield each number that differs, with its place; what only one side has is another thing, and is no number.

    >>> list(differing_numbers({"a": [1.0, 2.0], "b": 1}, {"a": [1.0, 2.5], "c": 1}))
    [('a[1]', 2.0, 2.5)]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in (name for name in old if name in new and (place or name not in _NO_NUMBERS) and name != "notes"):
            yield from differing_numbers(old[name], new[name], f"{place}.{name}" if place else str(name))
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"number of {place}", len(old), len(new)
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from differing_numbers(one, other, f"{place}[{number}]")
    elif _is_number(old) or _is_number(new):
        same = _is_number(old) and _is_number(new) and math.isclose(old, new, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
        if not same:
            yield place, old, new


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
