"""The numbers behind a table in full, as CSV."""

import io

import polars as pl


def to_csv(frame: pl.DataFrame) -> bytes:
    """Return the numbers in full; text is quoted, so that no cell of it is taken for a formula or a number."""
    stream = io.BytesIO()
    frame.write_csv(stream, quote_style="non_numeric")
    return stream.getvalue()
