"""The table of `gapline plan`."""

import polars as pl

from gapline.contract.tables import PILOT, POWER
from gapline.report.tables.design import plan_table
from gapline.statistics.power import PowerTable
from scored_runs import run, scored


def table_of(*rows):
    frame = pl.DataFrame(rows, schema=POWER, orient="row")
    return plan_table(PowerTable(frame, scored([run()]).reading, 0.8, 0.95, pl.DataFrame(schema=PILOT)))


def test_numbers_read_as_everywhere_and_what_cannot_be_said_is_a_dash():
    table = table_of(
        ("a", "b", 0.005, 1, 1200, 900, 4000, "600 each", 2400, 20.04, None),
        ("a", "b", 0.005, 2, *[None] * 6, "one seed per instance"),
    )
    assert [cell.text for cell in table.rows[0]] == [
        "a", "b", "0.005", "1", "1,200", "900 and 4,000", "600 each", "2,400", "20.0",
    ]  # fmt: skip
    assert {cell.text for cell in table.rows[1][4:]} == {"–"}
    assert "–: one seed per instance" in table.notes
    assert len(table.columns) == len(table.rows[0]) == len(table.rows[1])


def test_runs_that_count_evaluations_have_no_hours():
    table = table_of(("a", "b", 0.005, 1, 12, 9, 40, "12 p", 24, None, None))
    assert "hours" not in [column.head for column in table.columns]
    assert len(table.rows[0]) == len(table.columns)
