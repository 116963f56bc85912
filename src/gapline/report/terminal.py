"""Tables on a terminal, and text that is safe to print."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def shown(text: object) -> str:
    """Replace what a terminal would obey instead of showing: control, bidi and other unprintable characters.

    >>> shown("a" + chr(27) + "[31mb")
    'a\\\\u001b[31mb'
    """
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(text))


def number(value: float | None, *, digits: int = 5) -> str:
    """Format a score; a quantity that does not exist is a dash, one that overflowed says so.

    >>> number(0.0083712), number(None), number(float("inf"))
    ('0.00837', '–', 'overflow')
    """
    if value is None:
        return "–"
    if value in (float("inf"), float("-inf")):
        return "overflow"
    return f"{value:.{digits}f}"


def percent(value: float | None, *, digits: int = 2) -> str:
    """Format a share or a raw gap as a percentage.

    >>> percent(0.012345)
    '1.23 %'
    """
    if value is None or value in (float("inf"), float("-inf")):
        return number(value)
    return f"{100 * value:.{digits}f} %"


def console() -> "Console":
    """Return a console that does not fold tables when the output goes to a file or a pipe."""
    from rich.console import Console

    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=240)


def print_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int = 1, caption: str = ""
) -> None:
    """Print a table: the first columns are text, the others are numbers set flush right."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=escape(shown(title)), box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False
    )
    for k, name in enumerate(header):
        table.add_column(escape(shown(name)), justify="left" if k < text_columns else "right", overflow="fold")
    for row in rows:
        table.add_row(*(escape(shown(cell)) for cell in row))
    out = console()
    out.print(table)
    for line in caption.splitlines():
        out.print(shown(line), style="dim", markup=False, soft_wrap=True)
