"""A table with its numbers and its words: every writer prints the same cells."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from gapline.report.numbers import number
from gapline.statistics.cells import TIE


class Text(NamedTuple):
    """What stands in one place of a table; bold where it is the best of its column."""

    text: str
    bold: bool = False


class Column(NamedTuple):
    """A column head: what Markdown prints, what LaTeX prints (escaped from the same where not given), and the side.

    `spare` says how well a narrow terminal does without it: 0 it stays, the larger the sooner it goes, of equal ones
    the last; where it is not given, words stay and numbers are 1.
    """

    head: str
    latex: str | None = None
    text: bool = False
    spare: int | None = None

    @property
    def expendable(self) -> int:
        """How soon it goes; 0 where it stays."""
        return (0 if self.text else 1) if self.spare is None else self.spare


# Of more rows than this nobody reads a print, nor waits for LaTeX to set it: the CSV has them.
MOST_ROWS = 10_000
# Rows under a heading, or under none.
Part = tuple[str | None, tuple[tuple[Text, ...], ...]]


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready to be written: `parts` are blocks of rows, each under a heading or None, `frame` all numbers."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    parts: tuple[Part, ...]
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[tuple[Text, ...]]:
        """All rows, headings apart."""
        return [row for _, rows in self.parts for row in rows]


def shortened(table: Table, most: int = MOST_ROWS) -> Table:
    """Return the table to be printed: the first rows where there are too many, and a note of that.

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
    """A column, and how the cell of a row is written in it."""

    column: Column
    write: Callable[[Record], Text | str]


def field(column: Column, key: str, form: Callable[[Any], str] = str) -> Field:
    """Return a column with one value of the row, as `form` writes it."""
    return Field(column, lambda row: form(row[key]))


def fields(
    *names: str, form: Callable[[Any], str] = str, text: bool = False, spare: int | None = None, plain: bool = False
) -> list[Field]:
    """Return columns with one value of the row each: `final gap` is `final_gap`.

    LaTeX prints their heads with a capital, unless `plain`.
    """
    heads = (Column(name, None if plain else name.capitalize(), text, spare) for name in names)
    return [field(head, head.head.replace(" ", "_"), form) for head in heads]


def field_table(
    name: str,
    caption: str,
    fields: Sequence[Field],
    rows: Sequence[Record] | Mapping[str, Sequence[Record]],
    frame: pl.DataFrame,
    notes: Iterable[str] = (),
) -> Table:
    """Return rows, or those under each heading that has any, written field by field."""
    parts = {heading: mine for heading, mine in rows.items() if mine} if isinstance(rows, Mapping) else {None: rows}
    written = (part(heading, [[one.write(row) for one in fields] for row in mine]) for heading, mine in parts.items())
    return Table(name, caption, tuple(one.column for one in fields), tuple(written), frame, tuple(notes))


class Cells(NamedTuple):
    """A column with all of its cells."""

    column: Column
    cells: Sequence[Text | str]


def cells(name: str, texts: Sequence[Text | str], *, text: bool = False, spare: int | None = None) -> Cells:
    """Return cells under a head that LaTeX prints with a capital."""
    return Cells(capital(name, text=text, spare=spare)[0], texts)


def cell_rows(columns: Sequence[Cells]) -> list[tuple[Text | str, ...]]:
    """Return the rows of columns beside each other."""
    return list(zip(*(one.cells for one in columns), strict=True))


def best_cells(
    values: Sequence[float | None],
    eligible: Sequence[bool],
    form: Callable[[float | None], str] = number,
    *,
    turn: float = 1.0,
) -> list[Text]:
    """Return the values as text, the smallest of the eligible ones in bold; with a `turn` of -1 the largest."""
    marks = smallest([None if value is None else turn * value for value in values], eligible)
    return [Text(form(value), mark) for value, mark in zip(values, marks, strict=True)]


def part(heading: str | None, rows: Iterable[Sequence[Text | str]]) -> Part:
    """Return rows under a heading; a plain string is a cell that is not bold."""
    return heading, tuple(tuple(Text(c) if isinstance(c, str) else c for c in row) for row in rows)


def one_part(rows: Iterable[Sequence[Text | str]]) -> tuple[Part, ...]:
    """Return rows as a single part without a heading."""
    return (part(None, rows),)


def smallest(values: Sequence[float | None], eligible: Sequence[bool]) -> list[bool]:
    """Mark the smallest of the values that exist and are eligible, ties included.

    >>> smallest([0.2, None, 0.1, 0.1], [True, True, True, False])
    [False, False, True, False]
    """
    known = [value for value, may in zip(values, eligible, strict=True) if may and value is not None]
    if not known:
        return [False] * len(values)
    # What prints alike is marked alike: a difference of rounding makes no winner.
    limit = min(known) + TIE
    return [bool(may and value is not None and value <= limit) for value, may in zip(values, eligible, strict=True)]


def frame_table(
    name: str, caption: str, frame: pl.DataFrame, *, text: Sequence[str] = ("arm",), notes: Sequence[str] = ()
) -> Table:
    """Return a frame as it is: `text` columns flush left, scores with five decimals, counts with their commas.

    >>> table = frame_table("t", "Two", pl.DataFrame({"arm": ["a"], "runs": [1200], "score": [0.5]}))
    >>> [cell.text for cell in table.rows[0]]
    ['a', '1,200', '0.50000']
    """
    # A column of reasons says something only where something is missing.
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
    """Return rows of text as a table, the first `text` columns flush left; the CSV has the same words."""
    return word_table(name, caption, [Column(head, text=k < text) for k, head in enumerate(header)], rows, notes=notes)


def word_table(
    name: str, caption: str, columns: Sequence[Column], rows: Iterable[Sequence[str]], *, notes: Sequence[str] = ()
) -> Table:
    """Return rows of text under columns of any kind; the CSV has the same words."""
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
    # Before int: in Python a bool is one.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
