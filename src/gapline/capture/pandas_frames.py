"""Frames of pandas, read column by column: Polars and pandas need pyarrow to exchange text and missing cells."""

from typing import Any

import numpy as np
import polars as pl

from gapline.errors import TraceError, listing


def is_pandas(source: object) -> bool:
    """Say whether something is a frame of pandas, which is not imported for that."""
    return any(f"{one.__module__}.{one.__name__}".startswith("pandas.") for one in type(source).__mro__) and hasattr(
        source, "columns"
    )


def frame_of_pandas(frame: Any) -> pl.DataFrame:
    """Return the columns of a frame of pandas without its index; cells of several types become text."""
    names = [str(name) for name in frame.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TraceError(f"frame: expected each column once, got {listing(twice)} more than once")
    return pl.DataFrame([_column(name, frame.iloc[:, place]) for place, name in enumerate(names)])


def _column(name: str, cells: Any) -> pl.Series:
    kind, is_plain = cells.dtype.kind, isinstance(cells.dtype, np.dtype)
    if kind == "M" and not is_plain:
        return _moments(name, cells.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()).dt.replace_time_zone("UTC")
    if is_plain and kind in "mM":
        return _moments(name, cells.to_numpy())
    if is_plain and kind == "f":
        # NaN is how pandas writes that there is none.
        return pl.Series(name, cells.to_numpy(np.float64)).fill_nan(None)
    if is_plain and kind in "biu":
        return pl.Series(name, cells.to_numpy())
    missing = cells.isna().tolist()
    values = [None if none else value for value, none in zip(cells.tolist(), missing, strict=True)]
    try:
        return pl.Series(name, values)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


def _moments(name: str, values: Any) -> pl.Series:
    """Return dates or durations; Polars has no seconds."""
    unit = np.datetime_data(values.dtype)[0]
    return pl.Series(name, values if unit in ("ms", "us", "ns") else values.astype(f"{values.dtype.kind}8[us]"))
