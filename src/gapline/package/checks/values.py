"""Compare two files by their bytes, or by value where another version of a library decided the bytes.

By value, numbers are equal within `WITHIN`, relative to the larger one or to 1, and the text between them is the same.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from gapline.files.open_file import open_regular
from gapline.package.checks.rows import Mismatch
from gapline.text import printable

WITHIN = 1e-12
_BITE = 1 << 20
_SHOWN = 60
_TEXTS = frozenset({".json", ".jsonl", ".csv", ".md", ".tex", ".svg", ".html", ".toml", ".txt"})
# A number on its own: digits inside a digest or a name are text.
_NUMBER = re.compile(r"(?<!sha256:)(?<![\w.])[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?!\w)")
_NO_WORDS: Mapping[str, str] = {}
_POSITION = re.compile(r"\[[0-9]+\]")
# The format of PEP 440: it matches neither a sentence nor a number of a table.
_VERSION = re.compile(
    r"[0-9]+(?:\.[0-9]+)+(?:\.?(?:a|b|rc|post|dev)[0-9]*)*(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?", re.IGNORECASE
)
_LONGEST_VERSION = 60


def byte_difference(expected: Path, got: Path, name: str) -> Mismatch | None:
    """Return the first place where two files differ, a line for texts, otherwise a byte; None if they are the same."""
    with open_regular(expected) as left, open_regular(got) as right:
        place = first_difference(left, right)
        if place is None:
            return None
        if expected.suffix in _TEXTS:
            return _line_difference(left, right, place, name)
        said = [f"0x{data.hex()}" if data else "the end" for data in (_read(one, place, 1) for one in (left, right))]
        return Mismatch(name, f"byte {place:,}: expected {said[0]}, got {said[1]}")


def first_difference(left: BinaryIO, right: BinaryIO) -> int | None:
    """Return how many bytes two streams have in common from here on; None if they are the same to their ends."""
    place = 0
    while True:
        one, other = left.read(_BITE), right.read(_BITE)
        if one != other:
            pairs = enumerate(zip(one, other, strict=False))
            return place + next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
        if not one:
            return None
        place += len(one)


def _read(stream: BinaryIO, place: int, size: int) -> bytes:
    stream.seek(place)
    return stream.read(size)


def _line_difference(left: BinaryIO, right: BinaryIO, place: int, name: str) -> Mismatch:
    """Name the line and the text around the first difference of two texts; a line may be as long as the file."""
    number, start, done = 1, 0, 0
    while done < place:
        piece = _read(left, done, min(_BITE, place - done))
        if (last := piece.rfind(b"\n")) >= 0:
            number, start = number + piece.count(b"\n"), done + last + 1
        done += len(piece)
    begin = max(start, place - _SHOWN // 2)
    expected, got = (_line(_read(stream, begin, _SHOWN + 1)) for stream in (left, right))
    return Mismatch(name, f"expected {expected}, got {got}", number)


def _line(data: bytes) -> str:
    if not data:
        return "the end"
    line = data.split(b"\n")[0]
    return repr(printable(line[:_SHOWN].decode("utf-8", "replace"))) + ("…" if len(line) > _SHOWN else "")


def text_difference(expected: Path, got: Path, name: str, words: Mapping[str, str]) -> Mismatch | None:
    """Return the first line of two texts that differs by value; `words` maps words of `got` to those expected here."""
    with open_regular(expected) as left, open_regular(got) as right:
        for number, pair in enumerate(itertools.zip_longest(left, right), 1):
            lines = [None if line is None else line.decode("utf-8", "replace") for line in pair]
            if None in lines or not same_text(str(lines[0]), str(lines[1]), words):
                said = ["the end" if one is None else repr(printable(one.rstrip("\n")[:_SHOWN])) for one in lines]
                return Mismatch(name, f"expected {said[0]}, got {said[1]}", number)
    return None


def same_text(expected: str, got: str, words: Mapping[str, str]) -> bool:
    """Return whether two texts are the same by value.

    >>> same_text("mean 0.25 of 3", "mean 0.25000000000000006 of 3", {}), same_text("mean 0.25", "mode 0.25", {})
    (True, False)
    """
    if expected == got:
        return True
    for old, new in words.items():
        got = got.replace(old, new)
    if _NUMBER.sub("0", expected) != _NUMBER.sub("0", got):
        return False
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(got), strict=True)
    return all(one == other or same_number(float(one), float(other)) for one, other in pairs)


def same_number(one: float, other: float) -> bool:
    """Return whether two numbers are equal within `WITHIN`."""
    # Two texts that both overflow to infinity need not be the same number.
    return math.isfinite(one) and math.isclose(one, other, rel_tol=WITHIN, abs_tol=WITHIN)


def value_differences(
    expected: Any, got: Any, words: Mapping[str, str] = _NO_WORDS, *, at: str = "", alone: dict[str, int] | None = None
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the places where two JSON values differ by value, with both values.

    A key that only one of them has is a difference. With `alone`, its place is noted there instead, with the count of
    numbers that `got` has under it.

    >>> list(value_differences({"a": [1.0, 2]}, {"a": [1.0, 3]}))
    [('a[1]', 2, 3)]
    >>> alone = {}
    >>> list(value_differences({"a": 1, "b": [{"c": 2}]}, {"a": 1, "b": [{"c": 2, "d": 5}]}, alone=alone)), alone
    ([], {'b[].d': 1})
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        lone = expected.keys() ^ got.keys()
        if alone is not None:
            for name in (name for name in (*expected, *got) if name in lone):
                # Rows of a table lack the same keys: name each key once.
                place = _POSITION.sub("[]", _place(at, name))
                alone[place] = alone.get(place, 0) + count_numbers(got.get(name))
        for name in dict.fromkeys((*expected, *got)):
            if name not in lone:
                yield from value_differences(expected[name], got[name], words, at=_place(at, name), alone=alone)
            elif alone is None:
                yield _place(at, name), expected.get(name, "nothing"), got.get(name, "nothing")
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for number, (one, other) in enumerate(zip(expected, got, strict=True)):
            yield from value_differences(one, other, words, at=f"{at}[{number}]", alone=alone)
    elif not _same_value(expected, got, words):
        yield at, expected, got


def _same_value(expected: Any, got: Any, words: Mapping[str, str]) -> bool:
    if isinstance(expected, str) and isinstance(got, str):
        return same_text(expected, got, words)
    if is_number(expected) and is_number(got):
        return same_number(expected, got)
    return bool(expected == got) and isinstance(expected, bool) is isinstance(got, bool)


def count_numbers(value: Any) -> int:
    """Return the count of numbers in a JSON value."""
    if isinstance(value, dict | list):
        return sum(map(count_numbers, value.values() if isinstance(value, dict) else value))
    return int(is_number(value))


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def well_formed(versions: Mapping[str, str]) -> dict[str, str]:
    """Return the versions that have the format of a library version, or say that the library is missing."""
    return {
        name: text
        for name, text in versions.items()
        if text == "missing" or (len(text) <= _LONGEST_VERSION and _VERSION.fullmatch(text) is not None)
    }


def version_mistakes(versions: Mapping[str, str], member: str) -> list[Mismatch]:
    """Report versions that are not well-formed, and a missing version of gapline.

    Before texts are compared, our version replaces that of another gapline, so it must not be an arbitrary text.
    """
    known = well_formed(versions)
    said = [
        f"versions.{name}: expected a version such as 1.2.3, got {printable(text)!r:.120}"
        for name, text in versions.items()
        # A library may have been missing where the report was written, but gapline was not.
        if name not in known or (name, text) == ("gapline", "missing")
    ]
    if "gapline" not in versions:
        said.append("versions: expected the version of gapline, got none")
    return [Mismatch(member, one) for one in said]


def _place(at: str, name: str) -> str:
    return f"{at}.{name}" if at else str(name)
