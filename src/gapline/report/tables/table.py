"""A table with its numbers and its words: Markdown, CSV and LaTeX come from the same cells."""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from gapline.report.latex import comment, escape, number_cell
from gapline.report.terminal import shown

# A table of more letters across than fit on a page of text is set smaller and tighter.
SIZES = (
    (75, "\\small"),
    (90, "\\footnotesize\\setlength{\\tabcolsep}{4pt}"),
    (math.inf, "\\scriptsize\\setlength{\\tabcolsep}{3pt}"),
)


class Cell(NamedTuple):
    """A formatted value; bold where it is the best of its column."""

    text: str
    bold: bool = False


class Column(NamedTuple):
    """A column head: what Markdown prints, what LaTeX prints (escaped from the same where not given), and the side."""

    head: str
    latex: str | None = None
    text: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready to be written.

    `frame` has the numbers behind it in full, for CSV. `parts` are blocks of rows divided by a rule, each under a
    heading or None.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    parts: tuple[tuple[str | None, tuple[tuple[Cell, ...], ...]], ...]
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """All rows, headings apart."""
        return [row for _, rows in self.parts for row in rows]


def one_part(rows: Sequence[Sequence[Cell]]) -> tuple[tuple[str | None, tuple[tuple[Cell, ...], ...]], ...]:
    """Return rows as a single part without a heading."""
    return ((None, tuple(tuple(row) for row in rows)),)


def bold_best(texts: Sequence[str], best: Sequence[bool]) -> list[Cell]:
    """Return cells of one column, the best of them bold."""
    return [Cell(text, mark) for text, mark in zip(texts, best, strict=True)]


def smallest(values: Sequence[float | None], eligible: Sequence[bool], *, tie: float = 1e-12) -> list[bool]:
    """Mark the smallest of the values that exist and are eligible, ties included.

    >>> smallest([0.2, None, 0.1, 0.1], [True, True, True, False])
    [False, False, True, False]
    """
    known = [value for value, may in zip(values, eligible, strict=True) if may and value is not None]
    if not known:
        return [False] * len(values)
    limit = min(known) + tie
    return [bool(may and value is not None and value <= limit) for value, may in zip(values, eligible, strict=True)]


def largest(values: Sequence[float | None], eligible: Sequence[bool], *, tie: float = 1e-12) -> list[bool]:
    """Mark the largest of the values that exist and are eligible, ties included."""
    return smallest([None if value is None else -value for value in values], eligible, tie=tie)


def to_markdown(table: Table, head: Sequence[str] = ()) -> str:
    """Return the table in Markdown, its caption above and its notes below."""
    width = len(table.columns)
    lines = [f"**{plain(table.caption)}**", ""]
    lines.append("| " + " | ".join(plain(column.head) for column in table.columns) + " |")
    lines.append("|" + "|".join("---" if column.text else "---:" for column in table.columns) + "|")
    for heading, rows in table.parts:
        if heading is not None:
            lines.append(f"| *{plain(heading)}* |" + " |" * (width - 1))
        for row in rows:
            cells = (f"**{plain(cell.text)}**" if cell.bold else plain(cell.text) for cell in row)
            lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *(f"{plain(note)}  " for note in (*table.notes, *head))]
    return "\n".join(lines).rstrip() + "\n"


def csv_bytes(frame: pl.DataFrame) -> bytes:
    """Return the numbers in full; text is quoted, so that no cell of it is taken for a formula or a number."""
    stream = io.BytesIO()
    frame.write_csv(stream, quote_style="non_numeric")
    return stream.getvalue()


def to_latex(table: Table, head: Sequence[str] = (), *, most_rows: int = 45) -> str:
    """Return a `table` environment in booktabs style; one that is too long for a page is continued in further ones."""
    out = comment([*head, "needs \\usepackage{booktabs}"])
    pages = _pages(table, most_rows)
    for number, parts in enumerate(pages):
        more = f" (continued, {number + 1} of {len(pages)})" if number else ""
        out += _latex_page(table, parts, escape(table.caption + more), first=number == 0)
    return out


def _latex_page(
    table: Table, parts: list[tuple[str | None, tuple[tuple[Cell, ...], ...]]], caption: str, *, first: bool
) -> str:
    sides = "".join("l" if column.text else "r" for column in table.columns)
    notes = "".join(f" {escape(note)}" for note in table.notes) if first else ""
    label = f"  \\label{{tab:{table.name}}}\n" if first else ""
    size = next(size for letters, size in SIZES if _letters(table) <= letters)
    lines = [
        f"\\begin{{table}}[htbp]\n  \\centering\n  {size}\n",
        f"  \\caption{{{caption}.{notes}}}\n{label}",
        f"  \\begin{{tabular}}{{@{{}}{sides}@{{}}}}\n    \\toprule\n",
        "    " + " & ".join(c.latex if c.latex is not None else escape(c.head) for c in table.columns) + " \\\\\n",
        "    \\midrule\n",
    ]
    for number, (heading, rows) in enumerate(parts):
        if number:
            lines.append("    \\midrule\n")
        if heading is not None:
            lines.append(f"    \\multicolumn{{{len(table.columns)}}}{{c}}{{{escape(heading)}}} \\\\\n")
        for row in rows:
            cells: list[str] = []
            for cell, column in zip(row, table.columns, strict=True):
                text = escape(cell.text) if column.text else number_cell(cell.text)
                cells.append(f"\\textbf{{{text}}}" if cell.bold else text)
            lines.append("    " + " & ".join(cells) + " \\\\\n")
    lines.append("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n")
    return "".join(lines)


def _letters(table: Table) -> int:
    """Return the letters of the widest cells of all columns, and two for each space between columns."""
    widths = [len(column.head) for column in table.columns]
    for row in table.rows:
        widths = [max(width, len(cell.text)) for width, cell in zip(widths, row, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1)


def _pages(table: Table, most: int) -> list[list[tuple[str | None, tuple[tuple[Cell, ...], ...]]]]:
    pages: list[list[tuple[str | None, tuple[tuple[Cell, ...], ...]]]] = [[]]
    room = most
    for heading, rows in table.parts:
        rest = rows
        while True:
            if room <= 0 and pages[-1]:
                pages.append([])
                room = most
            pages[-1].append((heading, rest[:room]))
            taken, rest = rest[:room], rest[room:]
            room -= len(taken)
            if not rest:
                break
    return pages


def plain(text: str) -> str:
    """Escape what Markdown, or the HTML that it may hold, would take for more than text."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in shown(text)).replace("&", "&amp;")
