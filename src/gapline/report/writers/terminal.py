"""Tables on a terminal, and as they stand in a text file."""

from collections.abc import Iterable
from dataclasses import dataclass

from gapline.report.table import Table
from gapline.report.writers.fitted import fitted_lines
from gapline.terminal import console, visible
from gapline.terminal import width as terminal_width

# Wider than any table: a file has no edge.
_UNBOUNDED = 1_000_000


@dataclass(frozen=True, slots=True)
class View:
    """How tables are shown: stacked with `all_columns`, else without those that do not fit, and `how` to see them."""

    all_columns: bool = False
    how: str = "a wider terminal shows them"


PLAIN = View()


def to_text(table: Table) -> str:
    """Return a table as it stands in a file: every column, every name in full, no colours."""
    lines = fitted_lines(table, _UNBOUNDED, digests=True)
    return visible("\n".join("".join(span.text for span in line).rstrip() for line in lines))


def print_table(table: Table, view: View = PLAIN) -> None:
    """Print a table as wide as the terminal, its caption above, the best in bold, its notes below in small print."""
    from rich.text import Text as RichText

    out = console()
    for line in fitted_lines(table, terminal_width(), all_columns=view.all_columns, how=view.how):
        # As `Text`, never as a string: rich would read brackets in a name as markup.
        out.print(RichText.assemble(*((visible(span.text), span.style) for span in line)), soft_wrap=True)


def print_tables(tables: Iterable[Table], view: View = PLAIN) -> None:
    """Print tables below each other, a line between them."""
    out = console()
    for number, table in enumerate(tables):
        if number:
            out.print()
        print_table(table, view)
