"""One table, four writers: the same words in each, whatever the names in it."""

import csv
import io

import polars as pl

from gapline.report.statements import make_statements
from gapline.report.table import Column, Table, Text, one_part
from gapline.report.tables.instances import instance_frame
from gapline.report.tables.means import arm_table
from gapline.report.writers.csv import to_csv
from gapline.report.writers.latex import to_latex
from gapline.report.writers.markdown import to_markdown
from gapline.report.writers.terminal import print_table
from report.report_studies import HOSTILE, by_hand, hostile


def test_all_four_say_the_same(capsys):
    study = by_hand()
    table = arm_table(study.summary, make_statements(study).order)
    print_table(table)
    texts = [capsys.readouterr().out, to_markdown(table), to_latex(table)]
    for row in table.rows:
        for cell in row:
            assert cell.text in texts[0]
            assert all(cell.text.split(" ")[0].replace("–", "--") in text.replace("–", "--") for text in texts[1:])
    for note in table.notes:
        assert note in texts[0]
    frame = pl.read_csv(to_csv(table.frame))
    assert frame["squeezed"].to_list() == table.frame["squeezed"].to_list()
    assert [f"{value:.5f}" for value in frame["squeezed"]] == [row[6].text for row in table.rows]


def test_the_terminal_obeys_no_name_and_reads_no_markup(capsys):
    rows = [[Text("[bold]x[/bold]"), Text("\x1b[31m1")]]
    print_table(Table("t", "[red]T[/red]", (Column("[b]name", text=True), Column("n")), one_part(rows), pl.DataFrame()))
    out = capsys.readouterr().out
    assert "[bold]x[/bold]" in out
    assert "[red]T[/red]" in out
    assert "\x1b" not in out


def test_text_in_csv_is_quoted_and_numbers_are_not():
    text = to_csv(instance_frame(hostile(), make_statements(hostile()).order)).decode("utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    assert HOSTILE[2] in {row[2] for row in rows}
    lines = text.splitlines()
    assert not any(cell.startswith("=") for line in lines for cell in line.split(","))
    assert lines[1].rsplit(",", 1)[1].replace(".", "").isdigit()


def test_markdown_keeps_its_columns_whatever_the_names():
    study = hostile()
    text = to_markdown(arm_table(study.summary, make_statements(study).order))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bars = {line.replace("\\|", "").count("|") for line in lines}
    assert len(bars) == 1
    assert "<img" not in text.replace("\\<", "")
    assert "\x1b" not in text


def test_a_long_table_goes_on_with_every_row_once():
    rows = [[Text(f"row-{k}"), Text(str(k))] for k in range(100)]
    table = Table("long", "Long", (Column("name", text=True), Column("value")), one_part(rows), pl.DataFrame())
    text = to_latex(table, most_rows=45)
    assert text.count("\\begin{table}") == text.count("\\end{table}") == 3
    assert text.count("\\label{tab:long}") == 1
    assert all(text.count(f"row-{k} &") == 1 for k in range(100))
