"""A damaged Parquet file costs an error, not the process that reads it."""

import io
import os
import random

import polars as pl
import pytest
from torture.traces import kinds

from gapline.capture import columnar
from gapline.capture.columnar import read_columnar
from gapline.errors import TraceError

FRAME = pl.DataFrame({"time": [1.0, 2.0], "arm": ["a", "b"]})


def as_parquet(frame=FRAME):
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def read(data=None, form="parquet", source="t"):
    return pl.concat(read_columnar(as_parquet() if data is None else data, form=form, source=source))


def test_a_whole_file_is_read_as_it_is():
    assert read().equals(FRAME)


@pytest.mark.parametrize("column", kinds(random.Random(1), 6), ids=lambda column: str(column.dtype))
def test_columns_of_every_type_come_through_the_other_process_as_they_are(column):
    if column.dtype in (pl.Date, pl.Datetime, pl.Time):
        return
    frame = pl.DataFrame([column.alias("x")])
    packed = as_parquet(frame)
    assert read(packed).equals(pl.read_parquet(io.BytesIO(packed)))


def test_a_file_that_ends_its_reader_is_an_error_and_the_next_file_is_read():
    """An end without an answer, as `memory allocation of 2305843009213693952 bytes failed` leaves it."""
    read()
    columnar._readers.waiting.kill()
    with pytest.raises(TraceError, match=r"t\.parquet: expected a parquet trace, got one that ends the program"):
        read(source="t.parquet")
    assert read().equals(FRAME)


def test_where_no_process_can_be_started_the_file_is_read_all_the_same(monkeypatch):
    monkeypatch.setattr(columnar, "_readers", columnar._Readers())
    monkeypatch.setattr(columnar.sys, "executable", "/no/such/python")
    assert read().equals(FRAME)
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "10")
    with pytest.raises(TraceError, match="expected a parquet trace, got one of 48 bytes as columns, more than 10"):
        read()


def test_a_forked_process_starts_a_reader_of_its_own(monkeypatch):
    read()
    before = columnar._readers.waiting
    monkeypatch.setattr(columnar._readers, "owner", os.getpid() + 1)
    read()
    assert columnar._readers.waiting is not before
    columnar.end(before)


def test_two_files_that_are_read_at_once_have_a_process_each():
    one, other = (read_columnar(as_parquet(), form="parquet", source="t") for _ in range(2))
    assert next(one).equals(next(other))
    assert list(one) == list(other) == []
    assert read().equals(FRAME)


def test_a_file_that_nobody_reads_to_its_end_costs_the_next_one_nothing():
    unfinished = read_columnar(as_parquet(), form="parquet", source="t")
    next(unfinished)
    unfinished.close()
    assert read().equals(FRAME)


def test_the_limit_is_named_with_what_raises_it(monkeypatch):
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "10")
    with pytest.raises(
        TraceError, match="got one of 48 bytes as columns, more than 10\nHint: GAPLINE_MOST_BYTES raises"
    ):
        read()
