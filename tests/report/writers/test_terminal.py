import polars as pl
import pytest

from gapline.report.table import Column, Table, Text, one_part
from gapline.report.writers.terminal import View, print_table, print_tables, to_text
from pseudo_terminal import on_terminal


def numbers(count=20):
    columns = (Column("arm", text=True), *(Column(f"n{k}") for k in range(count)))
    return Table("t", "Numbers", columns, one_part([["x", *["0.12345"] * count]]), pl.DataFrame())


def test_the_terminal_obeys_no_name_and_reads_no_markup(capsys):
    rows = [[Text("[bold]x[/bold]"), Text("\x1b[31m1")]]
    print_table(Table("t", "[red]T[/red]", (Column("[b]name", text=True), Column("n")), one_part(rows), pl.DataFrame()))
    out = capsys.readouterr().out
    assert "[bold]x[/bold]" in out
    assert "[red]T[/red]" in out
    assert "\x1b" not in out


def test_columns_of_the_environment_are_the_width_in_a_pipe(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    print_table(numbers())
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60
    monkeypatch.delenv("COLUMNS")
    print_table(numbers())
    assert 100 < max(map(len, capsys.readouterr().out.splitlines())) <= 120


def test_a_text_file_has_every_column_whatever_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert "n19" in to_text(numbers())


def test_tables_have_a_line_between_them(capsys):
    print_tables([numbers(1), numbers(1)], View(all_columns=True))
    assert capsys.readouterr().out.count("\n\nNumbers\n") == 1


@pytest.mark.slow
def test_a_real_terminal_is_as_wide_as_it_says():
    """Sixty columns of a pseudo-terminal, and its colours: the best is bold there."""
    code = (
        "import polars as pl\n"
        "from gapline.report.table import Column, Table, Text, one_part\n"
        "from gapline.report.writers.terminal import print_table\n"
        "columns = (Column('arm', text=True), *(Column(f'n{k}') for k in range(20)))\n"
        "row = ['x', *[Text('0.12345', True)] * 20]\n"
        "print_table(Table('t', 'Numbers', columns, one_part([row]), pl.DataFrame()))\n"
    )
    text, _ = on_terminal(code, columns=60)
    assert "\x1b[1m0.12345\x1b[0m" in text
    rule = next(line for line in text.splitlines() if set(line) == {"─"})
    assert 40 < len(rule) <= 60
