"""Rows of plain decimals turned into numbers in bulk, correctly rounded, or not at all."""

import numpy as np
from numpy.typing import NDArray

_PLAIN = b"0123456789. \t\r\n"
# With at most 15 digits the digits are a whole number below 2^53 and the power of ten is exact, so that the one
# division rounds as `float` does.
_MOST_DIGITS = 15
_POWERS = 10 ** np.arange(_MOST_DIGITS + 2, dtype=np.int64)


def parse_decimal_rows(block: bytes, *, columns: int) -> NDArray[np.float64] | None:
    r"""Read lines of `columns` unsigned decimals between blanks; None where anything else is in the block.

    >>> parse_decimal_rows(b"7735.6 0.167 0.165\n7700 1.5 1.4\n", columns=3).tolist()
    [[7735.6, 0.167, 0.165], [7700.0, 1.5, 1.4]]
    >>> parse_decimal_rows(b"7735,6 0.167 0.165\n", columns=3) is None
    True
    """
    if block.translate(None, _PLAIN) or not block.endswith(b"\n"):
        return None
    text = np.frombuffer(block, np.uint8)
    solid = text > ord(" ")
    edges = np.flatnonzero(solid[1:] != solid[:-1]) + 1
    if solid[0]:
        edges = np.concatenate(([0], edges))
    starts, ends = edges[::2], edges[1::2]
    lines = np.flatnonzero(text == ord("\n"))
    expected = np.arange(columns, columns * len(lines) + 1, columns)
    if len(starts) != columns * len(lines) or not np.array_equal(np.searchsorted(starts, lines), expected):
        return None
    lengths = ends - starts
    dots = np.flatnonzero(text == ord("."))
    owner = np.searchsorted(starts, dots, side="right") - 1
    decimals = np.zeros(len(starts), np.int64)
    decimals[owner] = ends[owner] - 1 - dots
    digits = lengths.copy()
    digits[owner] -= 1
    if np.any(owner[1:] == owner[:-1]) or digits.min() < 1 or digits.max() > _MOST_DIGITS:
        return None
    # Without its dots the block is digits alone; each stands at a power of ten counted from the end of its number.
    is_digit = solid
    is_digit[dots] = False
    values = text[is_digit].astype(np.int64) - ord("0")
    after = np.cumsum(digits)
    place = np.repeat(after, digits) - 1 - np.arange(len(values))
    whole = np.add.reduceat(values * _POWERS[place], after - digits)
    return (whole / _POWERS[decimals]).reshape(-1, columns)
