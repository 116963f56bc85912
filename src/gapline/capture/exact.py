"""Integers that a double cannot hold: beyond 2^53 one of two becomes the other, and no reader may do that silently."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

INTEGER = r"^[+-]?[0-9]+$"
# Every integer up to here is a double.
EXACT = 2**53


def is_exact(number: int) -> bool:
    """Say whether a double holds an integer as it is.

    >>> is_exact(2**53), is_exact(2**53 + 1), is_exact(2**60), is_exact(10**400)
    (True, False, True, False)
    """
    try:
        return float(number) == number
    except OverflowError:
        return False


def not_exact(cells: pl.Series) -> NDArray[np.bool_]:
    """Mark the cells, numbers or text, that are integers and that no double holds.

    >>> not_exact(pl.Series(["9007199254740993", "9007199254740992", "9007199254740993.0", None])).tolist()
    [True, False, False, False]
    """
    found = np.zeros(len(cells), np.bool_)
    if cells.dtype == pl.String:
        # Fifteen digits are always exact, and nearly all numbers have fewer.
        long = (cells.str.len_bytes() > 15) & cells.str.contains(INTEGER)
        rows = long.fill_null(False).arg_true()
        # What is longer than any double is infinite as one, and refused as that.
        texts = cells.gather(rows).to_list()
        found[rows.to_numpy()] = [len(text) < 300 and not is_exact(int(text)) for text in texts]
    elif cells.dtype.is_integer():
        rows = (cells.cast(pl.Float64).abs() >= EXACT).fill_null(False).arg_true()
        found[rows.to_numpy()] = [not is_exact(number) for number in cells.gather(rows).to_list()]
    elif cells.dtype.is_decimal():
        rows = (cells.cast(pl.Float64).abs() >= EXACT).fill_null(False).arg_true()
        numbers = cells.gather(rows).to_list()
        found[rows.to_numpy()] = [number == int(number) and not is_exact(int(number)) for number in numbers]
    return found
