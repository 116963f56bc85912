from gapline.report.tables.design import ladder_tables
from gapline.report.writers.latex import to_latex
from gapline.study.analyse import analyse
from report.report_studies import rows_of
from study.ladder_study import TRACES, ladder_study


def tables_of(folder):
    return {table.name: table for table in ladder_tables(analyse(ladder_study(folder)).ladders.values())}


def test_validity_has_the_papers_columns_step_by_step(tmp_path):
    table = tables_of(tmp_path)["ladder-validity"]
    rows = rows_of(table)
    assert [row["step"].text for row in rows] == ["slices 5", "slices 24", "slices 96"]
    counts = ("rejected", "invalid at the end", "empty", "half valid by (s)")
    assert [[row[name].text for name in counts] for row in rows] == [
        ["2", "1", "2", "–"], ["0", "0", "0", "6.000"], ["1", "1", "0", "3.000"],
    ]  # fmt: skip
    assert [heading for heading, _ in table.parts] == ["slices: 1 instance each"]
    latex = to_latex(table)
    # Heads of three words take two lines.
    assert "Invalid & Invalid & No valid" in latex
    assert "captured & terminal & incumbent" in latex
    assert "5 of 6 planned runs, 1 missing" in latex


def test_late_candidates_are_shown_where_there_are_any(tmp_path, monkeypatch):
    """Valid, and after the horizon of 10 s: without the column nobody sees why the run is empty."""
    assert "late" not in [column.head for column in tables_of(tmp_path)["ladder-validity"].columns]
    monkeypatch.setitem(TRACES, ("sliced 5", "i", 2), [(11, 12.0, True)])
    rows = rows_of(tables_of(tmp_path)["ladder-validity"])
    assert [(row["late"].text, row["empty"].text) for row in rows] == [("1", "2"), ("0", "0"), ("0", "0")]


def test_means_carry_their_reading_and_nothing_is_bold(tmp_path):
    table = tables_of(tmp_path)["ladder-means"]
    assert rows_of(table)[0]["squeezed"].text == "1.00000"
    assert [row["rank"].text for row in rows_of(table)] == ["3", "2", "1"], "ranked within the ladder"
    assert not any(cell.bold for row in table.rows for cell in row)
    assert table.notes[-1].startswith("Against mine (given")
    assert table.notes[-1].endswith("5 of 6 planned runs, 1 missing.")


def test_the_csv_names_ladder_and_setting(tmp_path):
    for table in tables_of(tmp_path).values():
        assert table.frame.columns[:3] == ["ladder", "setting", "arm"]
        assert table.frame["setting"].to_list() == ["slices 5", "slices 24", "slices 96"]


def test_without_ladders_there_is_no_table():
    assert ladder_tables([]) == []
