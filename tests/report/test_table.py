"""One table, four writers: the same words in each, whatever the names in it."""

import polars as pl

from gapline.report.facts import make_statements
from gapline.report.table import Column, Table, part, shortened
from gapline.report.tables.means import arm_table
from gapline.report.writers.csv import to_csv
from gapline.report.writers.latex import to_latex
from gapline.report.writers.markdown import to_markdown
from gapline.report.writers.terminal import print_table
from report.report_studies import by_hand


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


def test_a_very_long_table_is_printed_in_part_and_says_so():
    rows = [(None, (("a",), ("b",))), ("p", (("c",),)), ("q", (("d",),))]
    table = Table("t", "Four", (Column("x"),), tuple(part(*each) for each in rows), pl.DataFrame({"x": list("abcd")}))
    assert shortened(table, 4) is table
    short = shortened(table, 3)
    assert [(heading, [row[0].text for row in rows]) for heading, rows in short.parts] == [
        (None, ["a", "b"]),
        ("p", ["c"]),
    ]
    assert short.frame is table.frame
    assert short.notes == ("The first 3 of 4 rows; t.csv has all.",)
