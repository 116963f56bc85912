"""A damaged Parquet file costs an error, not the process that reads it."""

import io
import os

import polars as pl
import pytest

from gapline.capture import columnar
from gapline.capture.columnar import read_columnar
from gapline.errors import TraceError

FRAME = pl.DataFrame({"time": [1.0, 2.0], "arm": ["a", "b"]})


def as_parquet(frame=FRAME):
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def test_a_whole_file_is_read_as_it_is():
    assert read_columnar(as_parquet(), form="parquet", source="t").equals(FRAME)


def test_a_file_that_ends_its_reader_is_an_error_and_the_next_file_is_read():
    """An end without an answer, as `memory allocation of 2305843009213693952 bytes failed` leaves it."""
    read_columnar(as_parquet(), form="parquet", source="t")
    trial = columnar._trial
    trial.process.kill()
    with pytest.raises(TraceError, match=r"t\.parquet: expected a parquet trace, got one that ends the program"):
        read_columnar(as_parquet(), form="parquet", source="t.parquet")
    assert read_columnar(as_parquet(), form="parquet", source="t").equals(FRAME)


def test_where_no_process_can_be_started_the_file_is_read_all_the_same(monkeypatch):
    monkeypatch.setattr(columnar, "_trial", columnar._Trial())
    monkeypatch.setattr(columnar.sys, "executable", "/no/such/python")
    assert read_columnar(as_parquet(), form="parquet", source="t").equals(FRAME)


def test_a_forked_process_starts_a_trial_of_its_own(monkeypatch):
    read_columnar(as_parquet(), form="parquet", source="t")
    before = columnar._trial.process
    monkeypatch.setattr(columnar._trial, "owner", os.getpid() + 1)
    read_columnar(as_parquet(), form="parquet", source="t")
    assert columnar._trial.process is not before
    for end in (before.stdin, before.stdout):
        end.close()
    before.wait()
