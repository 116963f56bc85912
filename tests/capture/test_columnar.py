"""A damaged Parquet file costs an error, not the process that reads it."""

import io
import os
import random

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from torture.traces import kinds

from capture.odd_tables import as_frame, in_blocks, outcome, tables
from gapline.capture import carriers, columnar, columnar_trial, heads
from gapline.capture.columnar import read_columnar, read_sheets
from gapline.capture.heads import Heads
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


def split_here():
    """Read a file as the other process does, with tables of any size split."""

    def read_sheets(file, *, form, names, **_):
        for table in columnar_trial.read_tables(file, form, 1 << 30):
            parts = columnar_trial._split(table, names)
            if parts is None:
                yield columnar.Sheet(table)
                continue
            loose, found, blocks = parts
            which = blocks["which"].to_numpy() if "which" in blocks.columns else None
            yield columnar.Sheet(loose, Heads(found, blocks["count"].to_numpy(), range(0), which), table.columns)

    return read_sheets


@pytest.mark.parametrize("size", [1, 7, 1 << 18])
@given(table=tables())
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_whose_repeated_cells_come_once_gives_what_it_gives_whole(size, table, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    as_frame(*table).write_parquet(path)
    with monkeypatch.context() as patched:
        in_blocks(patched, size)
        patched.setattr(columnar_trial, "_SEVERAL", 1)
        patched.setattr(heads, "MANY", 1)
        patched.setattr(carriers, "read_sheets", split_here())
        split = outcome(path)
        patched.setattr(columnar_trial, "_split", lambda *_: None)
        assert split == outcome(path)


@pytest.mark.parametrize("order", ["by run", "in turns"])
def test_a_large_file_comes_through_the_other_process_split_and_as_it_is(order, tmp_path, monkeypatch):
    number = pl.Series(range(20_000))
    run = number // 100 if order == "by run" else number % 200
    frame = pl.DataFrame({"time": number * 0.5, "objective": 9.0 - number, "valid": number % 7 > 0}).select(
        pl.lit("a").alias("arm"), "time", ("i" + run.cast(pl.String)).alias("instance"), "objective",
        pl.lit(1).alias("seed"), "valid", pl.lit(30.0).alias("horizon"),
    )  # fmt: skip
    path = tmp_path / "t.parquet"
    frame.write_parquet(path)
    with path.open("rb") as file:
        (sheet,) = read_sheets(file, form="parquet", source="t", names=["time", "objective", "valid"])
    assert sheet.table.columns == ["time", "objective", "valid"]
    assert sheet.heads.table.height == 200
    assert sheet.whole().equals(frame)
    split = outcome(path)
    monkeypatch.setattr(columnar._readers, "take", lambda: None)
    assert split == outcome(path)
