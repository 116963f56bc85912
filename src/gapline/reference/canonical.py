"""The bytes that a digest is taken of: canonical JSON (RFC 8785), the same on every platform and day."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import rfc8785

from gapline.errors import SnapshotError

# Beyond this an integer is not one double, and RFC 8785 numbers are doubles.
EXACT = 2**53 - 1
# The digest cannot cover itself; the day of writing is not content.
UNCOVERED = ("digest", "created")


def content_digest(document: Mapping[str, Any], *, where: str = "") -> str:
    """Return "sha256:" + hex of the canonical JSON of a document without `digest` and `created`.

    >>> content_digest({"b": 1, "a": 2.0}) == content_digest({"a": 2, "b": 1.0, "created": "today"})
    True
    """
    covered = {name: value for name, value in document.items() if name not in UNCOVERED}
    try:
        return "sha256:" + hashlib.sha256(canonical_json(covered)).hexdigest()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise SnapshotError(
            f"{where or document.get('name')}: expected content that JSON can hold, got {error}"
        ) from error


def canonical_json(value: Any) -> bytes:
    """Return the canonical JSON of a value.

    Most documents hold only what the C encoder of `json` writes as RFC 8785 wants it, at a sixth of the time; the rest
    goes through `rfc8785` itself.
    """
    try:
        simple = _simplify(value)
    except ValueError:
        return rfc8785.dumps(value)
    return json.dumps(simple, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode("utf-8")


def _simplify(value: Any) -> Any:
    """Return a value that `json` writes in canonical form; ValueError where it would not."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    # RFC 8785 sorts by UTF-16 units, Python by code points: the same below the surrogates.
    if kind is dict and all(type(name) is str and (name.isascii() or max(name) < "\ud800") for name in value):
        return {name: _simplify(inner) for name, inner in value.items()}
    if kind is list:
        return [_simplify(inner) for inner in value]
    if kind in (int, float) and abs(value) <= EXACT and value == int(value):
        return int(value)
    # In this range Python and ECMAScript write the same shortest digits, and neither uses an exponent.
    if kind is float and 1e-4 <= abs(value) <= EXACT:
        return value
    raise ValueError(kind)


def parse_document(text: str | bytes, where: str) -> dict[str, Any]:
    """Parse a JSON object; a key that stands twice is refused, for readers disagree on which one counts."""
    try:
        document = json.loads(
            text,
            object_pairs_hook=lambda pairs: _unique(pairs, where),
            parse_int=_as_number,
            parse_constant=lambda name: _refuse_constant(name, where),
        )
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"{where}: expected JSON, got {error}") from error
    if not isinstance(document, dict):
        raise SnapshotError(f"{where}: expected a JSON object, got {type(document).__name__}")
    return document


def _unique(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        seen: set[str] = set()
        twins = [name for name, _ in pairs if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        raise SnapshotError(f"{where}: expected each key once, got {', '.join(map(repr, twins))} again")
    return document


def _as_number(digits: str) -> int | float:
    number = int(digits) if len(digits) < 20 else float(digits)
    return number if abs(number) <= EXACT else float(number)


def _refuse_constant(name: str, where: str) -> None:
    raise SnapshotError(f"{where}: expected finite numbers, got {name}")
