import io

import polars as pl
import pytest

from gapline.errors import TraceError
from gapline.logs.reader import LogFile
from gapline.logs.readers.neutral import READER
from gapline.testing.readers import ReaderConformance

CSV = b"""arm,instance,seed,time,objective,valid,horizon
hgs,i1,1,0.5,12.0,true,30
hgs,i1,1,2.0,11.0,true,30
hgs,i2,1,,,,30
"""
LINES = b"""{"time": 1.25, "objective": 1234.5, "solution": [1, 2]}
{"time": 3.0, "objective": 1200, "solution": [2, 1]}
"""


def as_parquet() -> bytes:
    out = io.BytesIO()
    pl.DataFrame({"arm": ["a"], "instance": ["i"], "seed": [1], "time": [0.5], "objective": [3.0]}).write_parquet(out)
    return out.getvalue()


class TestCsv(ReaderConformance):
    reader = READER
    path = "traces.csv"
    sample = CSV
    runs = 2
    candidates = ((0.5, 12.0), (2.0, 11.0))


class TestJsonLines(ReaderConformance):
    reader = READER
    path = "run.jsonl"
    sample = LINES
    candidates = ((1.25, 1234.5), (3.0, 1200.0))


class TestParquet(ReaderConformance):
    reader = READER
    path = "traces.parquet"
    sample = as_parquet()
    is_text = False
    candidates = ((0.5, 3.0),)


def read(data: bytes, path: str = "a.csv"):
    return READER.read(LogFile(path, data))


def test_an_empty_run_stays_a_run():
    runs = read(CSV).runs
    assert [(run.instance, len(run.time), run.horizon) for run in runs] == [("i1", 2, 30.0), ("i2", 0, 30.0)]


def test_identity_columns_may_be_missing():
    (run,) = read(LINES, "a.jsonl").runs
    assert (run.arm, run.instance, run.seed) == (None, None, None)
    (run,) = read(b"instance,time,objective\ni,1,2\n").runs
    assert (run.arm, run.instance, run.seed) == (None, "i", None)


def test_columns_without_rows_are_an_empty_run():
    (run,) = read(b"time,objective\n").runs
    assert len(run.time) == 0
    assert read(b"arm,instance,seed,time,objective\n").runs == []


def test_a_checked_file_says_so():
    assert read(CSV).runs[0].carried["validation"] == "declared"
    assert read(LINES, "a.jsonl").runs[0].carried["validation"] == "solver"


def test_a_torn_json_line_is_dropped_and_the_run_was_killed():
    found = read(LINES[:-10], "a.jsonl")
    assert found.runs[0].time.tolist() == [1.25]
    assert found.runs[0].status == "killed"
    assert found.problems[0].startswith("a.jsonl:2: expected a whole line, got ")


def test_rejections_keep_their_reasons():
    found = read(b"arm,instance,seed,time,objective\na,i,1,1,inf\na,i,1,2,7\na,i,1,x,6\n")
    (run,) = found.runs
    assert run.verdict.tolist() == [1, 0, 0] or sorted(run.verdict.tolist()) == [0, 0, 1]
    assert sorted(run.reason) == ["", "objective not finite", "time not a number"]
    assert len(found.problems) == 2


def test_other_files_are_refused():
    with pytest.raises(TraceError, match="expected columns time and objective as CSV, JSONL or Parquet, got 'a,b'"):
        read(b"a,b\n1,2\n")
