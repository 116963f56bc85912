import csv
import io

import polars as pl
import pytest

from gapline.report.analyses import analyse_study
from gapline.report.tables.analyses import grid_table, health_table, pairs_table, pooled_table
from gapline.report.tables.instances import instance_frame, instance_table
from gapline.report.tables.scores import contrast_table, panel_table, score_table
from gapline.report.tables.table import Cell, Column, Table, csv_bytes, one_part, to_latex, to_markdown
from gapline.report.terminal import number
from report.report_studies import HOSTILE, by_hand, hostile, synthetic, synthetic_analyses


def rows_of(table):
    heads = [column.head for column in table.columns]
    return [dict(zip(heads, row, strict=True)) for row in table.rows]


def test_instances_by_hand():
    """On i against 10, arm a ends at 10 and 30: mean 20, gap 100 %; scores (1/3·5)/10 = 1/6 and 1/2, mean 1/3."""
    frame = instance_frame(by_hand())
    a = frame.row(by_predicate=(pl.col("arm") == "a") & (pl.col("instance") == "i"), named=True)
    assert (a["reference"], a["runs"], a["empty"], a["best"], a["mean"], a["gap"]) == (10.0, 2, 0, 10.0, 20.0, 1.0)
    assert a["score"] == pytest.approx((1 / 6 + 1 / 2) / 2, abs=1e-15)
    b = frame.row(by_predicate=(pl.col("arm") == "b") & (pl.col("instance") == "i"), named=True)
    # The empty run is no part of best, mean and gap, and scores 1.
    assert (b["empty"], b["best"], b["mean"], b["gap"]) == (1, 12.0, 12.0, pytest.approx(0.2))
    assert b["score"] == pytest.approx((1 / 11 + 1) / 2, abs=1e-15)


def test_the_best_of_an_instance_is_bold_and_a_mean_over_fewer_runs_never_is():
    rows = rows_of(instance_table(by_hand(), ("a", "b")))
    first = {row["arm"].text: row for row in rows[:2]}
    assert first["a"]["best"].bold
    assert first["a"]["mean"].bold  # b has the smaller mean, over one run of two
    assert not first["b"]["mean"].bold
    assert first["a"]["squeezed"].bold


def test_scores_agree_with_the_summary_and_only_the_best_of_tier_one_is_bold():
    study = synthetic()
    table = score_table(study, synthetic_analyses().tier_one)
    expected = {row["arm"]: row for row in study.summary.frame.iter_rows(named=True)}
    for row in rows_of(table):
        arm = row["arm"].text
        assert row["squeezed"].text == number(expected[arm]["squeezed"])
        assert row["empty"].text == str(expected[arm]["empty"])
    best = min((v["squeezed"], arm) for arm, v in expected.items() if arm != "sliced")[1]
    assert [row["arm"].text for row in rows_of(table) if row["squeezed"].bold] == [best]
    everyone = score_table(study, ("sliced",))
    assert [row["arm"].text for row in rows_of(everyone) if row["squeezed"].bold] == ["sliced"]
    assert any("sliced" in note for note in table.notes)


def test_every_mean_has_its_empty_count_beside_it():
    study, analyses = synthetic(), synthetic_analyses()
    empty = dict(study.summary.frame.select("arm", "empty").iter_rows())
    assert empty["sliced"] > 0
    for table in (score_table(study, analyses.tier_one), pooled_table(analyses)):
        assert {row["arm"].text: int(row["empty"].text) for row in rows_of(table)} == empty
    panels = panel_table(study, analyses.tier_one)
    assert any("(" in row["sliced"].text for row in rows_of(panels))
    counted = sum(
        int(row["sliced"].text.split("(")[1].rstrip(")")) for row in rows_of(panels) if "(" in row["sliced"].text
    )
    assert counted == empty["sliced"]


def test_contrasts_are_bold_where_zero_is_outside_and_declared_ones_come_first():
    study = hostile()
    table = contrast_table(study)
    assert [heading for heading, _ in table.parts] == ["declared", "exploratory"]
    assert len(table.rows) == study.contrasts.frame.height
    for row, data in zip(table.rows, table.frame.iter_rows(named=True), strict=True):
        assert row[4].bold == (data["low"] > 0 or data["high"] < 0)


def test_berthold_under_a_beaten_reference_is_shown_and_not_ranked():
    table = pooled_table(synthetic_analyses())
    (_, frozen), (_, analysis) = table.parts
    column = [c.head for c in table.columns].index("berthold")
    assert not any(row[column].bold for row in frozen)
    assert any("†" in row[column].text for row in frozen)
    assert sum(row[column].bold for row in analysis) == 1


def test_the_grid_is_the_papers_layout_and_its_middle_is_bold():
    analyses = synthetic_analyses()
    table = grid_table(analyses)
    assert [len(rows) for _, rows in table.parts] == [3, 3, 3]
    bold = [cell.text for row in table.rows for cell in row if cell.bold]
    assert bold == [str(analyses.complementarity.contrasts.height)]
    assert len(pairs_table(analyses).rows) == analyses.complementarity.contrasts.height


def test_health_counts_are_those_of_the_envelopes():
    runs = synthetic().envelopes.runs
    table = health_table(synthetic_analyses())
    total = sum(int(row["invalid captured incumbents"].text.replace(",", "")) for row in rows_of(table))
    assert total == runs["rejected"].sum() > 0


def test_text_in_csv_is_quoted_and_numbers_are_not():
    text = csv_bytes(instance_frame(hostile())).decode("utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    assert HOSTILE[2] in {row[2] for row in rows}
    lines = text.splitlines()
    assert not any(cell.startswith("=") for line in lines for cell in line.split(","))
    assert lines[1].rsplit(",", 1)[1].replace(".", "").isdigit()


def test_markdown_keeps_its_columns_whatever_the_names():
    study = hostile()
    text = to_markdown(score_table(study, analyse_study(study).tier_one))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bars = {line.replace("\\|", "").count("|") for line in lines}
    assert len(bars) == 1
    assert "<img" not in text.replace("\\<", "")
    assert "\x1b" not in text


def test_a_long_table_goes_on_with_every_row_once():
    rows = [[Cell(f"row-{k}"), Cell(str(k))] for k in range(100)]
    table = Table("long", "Long", (Column("name", text=True), Column("value")), one_part(rows), pl.DataFrame())
    text = to_latex(table, most_rows=45)
    assert text.count("\\begin{table}") == text.count("\\end{table}") == 3
    assert text.count("\\label{tab:long}") == 1
    assert all(text.count(f"row-{k} &") == 1 for k in range(100))
