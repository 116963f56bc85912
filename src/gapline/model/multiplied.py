"""Copies of a column in which the candidates of some runs are multiplied: negated objectives, scaled times."""

from typing import Any

import polars as pl

from gapline.model.scratch import scratch_array, spans


def multiplied(column: Any, runs: pl.DataFrame, factors: pl.Series) -> Any:
    """Return a copy of a column with the candidates of each run multiplied by its factor; in a scratch file if large.

    >>> import numpy as np
    >>> runs = pl.DataFrame({"first": [0, 1], "count": [1, 2]})
    >>> multiplied(np.array([1.0, 2.0, 3.0]), runs, pl.Series([1.0, -1.0])).tolist()
    [1.0, -2.0, -3.0]
    """
    out = scratch_array(len(column), column.dtype)
    for part in spans(len(column)):
        out[part] = column[part]
    changed = runs.select("first", "count", factor=factors).filter(pl.col("factor") != 1.0)
    for first, count, factor in changed.iter_rows():
        out[first : first + count] *= factor
    out.flags.writeable = False
    return out
