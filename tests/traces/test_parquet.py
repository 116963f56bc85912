"""A damaged Parquet file costs an error, not the process that reads it."""

import io
import os
import random

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from torture.traces import kinds

import gapline as gl
from gapline.errors import TraceError
from gapline.traces import parquet, parquet_process, repeated_rows, table_formats
from gapline.traces.parquet import read_columnar, read_sheets
from profiles import examples
from traces.odd_tables import as_frame, in_blocks, outcome, tables

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


@pytest.mark.slow
def test_a_file_that_ends_its_reader_is_an_error_and_the_next_file_is_read():
    """An end without an answer, as `memory allocation of 2305843009213693952 bytes failed` leaves it."""
    read()
    parquet._readers.waiting.kill()
    with pytest.raises(TraceError, match=r"t\.parquet: expected a parquet trace, got one that ends the program"):
        read(source="t.parquet")
    assert read().equals(FRAME)


def test_where_no_process_can_be_started_the_file_is_read_all_the_same(monkeypatch):
    monkeypatch.setattr(parquet, "_readers", parquet._Readers())
    monkeypatch.setattr(parquet.sys, "executable", "/no/such/python")
    assert read().equals(FRAME)
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "10")
    with pytest.raises(TraceError, match="expected a parquet trace, got one of 48 bytes as columns, more than 10"):
        read()


@pytest.mark.slow
def test_a_forked_process_starts_a_reader_of_its_own(monkeypatch):
    read()
    before = parquet._readers.waiting
    monkeypatch.setattr(parquet._readers, "owner", os.getpid() + 1)
    read()
    assert parquet._readers.waiting is not before
    parquet.end(before)


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
        for table in parquet_process.read_tables(file, form, 1 << 30)[1]:
            parts = parquet_process._split(table, names)
            if parts is None:
                yield parquet.Sheet(table)
                continue
            yield parquet.Sheet(parts[0], parts[1]._replace(lines=range(0)), table.columns)

    return read_sheets


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 1 << 18])
@given(table=tables())
@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_whose_repeated_cells_come_once_gives_what_it_gives_whole(size, table, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    as_frame(*table).write_parquet(path)
    with monkeypatch.context() as patched:
        in_blocks(patched, size)
        patched.setattr(parquet_process, "_SEVERAL", 1)
        patched.setattr(repeated_rows, "MANY", 1)
        patched.setattr(table_formats, "read_sheets", split_here())
        split = outcome(path)
        patched.setattr(parquet_process, "_split", lambda *_: None)
        assert split == outcome(path)


def large(order="by run"):
    number = pl.Series(range(20_000))
    run = number // 100 if order == "by run" else number % 200
    return pl.DataFrame({"time": number * 0.5, "objective": 9.0 - number, "valid": number % 7 > 0}).select(
        pl.lit("a").alias("arm"), "time", ("i" + run.cast(pl.String)).alias("instance"), "objective",
        pl.lit(1).alias("seed"), "valid", pl.lit(3000.0).alias("horizon"),
    )  # fmt: skip


def sheets(frame, tmp_path, **choices):
    path = tmp_path / "t.parquet"
    frame.write_parquet(path, **choices)
    with path.open("rb") as file:
        return list(read_sheets(file, form="parquet", source="t", names=["time", "objective", "valid", "bound"]))


def same_here(tmp_path, monkeypatch):
    """Say whether a file gives the same campaign where no other process reads it."""
    path = tmp_path / "t.parquet"
    split = outcome(path)
    with monkeypatch.context() as patched:
        patched.setattr(parquet._readers, "take", lambda: None)
        return split == outcome(path)


@pytest.mark.parametrize("order", ["by run", "in turns"])
def test_a_large_file_comes_through_the_other_process_split_and_as_it_is(order, tmp_path, monkeypatch):
    frame = large(order)
    (sheet,) = sheets(frame, tmp_path)
    assert sheet.table.columns == ["time", "objective", "valid"]
    assert sheet.heads.table.height == 200
    assert sheet.whole().equals(frame)
    assert same_here(tmp_path, monkeypatch)


PLAIN = {
    "floats": pl.col("objective"),
    "integers": pl.col("objective").cast(pl.Int64),
    "no verdicts": pl.col("objective"),
    "unchecked": pl.when(pl.col("time") > 9).then("valid").alias("valid"),
}
ODD = {
    "nothing": pl.when(pl.col("time") < 7000).then("objective").alias("objective"),
    "NaN": pl.when(pl.col("time") < 7000).then("objective").otherwise(float("nan")).alias("objective"),
    "infinite": pl.when(pl.col("time") < 7000).then("objective").otherwise(float("inf")).alias("objective"),
    "too large": pl.when(pl.col("time") < 7000).then(1).otherwise(2**60 + 1).alias("objective"),
    "text": pl.col("objective").cast(pl.String),
}


@pytest.mark.parametrize("kind", PLAIN)
def test_plain_numbers_of_several_tables_are_one_sheet(kind, tmp_path, monkeypatch):
    frame = pl.concat([large()] * 3).with_columns(PLAIN[kind]).drop(["valid"] if kind == "no verdicts" else [])
    (sheet,) = sheets(frame, tmp_path, row_group_size=20_000)
    assert sheet.whole().equals(frame)
    assert sheet.heads.lines == range(60_000)
    assert same_here(tmp_path, monkeypatch)


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_plain_number_comes_as_a_table_and_in_its_place(kind, tmp_path, monkeypatch):
    """The second table has something to be shown, so the first and the third go each for themselves."""
    good, odd = large().with_columns(PLAIN["integers"] if kind == "too large" else []), large().with_columns(ODD[kind])
    frame = pl.concat([good, odd, good], how="vertical_relaxed")
    found = sheets(frame, tmp_path, row_group_size=20_000)
    assert len(found) == 3
    assert pl.concat(sheet.whole() for sheet in found).equals(frame)
    assert [sheet.heads.lines for sheet in found] == [range(k * 20_000, (k + 1) * 20_000) for k in range(3)]
    assert same_here(tmp_path, monkeypatch)


def test_a_reader_that_ends_among_the_numbers_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet._Plain, "take", lambda *_: False)
    with pytest.raises(TraceError, match="got one that ends the program which reads it"):
        sheets(large(), tmp_path)


@pytest.mark.parametrize("size", [1000, 7000])
def test_columns_under_other_names_are_looked_at_in_slices(size, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    large("in turns").write_parquet(path)
    plain = gl.read(path)
    large("in turns").rename({"arm": "solver"}).write_parquet(path)
    monkeypatch.setattr(table_formats, "SLICE", size)
    renamed = gl.read(path, columns="arm=solver")
    assert renamed.runs.equals(plain.runs)
    assert all(renamed.columns[name].tobytes() == column.tobytes() for name, column in plain.columns.items())
