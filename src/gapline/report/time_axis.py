"""The time axis of every curve: linear from 0 on, or logarithmic from a first moment on (`scoring/moments.py`).

What holds at the beginning of a logarithmic one is drawn from there: a run that is feasible at time 0 with its gap, one
that has no incumbent yet with the value of its kernel before the first one.
"""

import polars as pl


def drawn_from(data: pl.DataFrame, start: float | None, *by: str) -> pl.DataFrame:
    """Let step curves begin with an axis: of the rows before, the last of each series stands at its beginning.

    >>> steps = pl.DataFrame({"series": ["a"] * 3, "time": [0.0, 0.5, 4.0], "value": [1.0, 0.5, 0.2]})
    >>> drawn_from(steps, 1.0, "series").rows()
    [('a', 1.0, 0.5), ('a', 4.0, 0.2)]
    """
    if start is None:
        return data
    return data.with_columns(pl.col("time").clip(lower_bound=start)).unique(
        [*by, "time"], keep="last", maintain_order=True
    )


def log_words(start: float | None, unit: str) -> str:
    """Say in a caption where a logarithmic axis begins; empty for a linear one."""
    if start is None:
        return ""
    return f"; logarithmic time from {start:.3g} {unit} on, what holds there is drawn from there"
