"""A campaign as a trace file: what `read` takes back as it was."""

from dataclasses import replace

import polars as pl
import pytest

import gapline as gl
from gapline.capture.export import not_in_a_trace, trace_table, write_trace
from gapline.errors import UsageError

ROWS = [
    {"arm": "a", "instance": "i", "seed": 1, "time": 1.0, "objective": 9.0, "valid": True, "bound": 5.0},
    {"arm": "a", "instance": "i", "seed": 1, "time": 2.0, "objective": 8.0, "valid": False, "reason": "too heavy"},
    {"arm": "a", "instance": "i", "seed": 1, "time": 3.0, "objective": 7.0, "valid": None},
    {"arm": "b", "instance": "=1+1", "seed": 1, "time": None, "objective": None},
]


def test_every_event_is_a_row_and_an_empty_run_is_one_too():
    table = trace_table(gl.read(ROWS))
    assert table.columns[:5] == ["arm", "instance", "seed", "time", "objective"]
    assert table["arm"].to_list() == ["a", "a", "a", "b"]
    assert table["time"].to_list() == [1.0, 2.0, 3.0, None]
    assert table["valid"].to_list() == [True, False, None, None]
    assert table["reason"].to_list() == [None, "too heavy", None, None]
    assert table["bound"].to_list() == [5.0, None, None, None]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.ndjson", "t.parquet", "t.pq"])
def test_what_is_written_is_read_back_as_it_was(name, tmp_path):
    campaign = gl.read(ROWS)
    write_trace(campaign, tmp_path / name)
    assert gl.read(tmp_path / name).digest() == campaign.digest()


def test_text_is_quoted_in_csv_and_numbers_are_not(tmp_path):
    write_trace(gl.read(ROWS), tmp_path / "t.csv")
    assert '"b","=1+1",1,' in (tmp_path / "t.csv").read_text()


def test_what_has_no_place_in_a_trace_is_named():
    campaign = gl.read(ROWS)
    assert not_in_a_trace(campaign) == []
    known = replace(campaign, facts={"sense": "max", "checker": "x 1"})
    assert not_in_a_trace(known)[-1].endswith("has no place for it: checker x 1, sense max")


def test_a_format_that_there_is_not_and_a_place_that_is_no_file_are_refused(tmp_path):
    campaign = gl.read(pl.DataFrame(ROWS))
    with pytest.raises(UsageError, match="expected a format among csv, jsonl, parquet, got xlsx"):
        write_trace(campaign, tmp_path / "t.xlsx")
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(UsageError, match="expected a file to write, got a directory"):
        write_trace(campaign, tmp_path / "t.csv")
