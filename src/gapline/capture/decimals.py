"""Rows of plain decimals turned into numbers in bulk, or not at all."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def parse_decimal_rows(block: bytes, *, columns: int, wanted: Sequence[int]) -> list[NDArray[np.float64]] | None:
    r"""Read lines of unsigned decimals with one blank between them: some of the columns, or None where a line is odd.

    >>> block = b"7735.6 0.167 0.165\n7700 1.5 1.4\n"
    >>> [column.tolist() for column in parse_decimal_rows(block, columns=3, wanted=[0, 2])]
    [[7735.6, 7700.0], [0.165, 1.4]]
    >>> parse_decimal_rows(b"7735,6 0.167 0.165\n", columns=3, wanted=[0]) is None
    True
    """
    # Without digits and points the separators are left, in every line the same: then no line has too many cells, and
    # where there are as many as lines can hold, none has too few.
    shape = block.translate(None, b"0123456789.")
    line = shape[: shape.find(b"\n") + 1]
    rows, blanks = shape.count(b"\n"), line.removesuffix(b"\n").removesuffix(b"\r")
    if not line or len(blanks) != columns - 1 or blanks.strip(b" \t") or shape != line * rows:
        return None
    # As text: `float` is slower on bytes.
    cells = block.decode("ascii").split()
    if len(cells) != columns * rows or not block.endswith(b"\n"):
        return None
    try:
        return [np.fromiter(map(float, cells[place::columns]), np.float64, rows) for place in wanted]
    except ValueError:
        return None
