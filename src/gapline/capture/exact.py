"""Cells of a table that are integers and that a double cannot hold."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.model.exact import EXACT, INTEGER, is_exact, is_rounded


def not_exact(cells: pl.Series) -> NDArray[np.bool_]:
    """Mark the cells, numbers or text, that are integers and that no double holds.

    >>> not_exact(pl.Series(["9007199254740993", "9007199254740992", "9007199254740993.0", None])).tolist()
    [True, False, False, False]
    """
    found = np.zeros(len(cells), np.bool_)
    if cells.dtype == pl.String:
        long = (cells.str.len_bytes() > 15) & cells.str.contains(INTEGER)
        rows = long.fill_null(False).arg_true()
        found[rows.to_numpy()] = [is_rounded(text) for text in cells.gather(rows).to_list()]
    elif cells.dtype.is_integer():
        rows = (cells.cast(pl.Float64).abs() >= EXACT).fill_null(False).arg_true()
        found[rows.to_numpy()] = [not is_exact(number) for number in cells.gather(rows).to_list()]
    elif cells.dtype.is_decimal():
        rows = (cells.cast(pl.Float64).abs() >= EXACT).fill_null(False).arg_true()
        numbers = cells.gather(rows).to_list()
        found[rows.to_numpy()] = [number == int(number) and not is_exact(int(number)) for number in numbers]
    return found
