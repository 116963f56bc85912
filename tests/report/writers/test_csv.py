"""CSV files of a report: numbers in full, and no cell that a spreadsheet would run."""

import csv
import io

import polars as pl
import pytest

from gapline.campaign.campaign import Campaign
from gapline.report.facts import make_statements
from gapline.report.table import text_table
from gapline.report.tables.instances import instance_frame
from gapline.report.write import write_tables
from gapline.report.writers.csv import to_csv
from gapline.traces.export import write_trace
from report.report_studies import HOSTILE, hostile


def cells_of(data):
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))


def test_text_in_csv_is_quoted_and_numbers_are_not():
    text = to_csv(instance_frame(hostile(), make_statements(hostile()).order)).decode("utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    assert HOSTILE[0] in {cell for row in rows for cell in row}
    lines = text.splitlines()
    assert lines[1].rsplit(",", 1)[1].replace(".", "").isdigit()


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-", "=", "+-1"]
)
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(cell):
    frame = pl.DataFrame({"arm": [cell, "a"], cell: [1.5, -2.0]})
    header, first, second = cells_of(to_csv(frame))
    assert first == ["'" + cell, "1.5"]
    assert header == ["arm", "'" + cell]
    assert second == ["a", "-2.0"]


@pytest.mark.parametrize("cell", ["-0.5", "+3", "-1e-9", "-12.5%", "a=1", "x-y", "", "1,000", "−0.5"])
def test_numbers_and_other_text_stay_as_they_are(cell):
    assert cells_of(to_csv(pl.DataFrame({"arm": [cell, None], "n": [1, 2]})))[1:] == [[cell, "1"], ["", "2"]]


def test_the_tables_of_a_report_are_protected_and_a_data_export_is_not(tmp_path):
    table = text_table("t", "T", ["arm"], [["=1+1"], ["a"]], text=1, notes=())
    write_tables([table], tmp_path, [])
    assert cells_of((tmp_path / "t.csv").read_bytes()) == [["arm"], ["'=1+1"], ["a"]]
    campaign = Campaign.from_runs([{"arm": "=1+1", "instance": "i", "seed": 1, "trace": [(1.0, 2.0)]}])
    write_trace(campaign, tmp_path / "x.csv")
    assert cells_of((tmp_path / "x.csv").read_bytes())[1][0] == "=1+1"
