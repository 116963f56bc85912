"""The other process answers with tables, and with a last line for every file."""

import io
import tempfile

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gapline.traces import parquet_process
from gapline.traces.parquet_process import Question, TooLargeError, answer, read_tables

pytestmark = pytest.mark.slow

MOST = 1 << 30


def parquet_bomb(*, rows, group=10_000_000):
    """Equal rows: some kilobytes of Parquet, and eight bytes each in memory."""
    file, table = io.BytesIO(), pa.table({"time": np.ones(group)})
    with pq.ParquetWriter(file, table.schema) as writer:
        for _ in range(rows // group):
            writer.write_table(table, row_group_size=group)
    return file.getvalue()


def packed(form, frame):
    file = io.BytesIO()
    {"parquet": frame.write_parquet, "arrow": frame.write_ipc, "stream": frame.write_ipc_stream}[form](file)
    return file.getvalue()


def stored(data):
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by who answers
    file.write(data)
    file.flush()
    return file


def tables(data, form="parquet", most=MOST):
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return list(read_tables(file, form, most))


def test_each_question_gets_its_tables_and_one_last_line():
    good = packed("parquet", pl.DataFrame({"a": [1]}))
    asked = [Question(stored(data), "parquet", MOST) for data in (good, b"PAR1", good)]
    answers = io.BytesIO()
    answer(asked, answers)
    answers.seek(0)
    said = []
    while line := answers.readline():
        word, _, rest = line.decode().rstrip("\n").partition(" ")
        said.append(word if word == "table" else bool(rest))
        if word == "table":
            assert pl.read_ipc_stream(io.BytesIO(answers.read(int(rest))))["a"].to_list() == [1]
    assert said == ["table", False, True, "table", False]


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream"])
def test_all_forms_are_read_in_tables_of_so_many_rows(form, monkeypatch):
    frame = pl.DataFrame({"a": range(10), "b": [str(n) for n in range(10)]})
    monkeypatch.setattr(parquet_process, "PIECE", 4)
    read = tables(packed(form, frame), "parquet" if form == "parquet" else "arrow")
    assert [table.height for table in read] == [4, 4, 2]
    assert pl.concat(read).equals(frame)


def test_a_file_without_rows_is_one_table_with_its_columns():
    (read,) = tables(packed("parquet", pl.DataFrame(schema={"a": pl.Int64, "b": pl.String})))
    assert read.schema == {"a": pl.Int64, "b": pl.String}


def test_more_rows_than_the_limit_are_refused_before_they_are_made():
    bomb = parquet_bomb(rows=300_000_000)
    assert len(bomb) < 2_000_000
    with pytest.raises(TooLargeError, match=r"2,400,000,000 bytes as columns, more than 1,073,741,824"):
        tables(bomb)


def test_a_text_that_stands_once_and_on_every_row_is_counted_as_often():
    data = packed("parquet", pl.DataFrame({"arm": ["a" * 1_000_000, "b" * 1_000_000] * 1000}))
    # Two texts in a dictionary, or each row packed, as the version of Polars has it.
    assert len(data) < 20_000_000
    answers = io.BytesIO()
    answer([Question(stored(data), "parquet", MOST)], answers)
    assert answers.getvalue() == b"end one of 2,000,000,000 bytes as columns, more than 1,073,741,824\n"
