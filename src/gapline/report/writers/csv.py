"""All numbers of a table as CSV that is safe to open in a spreadsheet."""

import io
from collections.abc import Iterable, Iterator

import polars as pl

# Excel and others execute a cell that begins like this, quoted or not; a signed number is harmless.
_FORMULA = r"^[=+\-@\t\r\n]"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?%?$"


def to_csv(frame: pl.DataFrame) -> bytes:
    """Return all numbers; text is quoted, and an apostrophe precedes text that a spreadsheet would run as a formula.

    >>> to_csv(pl.DataFrame({"arm": ["=1+1", "-0.5", "a"], "score": [-0.5, 0.25, 1.0]})).decode().split()
    ['"arm","score"', '"\\'=1+1",-0.5', '"-0.5",0.25', '"a",1.0']
    """
    return b"".join(csv_pieces([frame]))


def csv_pieces(frames: Iterable[pl.DataFrame]) -> Iterator[bytes]:
    """Yield the same for a table in parts, which have the same columns.

    >>> b"".join(csv_pieces(pl.DataFrame({"x": [x]}) for x in (1, 2))).decode().split()
    ['"x"', '1', '2']
    """
    for number, frame in enumerate(frames):
        names = pl.Series(frame.columns, dtype=pl.String)
        safe = frame.with_columns(_harmless(frame[name]) for name, kind in frame.schema.items() if kind == pl.String)
        safe.columns = _harmless(names).to_list()
        stream = io.BytesIO()
        safe.write_csv(stream, quote_style="non_numeric", include_header=not number)
        yield stream.getvalue()


def _harmless(cells: pl.Series) -> pl.Series:
    runs = cells.str.contains(_FORMULA) & ~cells.str.contains(_NUMBER)
    return ("'" + cells).zip_with(runs.fill_null(False), cells).alias(cells.name)
