import polars as pl
import pytest

from gapline.report.facts import make_statements
from gapline.report.tables.instances import instance_frame, instance_table
from report.report_studies import by_hand, hierarchical, rows_of


def order_of(study):
    return make_statements(study).order


def test_instances_by_hand():
    """On i against 10, arm a ends at 10 and 30: mean 20, gap 100 %; scores (1/3·5)/10 = 1/6 and 1/2, mean 1/3."""
    frame = instance_frame(by_hand(), order_of(by_hand()))
    a = frame.row(by_predicate=(pl.col("arm") == "a") & (pl.col("instance") == "i"), named=True)
    assert (a["reference"], a["runs"], a["empty"], a["best"], a["mean"], a["gap"]) == (10.0, 2, 0, 10.0, 20.0, 1.0)
    assert a["score"] == pytest.approx((1 / 6 + 1 / 2) / 2, abs=1e-15)
    b = frame.row(by_predicate=(pl.col("arm") == "b") & (pl.col("instance") == "i"), named=True)
    # The empty run is no part of best, mean and gap, and scores 1.
    assert (b["empty"], b["best"], b["mean"], b["gap"]) == (1, 12.0, 12.0, pytest.approx(0.2))
    assert b["score"] == pytest.approx((1 / 11 + 1) / 2, abs=1e-15)


def test_the_best_of_an_instance_is_bold_and_a_mean_over_fewer_runs_never_is():
    rows = rows_of(instance_table(by_hand(), order_of(by_hand())))
    first = {row["arm"].text: row for row in rows[:2]}
    assert first["a"]["best"].bold
    assert first["a"]["mean"].bold  # b has the smaller mean, over one run of two
    assert not first["b"]["mean"].bold
    assert first["a"]["squeezed"].bold


def test_a_descriptive_arm_is_never_bold():
    rows = rows_of(instance_table(by_hand(), order_of(by_hand(tier_two=("a",)))))
    assert not any(cell.bold for row in rows if row["arm"].text == "a" for cell in row.values())


def test_both_parts_of_a_hierarchical_objective_stand_beside_the_best():
    study = hierarchical()
    rows = rows_of(instance_table(study, order_of(study)))
    parts = {row["arm"].text: (row["best K"].text, row["best C"].text) for row in rows}
    assert parts == {"a": ("2", "40"), "b": ("3", "20")}


def test_without_parts_there_are_no_columns_for_them():
    table = instance_table(by_hand(), order_of(by_hand()))
    assert not any("K" in column.head for column in table.columns)


def test_of_too_many_instances_those_are_printed_on_which_the_compared_arms_differ_most(monkeypatch):
    """Scores of a and b on i: 1/3 and 6/11, on j the same; room for the two rows of one instance."""
    study = by_hand()
    whole = instance_table(study, order_of(study))
    monkeypatch.setattr("gapline.report.tables.instances.MOST_ROWS", 2)
    table = instance_table(study, order_of(study))
    spread = whole.frame.group_by("instance").agg(spread=pl.col("score").max() - pl.col("score").min())
    widest = spread.sort("spread", "instance", descending=[True, False])["instance"][0]
    assert [row[0].text for row in table.rows] == [widest, ""]
    assert table.frame.equals(whole.frame)
    assert table.notes == (
        f"Of {spread.height} instances the 1 on which the compared arms differ most; instances.csv has all.",
        *whole.notes,
    )
