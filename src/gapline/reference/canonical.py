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


def content_digest(document: Mapping[str, Any]) -> str:
    """Return "sha256:" + hex of the canonical JSON of a document without `digest` and `created`.

    >>> content_digest({"b": 1, "a": 2.0}) == content_digest({"a": 2, "b": 1.0, "created": "today"})
    True
    """
    covered = {name: value for name, value in document.items() if name not in UNCOVERED}
    try:
        return "sha256:" + hashlib.sha256(rfc8785.dumps(covered)).hexdigest()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise SnapshotError(f"{document.get('name')}: expected content that JSON can hold, got {error}") from error


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
