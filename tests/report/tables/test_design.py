"""The table of the evaluation design."""

import polars as pl

from gapline.contract.tables import DESIGN
from gapline.report.tables.design import design_table


def test_as_many_runs_of_each_arm_are_a_product_and_what_says_nothing_is_left_out():
    rows = [
        ("tier 1", 4, "", "1,760", 7040, 212, 10, "5 or 10", "3,600 s", "1", ""),
        ("tier 2", 2, "", "60, 1,760", 1820, 212, 10, "10", "3,600 s", "1", ""),
        ("slices ladder", 3, "slices 5, 24, 96", "60", 180, 6, 1, "10", "3,600 s", "1", ""),
        ("tier 9", 1, "", "60", 60, 6, 1, "10", "3,600 s", "1", ""),
    ]
    table = design_table(pl.DataFrame(rows, schema=DESIGN, orient="row"))
    assert [column.head for column in table.columns] == [
        "evidence", "arms", "steps", "runs", "instances", "panels", "seeds", "horizon", "threads",
    ]  # fmt: skip
    assert [row[3].text for row in table.rows] == ["4 × 1,760", "1,820", "3 × 60", "60"]
    assert table.caption == "Evaluation design: 9,100 runs"
    assert len(table.columns) == len(table.rows[0])
