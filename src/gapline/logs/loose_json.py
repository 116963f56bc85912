"""Tolerant JSON: accepts NaN and Infinity, and is safe against giant integers and deep nesting."""

import json
import math
from collections.abc import Iterator
from typing import Any

from gapline.contract.number_limits import is_rounded
from gapline.logs.reader import LogFile

_MOST = 1 << 20


def decode_json(data: bytes | str) -> Any:
    """Decode a JSON text, or raise ValueError; every number becomes a float, a giant one (1e999) is infinite.

    An integer that a float cannot represent stays text, which no reader accepts as a number.

    >>> decode_json('{"Time": 1, "Incumbent": NaN}')
    {'Time': 1.0, 'Incumbent': nan}
    """
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:
        # `int` takes quadratic time on a long text and refuses more than 4,300 digits; `float` does neither.
        return json.loads(text, parse_int=lambda digits: digits if is_rounded(digits) else float(digits))
    except RecursionError:
        raise ValueError("expected JSON nested as a log is, got thousands of levels") from None


def json_lines(log: LogFile) -> Iterator[tuple[str, str, dict[str, Any] | None, bool]]:
    """Yield place, text, object (or None) and an is-last flag of each line that is not blank.

    A line may contain a whole solution and be far longer than a line of a log; beyond 1 MiB it is not decoded.
    """
    texts = (line for block in log.blocks() for line in block.removesuffix(b"\n").split(b"\n"))
    decoded = ((number, line[:_MOST].decode("utf-8", "replace")) for number, line in enumerate(texts, start=1))
    lines = ((number, line) for number, line in decoded if line.strip())
    following = next(lines, None)
    while following is not None:
        (number, line), following = following, next(lines, None)
        try:
            entry = decode_json(line) if len(line) < _MOST else None
        except ValueError:
            entry = None
        yield f"{log.path}:{number}", line, entry if isinstance(entry, dict) else None, following is None


def as_float(value: object) -> float | None:
    """Return a decoded value as a finite number, or None; true is not a number."""
    # Decoded numbers are floats; tables that replace a JSON index may contain integers.
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if number else None  # type: ignore[arg-type]


def as_cell(value: object) -> float | str | None:
    """Return a decoded value for `EventList.add`: a number, None, or the text to report as wrong."""
    if value is None or isinstance(value, str | float):
        return value
    return f"{type(value).__name__} {str(value)[:40]}"


def as_name(value: object) -> str | None:
    """Return a decoded value as a name: text unchanged, a number in digits."""
    if isinstance(value, str):
        return value[:300] or None
    number = as_float(value)
    return f"{number:.15g}" if number is not None else None
