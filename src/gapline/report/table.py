"""A table with its numbers and texts: every writer prints the same cells."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from gapline.report.numbers import number
from gapline.statistics.cells import TIE


class Text(NamedTuple):
    """The text of one cell; bold if it is the best of its column."""

    text: str
    bold: bool = False


class Column(NamedTuple):
    """A column head: its text for Markdown, for LaTeX (by default the same, escaped), and the alignment of the column.

    `spare` is the order in which a narrow terminal drops columns: 0 is never dropped, larger numbers go first, and
    among equal ones the last column. By default, columns of text stay and columns of numbers have 1.
    """

    head: str
    latex: str | None = None
    text: bool = False
    spare: int | None = None

    @property
    def expendable(self) -> int:
        """The order in which it is dropped; 0 if never."""
        return (0 if self.text else 1) if self.spare is None else self.spare


# Larger tables are neither readable in print nor fast in LaTeX: the CSV has all rows.
MOST_ROWS = 10_000
# Rows under a heading, or without one.
Part = tuple[str | None, tuple[tuple[Text, ...], ...]]


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready for writing: `parts` are blocks of rows, each under a heading or None, `frame` has all numbers."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    parts: tuple[Part, ...]
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[tuple[Text, ...]]:
        """All rows, without headings."""
        return [row for _, rows in self.parts for row in rows]


def shortened(table: Table, most: int = MOST_ROWS) -> Table:
    """Return the table to print: if it is too long, its first rows and a note.

    >>> table = frame_table("t", "Three", pl.DataFrame({"arm": ["a", "b", "c"]}))
    >>> shortened(table, 2).rows, shortened(table, 2).notes
    ([(Text(text='a', bold=False),), (Text(text='b', bold=False),)], ('The first 2 of 3 rows; t.csv has all.',))
    """
    size = len(table.rows)
    if size <= most:
        return table
    parts: list[Part] = []
    room = most
    for heading, rows in table.parts:
        if room > 0:
            parts.append((heading, rows[:room]))
        room -= len(rows)
    note = f"The first {most:,} of {size:,} rows; {table.name}.csv has all."
    return replace(table, parts=tuple(parts), notes=(note, *table.notes))


def capital(*names: str, text: bool = False, spare: int | None = None) -> list[Column]:
    """Return columns whose heads LaTeX prints with a capital."""
    return [Column(name, name.capitalize(), text, spare) for name in names]


Record = Mapping[str, Any]


class Field(NamedTuple):
    """A column, the function that formats its cell of a row, and the number whose minimum in a part is the best.

    The number is None if a row does not compete.
    """

    column: Column
    write: Callable[[Record], Text | str]
    value: Callable[[Record], float | None] | None = None


def field(
    column: Column,
    key: str,
    form: Callable[[Any], str] = str,
    *,
    may: Callable[[Record], bool] | None = None,
    turn: float = 1.0,
) -> Field:
    """Return a column with one value of the row, formatted by `form`.

    The smallest value of the rows that `may` compete is bold; with a `turn` of -1 the largest.
    """

    def value(row: Record) -> float | None:
        return turn * row[key] if may is not None and may(row) and row[key] is not None else None

    return Field(column, lambda row: form(row[key]), None if may is None else value)


def fields(
    *names: str, form: Callable[[Any], str] = str, text: bool = False, spare: int | None = None, plain: bool = False
) -> list[Field]:
    """Return columns with one value of the row each: `final gap` is the key `final_gap`.

    LaTeX prints their heads with a capital, unless `plain`.
    """
    heads = (Column(name, None if plain else name.capitalize(), text, spare) for name in names)
    return [field(head, head.head.replace(" ", "_"), form) for head in heads]


def field_table(
    name: str,
    caption: str,
    fields: Sequence[Field],
    parts: Iterable[tuple[str | None, Sequence[Record]]],
    frame: pl.DataFrame,
    notes: Iterable[str] = (),
) -> Table:
    """Return a table with the rows of each part, formatted by field, and the best of a part in bold."""
    written = []
    for heading, rows in parts:
        columns: list[list[Text | str]] = [[one.write(row) for row in rows] for one in fields]
        for cells, one in zip(columns, fields, strict=True):
            if one.value is not None:
                cells[:] = map(Text, map(str, cells), smallest([one.value(row) for row in rows]))
        written.append(part(heading, zip(*columns, strict=True)))
    return Table(name, caption, tuple(one.column for one in fields), tuple(written), frame, tuple(notes))


def part(heading: str | None, rows: Iterable[Sequence[Text | str]]) -> Part:
    """Return rows under a heading; a plain string becomes a cell that is not bold."""
    return heading, tuple(tuple(Text(c) if isinstance(c, str) else c for c in row) for row in rows)


def one_part(rows: Iterable[Sequence[Text | str]]) -> tuple[Part, ...]:
    """Return rows as a single part without a heading."""
    return (part(None, rows),)


def smallest(values: Sequence[float | None]) -> list[bool]:
    """Mark the smallest of the values, ties included; None does not compete.

    >>> smallest([0.2, None, 0.1, 0.1])
    [False, False, True, True]
    """
    # Values that print alike are marked alike: a rounding difference makes no winner.
    limit = min((value for value in values if value is not None), default=0.0) + TIE
    return [value is not None and value <= limit for value in values]


def frame_table(
    name: str, caption: str, frame: pl.DataFrame, *, text: Sequence[str] = ("arm",), notes: Sequence[str] = ()
) -> Table:
    """Return a frame as a table: `text` columns flush left, scores with five decimals, counts with commas.

    >>> table = frame_table("t", "Two", pl.DataFrame({"arm": ["a"], "runs": [1200], "score": [0.5]}))
    >>> [cell.text for cell in table.rows[0]]
    ['a', '1,200', '0.50000']
    """
    # A column of reasons is only useful if something is missing.
    kept = [n for n in frame.columns if not (n == "reason" and frame[n].null_count() == frame.height)]
    return Table(
        name=name,
        caption=caption,
        columns=tuple(Column(n.replace("_", " "), text=n in text) for n in kept),
        parts=one_part([_value(value) for value in row] for row in frame.select(kept).iter_rows()),
        frame=frame,
        notes=tuple(notes),
    )


def text_table(
    name: str, caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, text: int, notes: Sequence[str]
) -> Table:
    """Return rows of text as a table, the first `text` columns flush left; the CSV has the same texts."""
    return word_table(name, caption, [Column(head, text=k < text) for k, head in enumerate(header)], rows, notes=notes)


def word_table(
    name: str, caption: str, columns: Sequence[Column], rows: Iterable[Sequence[str]], *, notes: Sequence[str] = ()
) -> Table:
    """Return rows of text under any columns; the CSV has the same texts."""
    listed = [list(row) for row in rows]
    return Table(
        name=name,
        caption=caption,
        columns=tuple(columns),
        parts=one_part(listed),
        frame=pl.DataFrame(listed, schema=dict.fromkeys((c.head for c in columns), pl.String), orient="row"),
        notes=tuple(notes),
    )


def _value(value: Any) -> str:
    # Test this before int, since a bool is an int in Python.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
