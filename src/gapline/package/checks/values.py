"""Two files compared: by their bytes, or by value where another version of a library decided the bytes.

By value means: numbers are equal within `WITHIN`, of the larger one or of 1, and the text between them is the same.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from gapline.files.open_file import open_regular
from gapline.package.checks.rows import Difference
from gapline.text import printable

WITHIN = 1e-12
_BITE = 1 << 20
_SHOWN = 60
_TEXTS = frozenset({".json", ".jsonl", ".csv", ".md", ".tex", ".svg", ".html", ".toml", ".txt"})
# A number by itself: digits inside a digest or a name are text.
_NUMBER = re.compile(r"(?<!sha256:)(?<![\w.])[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?!\w)")


def byte_difference(expected: Path, got: Path, name: str) -> Difference | None:
    """Return the first place where two files differ: a line of texts, else a byte; None where they are the same."""
    with open_regular(expected) as left, open_regular(got) as right:
        place = _first_place(left, right)
        if place is None:
            return None
        if expected.suffix not in _TEXTS:
            left.seek(place)
            right.seek(place)
            one, other = left.read(1), right.read(1)
            said = f"byte {place:,}: expected {_byte(one)}, got {_byte(other)}"
            return Difference(name, said)
        return _line_difference(left, right, place, name)


def _first_place(left: BinaryIO, right: BinaryIO) -> int | None:
    place = 0
    while True:
        one, other = left.read(_BITE), right.read(_BITE)
        if one != other:
            same = next(
                (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
            )
            return place + same
        if not one:
            return None
        place += len(one)


def _byte(data: bytes) -> str:
    return f"0x{data.hex()}" if data else "the end"


def _line_difference(left: BinaryIO, right: BinaryIO, place: int, name: str) -> Difference:
    """Name line and text around the first place at which two texts differ; a line may be as long as the file."""
    number, start, done = 1, 0, 0
    left.seek(0)
    while done < place:
        piece = left.read(min(_BITE, place - done))
        if (last := piece.rfind(b"\n")) >= 0:
            number, start = number + piece.count(b"\n"), done + last + 1
        done += len(piece)
    begin = max(start, place - _SHOWN // 2)
    expected, got = (_around(stream, begin) for stream in (left, right))
    return Difference(name, f"expected {expected}, got {got}", number)


def _around(stream: BinaryIO, begin: int) -> str:
    stream.seek(begin)
    data = stream.read(_SHOWN + 1)
    if not data:
        return "the end"
    line = data.split(b"\n")[0]
    return repr(printable(line[:_SHOWN].decode("utf-8", "replace"))) + ("…" if len(line) > _SHOWN else "")


def text_difference(expected: Path, got: Path, name: str, words: Mapping[str, str]) -> Difference | None:
    """Return the first line of two texts that differs by value; `words` of what is got stand for others here."""
    with open_regular(expected) as left, open_regular(got) as right:
        for number, (one, other) in enumerate(itertools.zip_longest(left, right), 1):
            if one == other:
                continue
            if one is None or other is None:
                shown = [repr(printable(line[:_SHOWN])) if line is not None else "the end" for line in (one, other)]
                return Difference(name, f"expected {shown[0]}, got {shown[1]}", number)
            here, there = one.decode("utf-8", "replace"), other.decode("utf-8", "replace")
            if not same_text(here, there, words):
                shown = [repr(printable(line.rstrip("\n")[:_SHOWN])) for line in (here, there)]
                return Difference(name, f"expected {shown[0]}, got {shown[1]}", number)
    return None


def same_text(expected: str, got: str, words: Mapping[str, str]) -> bool:
    """Say whether two texts are the same by value.

    >>> same_text("mean 0.25 of 3", "mean 0.25000000000000006 of 3", {}), same_text("mean 0.25", "mode 0.25", {})
    (True, False)
    """
    for old, new in words.items():
        got = got.replace(old, new)
    if expected == got:
        return True
    if _NUMBER.sub("0", expected) != _NUMBER.sub("0", got):
        return False
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(got), strict=True)
    return all(one == other or same_number(float(one), float(other)) for one, other in pairs)


def same_number(one: float, other: float) -> bool:
    """Say whether two numbers are equal within `WITHIN`."""
    # Two texts that are too large for a number are not therefore the same.
    return math.isfinite(one) and math.isclose(one, other, rel_tol=WITHIN, abs_tol=WITHIN)


def value_differences(
    expected: Any, got: Any, words: Mapping[str, str], *, at: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Yield where two JSON values differ by value, with both.

    >>> list(value_differences({"a": [1.0, 2]}, {"a": [1.0, 3]}, {}))
    [('a[1]', 2, 3)]
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        for name in dict.fromkeys((*expected, *got)):
            place = _place(at, name)
            if name in expected and name in got:
                yield from value_differences(expected[name], got[name], words, at=place)
            else:
                yield place, expected.get(name, "nothing"), got.get(name, "nothing")
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for number, (one, other) in enumerate(zip(expected, got, strict=True)):
            yield from value_differences(one, other, words, at=f"{at}[{number}]")
    elif isinstance(expected, str) and isinstance(got, str):
        if not same_text(expected, got, words):
            yield at, expected, got
    elif _is_number(expected) and _is_number(got):
        if not same_number(expected, got):
            yield at, expected, got
    elif expected != got or isinstance(expected, bool) is not isinstance(got, bool):
        yield at, expected, got


def common_part(expected: Any, got: Any, *, at: str = "") -> tuple[Any, Any, list[str]]:
    """Return two JSON values without the keys that only one of them has, and the places of these keys.

    >>> common_part({"a": 1, "b": [{"c": 2}]}, {"a": 3, "b": [{"c": 4, "d": 5}]})
    ({'a': 1, 'b': [{'c': 2}]}, {'a': 3, 'b': [{'c': 4}]}, ['b[].d'])
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        parts = {name: common_part(expected[name], got[name], at=_place(at, name)) for name in expected if name in got}
        alone = [_place(at, name) for name in (*expected, *got) if name not in parts]
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        # Rows of a table lack the same keys: they are named once.
        rows = [common_part(one, other, at=f"{at}[]") for one, other in zip(expected, got, strict=True)]
        alone = list(dict.fromkeys(place for row in rows for place in row[2]))
        return [row[0] for row in rows], [row[1] for row in rows], alone
    else:
        return expected, got, []
    alone += [place for part in parts.values() for place in part[2]]
    return {name: part[0] for name, part in parts.items()}, {name: part[1] for name, part in parts.items()}, alone


def count_numbers(value: Any) -> int:
    """Return how many numbers a JSON value holds."""
    if isinstance(value, dict | list):
        return sum(map(count_numbers, value.values() if isinstance(value, dict) else value))
    return int(_is_number(value))


def _place(at: str, name: str) -> str:
    return f"{at}.{name}" if at else str(name)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
