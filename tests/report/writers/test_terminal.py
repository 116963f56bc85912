import polars as pl

from gapline.report.table import Column, Table, Text, one_part
from gapline.report.writers.terminal import print_table


def test_the_terminal_obeys_no_name_and_reads_no_markup(capsys):
    rows = [[Text("[bold]x[/bold]"), Text("\x1b[31m1")]]
    print_table(Table("t", "[red]T[/red]", (Column("[b]name", text=True), Column("n")), one_part(rows), pl.DataFrame()))
    out = capsys.readouterr().out
    assert "[bold]x[/bold]" in out
    assert "[red]T[/red]" in out
    assert "\x1b" not in out
