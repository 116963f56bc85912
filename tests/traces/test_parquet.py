"""A damaged Parquet file costs an error, not the process that reads it."""

import io
import os
import random
import tempfile

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from torture.traces import kinds

import gapline as gl
from gapline.errors import TraceError
from gapline.traces import parquet, parquet_process
from gapline.traces.parquet import read_columnar
from profiles import examples
from traces.odd_tables import as_frame, in_blocks, outcome, tables

FRAME = pl.DataFrame({"time": [1.0, 2.0], "arm": ["a", "b"]})


def as_parquet(frame=FRAME):
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def stored(data):
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by who reads it
    file.write(data)
    file.flush()
    return file


def read(data=None, form="parquet", source="t"):
    with stored(as_parquet() if data is None else data) as file:
        return pl.concat(read_columnar(file, form=form, source=source))


def test_a_whole_file_is_read_as_it_is():
    assert read().equals(FRAME)


@pytest.mark.parametrize("column", kinds(random.Random(1), 6), ids=lambda column: str(column.dtype))
def test_columns_of_every_type_come_through_the_other_process_as_they_are(column):
    if column.dtype in (pl.Date, pl.Datetime, pl.Time):
        return
    frame = pl.DataFrame([column.alias("x")])
    packed = as_parquet(frame)
    assert read(packed).equals(pl.read_parquet(io.BytesIO(packed)))


@pytest.mark.slow
def test_a_file_that_ends_its_reader_is_an_error_and_the_next_file_is_read():
    """An end without an answer, as `memory allocation of 2305843009213693952 bytes failed` leaves it."""
    read()
    parquet.waiting[0].kill()
    with pytest.raises(TraceError, match=r"t\.parquet: expected a parquet trace, got one that ends the program"):
        read(source="t.parquet")
    assert read().equals(FRAME)


def test_where_no_process_can_be_started_the_file_is_read_all_the_same(monkeypatch):
    monkeypatch.setattr(parquet, "waiting", [])
    monkeypatch.setattr(parquet.sys, "executable", "/no/such/python")
    assert read().equals(FRAME)
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "10")
    with pytest.raises(TraceError, match="expected a parquet trace, got one of 48 bytes as columns, more than 10"):
        read()


@pytest.mark.slow
def test_a_forked_process_starts_a_reader_of_its_own(monkeypatch):
    read()
    (before,) = parquet.waiting
    monkeypatch.setattr(before, "owner", os.getpid() + 1)
    read()
    assert parquet.waiting != [before]
    monkeypatch.undo()
    before.end()


def test_two_files_that_are_read_at_once_have_a_process_each():
    with stored(as_parquet()) as first, stored(as_parquet()) as second:
        one, other = (read_columnar(file, form="parquet", source="t") for file in (first, second))
        assert next(one).equals(next(other))
        assert list(one) == list(other) == []
    assert read().equals(FRAME)


def test_a_file_that_nobody_reads_to_its_end_costs_the_next_one_nothing():
    with stored(as_parquet()) as file:
        unfinished = read_columnar(file, form="parquet", source="t")
        next(unfinished)
        unfinished.close()
    assert read().equals(FRAME)


def test_the_limit_is_named_with_what_raises_it(monkeypatch):
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "10")
    with pytest.raises(
        TraceError, match="got one of 48 bytes as columns, more than 10\nHint: GAPLINE_MOST_BYTES raises"
    ):
        read()


def large(order="by run"):
    number = pl.Series(range(20_000))
    run = number // 100 if order == "by run" else number % 200
    return pl.DataFrame({"time": number * 0.5, "objective": 9.0 - number, "valid": number % 7 > 0}).select(
        pl.lit("a").alias("arm"), "time", ("i" + run.cast(pl.String)).alias("instance"), "objective",
        pl.lit(1).alias("seed"), "valid", pl.lit(3000.0).alias("horizon"),
    )  # fmt: skip


@pytest.mark.parametrize("order", ["by run", "in turns"])
def test_a_file_gives_the_same_where_no_other_process_reads_it(order, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    frame = pl.concat([large(order), large(order).with_columns(seed=2, valid=pl.lit(None, pl.Boolean))])
    frame.write_parquet(path, row_group_size=7000)
    there = outcome(path)
    monkeypatch.setattr(parquet, "_take_reader", lambda: None)
    assert outcome(path) == there


@pytest.mark.parametrize("size", [1000, 7000])
def test_columns_under_other_names_give_the_same(size, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    large("in turns").write_parquet(path)
    plain = gl.read(path)
    large("in turns").rename({"arm": "solver"}).write_parquet(path)
    monkeypatch.setattr(parquet, "_take_reader", lambda: None)
    monkeypatch.setattr(parquet_process, "PIECE", size)
    renamed = gl.read(path, columns="arm=solver")
    assert renamed.runs.equals(plain.runs)
    assert all(renamed.columns[name].tobytes() == column.tobytes() for name, column in plain.columns.items())


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7])
@given(table=tables())
@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_in_several_tables_gives_what_it_gives_in_one(size, table, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    as_frame(*table).write_parquet(path)
    whole = outcome(path)
    with monkeypatch.context() as patched:
        patched.setattr(parquet, "_take_reader", lambda: None)
        in_blocks(patched, size)
        assert outcome(path) == whole
