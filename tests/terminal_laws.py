"""What every output on a terminal keeps: its width, its words whole, and one number of decimals in each column."""

import re
from collections.abc import Iterable

from gapline.report.table import Table
from gapline.terminal import cells

# A number as a table prints it, with the mark or unit behind it.
_NUMBER = re.compile(r"(?:≥ )?[+−-]?\d[\d,]*(\.\d+)?(?: %| †| \(.*\))?(?: or .*)?")
# Words that only a narrow output says.
_SAID = frozenset(
    [
        "left",
        "out",
        "at",
        "columns:",
        "columns",
        "names",
        "in",
        "full:",
        "=",
        "and",
        "more:",
        "more",
        "none",
        "are",
        "shortened;",
        "shows",
        "them",
    ]
)


def beyond(text: str, width: int) -> list[str]:
    """Return the lines that are wider than a terminal; a single word may be, since it is not to be split."""
    return [line for line in text.splitlines() if cells(line) > width and len(line.split()) > 1]


def split_words(narrow: str, wide: str, *, known: Iterable[str] = ()) -> set[str]:
    """Return the words of a narrow output that the wide one does not have: what is left of a word that was split.

    A shortened name has an ellipsis, and what is said of columns that were left out has words of its own.
    """
    whole = {word.strip("(),") for word in [*wide.split(), *known, *_SAID]}
    words = {word.strip("(),") for word in narrow.split() if "…" not in word and not set(word) <= set("─└┤│━")}
    return {word for word in words - whole if not word.isdigit()}


def ragged(table: Table) -> list[str]:
    """Return the columns of numbers whose cells differ in their decimals."""
    found = []
    for k, column in enumerate(table.columns):
        numbers = [] if column.text else [m for row in table.rows if (m := _NUMBER.fullmatch(row[k].text))]
        if len({len(number.group(1) or "") for number in numbers}) > 1:
            found.append(f"{table.name}: {column.head}: {[number.group(0) for number in numbers][:6]}")
    return found
