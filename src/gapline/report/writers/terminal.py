"""Tables on a terminal."""

import io
from typing import TYPE_CHECKING

from gapline.model.text import printable
from gapline.report.table import Table
from gapline.terminal import console

if TYPE_CHECKING:
    from rich.console import Console


def to_text(table: Table) -> str:
    """Return a table as it stands in a file, without colours."""
    stream = io.StringIO()
    _print(table, console(file=stream))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def print_table(table: Table) -> None:
    """Print a table, its caption above, the best in bold, its notes below in small print."""
    _print(table, console())


def _print(table: Table, out: "Console") -> None:
    from rich import box
    from rich import table as rich_table
    from rich.text import Text as RichText

    grid = rich_table.Table(
        # As `Text`, never as a string: rich would read brackets in a name as markup.
        title=RichText(printable(table.caption)), box=box.SIMPLE_HEAD, title_justify="left", title_style="bold",
        pad_edge=False,
    )  # fmt: skip
    for column in table.columns:
        side = "left" if column.text else "right"
        grid.add_column(RichText(printable(column.head)), justify=side, overflow="fold")  # type: ignore[arg-type]
    # A heading stands in the first column of words: among numbers it would push them apart.
    place = next((k for k, column in enumerate(table.columns) if column.text), 0)
    for heading, rows in table.parts:
        if heading is not None and rows:
            grid.add_row(*[""] * place, RichText(printable(heading), style="italic dim"))
        for row in rows:
            grid.add_row(*(RichText(printable(cell.text), style="bold" if cell.bold else "") for cell in row))
    out.print(grid)
    for note in table.notes:
        out.print(printable(note), style="dim", markup=False, soft_wrap=True)
