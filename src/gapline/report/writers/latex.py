"""Tables and texts for LaTeX: long tables continue over pages, wide ones are transposed or split."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gapline.report.table import Column, Table, Text, one_part
from gapline.report.writers.latex_text import BREAK, caption_macros, caption_name, comment, escape, number_cell
from gapline.text import printable

# The most points for a table: the text width of article at 10 pt is 345, minus 2 % for rounding.
TEXT_WIDTH = 338.0
# Least widths of a column of words in points: the wanted one, and one to fall below only if nothing else fits.
WANTED, LEAST = 110.0, 62.0
# Heads are broken into lines of at least this width in points.
HEAD = 42.0
# A table is only transposed if it has at most this many rows.
MOST_TURNED = 12

# Widths of the roman letters at 10 pt in hundredths of a point; bold and small letters are relatively wider.
_WIDTHS = {
    letter: width
    for width, letters in {
        278: "!',.:;[]`il|", 306: "fj", 334: "- ", 379: "I", 389: "()t", 393: "r", 395: "s", 445: "cez", 473: "?",
        500: '"$*/0123456789\\ag{}', 516: "o", 514: "J", 545: "^~",
        528: "kqvxy", 556: "Sbdhnpu", 611: "Z", 625: "L", 653: "F", 681: "EP",
        709: "B", 723: "CTw", 737: "R", 752: "AHNUVXY_", 764: "D", 778: "&+<=>@KOQ−", 785: "G", 834: "#%m", 917: "M",
        1028: "W",
    }.items()
    for letter in letters
}  # fmt: skip
_BOLD = 1.16
# Other characters: accented letters, Greek, signs; characters without a glyph are written [U+1F600].
_OTHER, _NUMBERED = 905, 5600


class Size(NamedTuple):
    """A font size: its command, its points, its relative width of letters, and the space between columns."""

    command: str
    points: float
    wider: float
    space: float


SIZES = (
    Size("\\small", 9, 1.029, 6.0),
    Size("\\footnotesize", 8, 1.063, 4.0),
    Size("\\scriptsize", 7, 1.165, 3.0),
)


class Fitted(NamedTuple):
    """The layout of a table: the widths of its columns in points, the lines of its heads, the columns of each piece."""

    table: Table
    size: Size
    widths: tuple[float, ...]
    heads: tuple[tuple[str, ...], ...]
    pieces: tuple[tuple[int, ...], ...]

    @classmethod
    def natural(cls, table: Table, size: Size) -> "Fitted":
        """Return the layout in one piece, with columns as wide as their cells and heads need."""
        widths, heads = [], []
        for k, column in enumerate(table.columns):
            # The sign of a number is longer than the hyphen in its text.
            cells = [(c.text if column.text else c.text.replace("-", "−"), c.bold) for c in (r[k] for r in table.rows)]
            widest = max((measure(text, size, bold=bold) for text, bold in cells), default=0.0)
            heads.append(head_lines(column, max(widest, HEAD), size))
            widths.append(max(widest, *(_head_width(line, size) for line in heads[-1])))
        return cls(table, size, tuple(widths), tuple(heads), (tuple(range(len(widths))),))

    @property
    def gap(self) -> float:
        """The space between two columns in points."""
        return 2 * self.size.space

    @property
    def words(self) -> list[int]:
        """The columns of words."""
        return [k for k, column in enumerate(self.table.columns) if column.text]

    def width(self, piece: Sequence[int]) -> float:
        """Return the width of a piece in points, from its first to its last column."""
        return sum(self.widths[k] for k in piece) + self.gap * (len(piece) - 1)

    def shared(self, least: float, pieces: Sequence[Sequence[int]] | None = None) -> "Fitted | None":
        """Return the layout with columns of words in the space left by numbers; None if one gets less than `least`."""
        cut = tuple(map(tuple, pieces or self.pieces))
        wanted = [self.widths[k] for k in self.words]
        shares = _shared(wanted, TEXT_WIDTH - max(map(self.width, cut)) + sum(wanted), least)
        if shares is None:
            return None
        narrowed = dict(zip(self.words, shares, strict=True))
        widths = tuple(narrowed.get(k, width) for k, width in enumerate(self.widths))
        return self._replace(widths=widths, pieces=cut)

    def split(self) -> "Fitted":
        """Return the layout in few pieces of similar width; each begins with the words and what is before them."""
        first = self.words[0] if self.words else 0
        keys = [k for k in range(len(self.widths)) if k in self.words or k < first]
        others = [k for k in range(len(self.widths)) if k not in keys]
        sums = np.cumsum([0.0, *(self.widths[k] + self.gap for k in others)])
        # Cut into pieces of about the same width.
        for count in range(1, len(others) + 1):
            nearest = np.abs(sums[:, None] - np.linspace(0.0, sums[-1], count + 1)).argmin(axis=0)
            pieces = [[*keys, *others[low:high]] for low, high in pairwise(np.unique(nearest).tolist())]
            if (found := self.shared(LEAST, pieces)) is not None:
                return found
        # Even one number next to the words is too wide: the words get the rest.
        pieces = [[*keys, k] for k in others] or [keys]
        room = TEXT_WIDTH - max(map(self.width, pieces)) + sum(self.widths[k] for k in self.words)
        return self.shared(0.999 * room / max(1, len(self.words)), pieces) or self


def measure(text: str, size: Size, *, bold: bool = False) -> float:
    """Return the width of a text in points.

    >>> round(measure("score", SIZES[0]), 1)
    20.3
    """
    units = sum(_WIDTHS.get(letter) or _other(letter) for letter in text)
    return units / 1000 * size.points * size.wider * (_BOLD if bold else 1.0)


def _other(letter: str) -> float:
    shown = printable(letter)
    if shown != letter:
        return sum(_WIDTHS[part] for part in shown)
    return _NUMBERED if "U+" in escape(letter) else _OTHER


def fit(table: Table, /) -> Fitted:
    """Return the first layout in which the table is not wider than the text."""
    natural = [Fitted.natural(table, size) for size in SIZES]
    exchanged = _turned(table)
    turned = [] if exchanged is None else [Fitted.natural(exchanged, size) for size in SIZES]
    ways = (
        way
        for forms, levels in (
            (natural, (math.inf, WANTED)),
            (turned, (math.inf, WANTED)),
            (natural, (LEAST,)),
            (turned, (LEAST,)),
        )
        for least in levels
        for form in forms
        if (way := form.shared(least)) is not None
    )
    return next(ways, None) or min((form.split() for form in natural[1:]), key=lambda way: len(way.pieces))


def broken(text: str, width: float, size: Size, *, bold: bool = False) -> str:
    """Return a text for a box of some width: breakable after marks, and inside words that are wider than the box."""
    return BREAK.join(escape(piece) for piece in _breaks(printable(text), width, size, bold=bold))


def _breaks(text: str, width: float, size: Size, *, bold: bool = False) -> list[str]:
    """Split a text at its possible breaks."""
    pieces: list[str] = []
    for word in re.findall(r"[^\s_/.:,;=-]+[_/.:,;=-]*\s*|[_/.:,;=-]+\s*|\s+", text):
        rest = word
        while measure(rest.rstrip(), size, bold=bold) > width and len(rest) > 1:
            most = next(k for k in range(len(rest), 0, -1) if k == 1 or measure(rest[:k], size, bold=bold) <= width)
            pieces.append(rest[:most])
            rest = rest[most:]
        pieces.append(rest)
    return pieces


def _shared(wanted: Sequence[float], room: float, least: float) -> list[float] | None:
    """Share room between columns: none gets more than it wants, none less than `least` unless it wants less."""
    if sum(min(want, least) for want in wanted) > room:
        return None
    # Find the largest share for which the sum fits by bisection: narrower columns get all that they want.
    low, high = 0.0, max(wanted, default=0.0)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(min(want, middle) for want in wanted) <= room else (low, middle)
    return [min(want, max(low, least)) for want in wanted] if sum(wanted) > room else list(wanted)


def head_lines(column: Column, width: float, size: Size) -> tuple[str, ...]:
    """Return the lines of a column's head as LaTeX, broken where that keeps it within `width`."""
    if column.latex is not None and re.search(r"[\\$]", column.latex):
        return (column.latex,)
    text = printable(column.head if column.latex is None else column.latex)
    lines: list[str] = []
    for piece in _breaks(text, width, size):
        if lines and measure((lines[-1] + piece).rstrip(), size) <= width:
            lines[-1] += piece
        else:
            lines.append(piece)
    return tuple(escape(line.strip()) for line in lines) or ("",)


def _head_width(line: str, size: Size) -> float:
    # Count a command as one letter, and its braces and marks as nothing.
    return measure(re.sub(r"[{}$_^]", "", re.sub(r"\\(?:math|text)?[A-Za-z]+|\\.", "M", line)), size)


def _turned(table: Table) -> Table | None:
    """Return the transposed table, if it allows it: one block of numbers under one column of names."""
    rows, columns = table.rows, table.columns
    one_name = bool(columns) and columns[0].text and not any(column.text for column in columns[1:])
    if not one_name or len(table.parts) != 1 or not 0 < len(rows) <= min(MOST_TURNED, len(columns) - 2):
        return None
    heads = (Column("", text=True), *(Column(row[0].text) for row in rows))
    cells = [[Text(column.head), *(row[k] for row in rows)] for k, column in enumerate(columns) if k]
    return Table(table.name, table.caption, heads, one_part(cells), table.frame, table.notes)


def lines_of(fitted: Fitted, most: int) -> int:
    """Return the lines of all rows in all pieces, or more than `most` once that is certain."""
    table, size = fitted.table, fitted.size
    lines = 0
    for row in table.rows:
        shares = [
            measure(cell.text, size, bold=cell.bold) / max(1.0, width)
            for cell, width in zip(row, fitted.widths, strict=True)
        ]
        # Broken lines are not completely filled.
        deepest = max(1 if share <= 1.001 else math.ceil(1.1 * share) for share in shares)
        lines += deepest * len(fitted.pieces)
        if lines > most:
            break
    return lines + (len(table.parts) + max(map(len, fitted.heads), default=1)) * len(fitted.pieces)


# The most lines of a floating table on a page, including its caption; longer ones continue over pages.
MOST_LINES = 42
# In points: a table up to this width fits one column of a two-column text.
ONE_COLUMN = 240.0
# Rows that longtable sets at once: columns have the same width on all pages of these rows.
CHUNK = 2000


def to_latex(table: Table, head: Sequence[str] = ()) -> str:
    """Return a table in booktabs style; its caption is a macro, which a paper may define first."""
    fitted, label = fit(table), table.name
    macro = caption_name("table", label)
    caption = table_caption(table)
    lines = lines_of(fitted, MOST_LINES) + measure(caption, SIZES[0]) / 300
    long = lines > MOST_LINES
    needs = "booktabs and longtable" if long else "booktabs alone"
    out = [comment([*head, f"needs {needs}"]), caption_macros("table", {label: caption})]
    out += _long(fitted, macro, label) if long else _floating(fitted, macro, label)
    return "".join(out)


def table_caption(table: Table) -> str:
    """Return the caption of a table with its notes, as sentences."""
    return " ".join([f"{table.caption}.", *table.notes])


def _floating(fitted: Fitted, macro: str, label: str) -> list[str]:
    """Return a float with all pieces below each other under one caption."""
    # Across both columns of a two-column paper, which changes nothing in a one-column paper.
    float_ = "table" if max(map(fitted.width, fitted.pieces)) <= ONE_COLUMN else "table*"
    out = [f"\\begin{{{float_}}}[htbp]\n  \\centering\n  {_type(fitted)}\n"]
    out.append(f"  \\caption{{\\{macro}}}\n  \\label{{tab:{label}}}\n")
    for number, piece in enumerate(fitted.pieces):
        out.append("  \\par\\bigskip\n" if number else "")
        out.append(f"  \\begin{{tabular}}{{{_sides(fitted, piece)}}}\n    \\toprule\n")
        out += [*_heads(fitted, piece), "    \\midrule\n", *_rows(fitted, piece)]
        out.append("    \\bottomrule\n  \\end{tabular}\n")
    return [*out, f"\\end{{{float_}}}\n"]


def _long(fitted: Fitted, macro: str, label: str) -> list[str]:
    """Return a table that continues over pages, each piece separately under the same number."""
    out = [f"\\begingroup\n{_type(fitted)}\n\\setlength{{\\LTcapwidth}}{{\\textwidth}}"]
    out.append(f"\\setcounter{{LTchunksize}}{{{CHUNK}}}\n")
    for number, piece in enumerate(fitted.pieces):
        more = f" ({number + 1} of {len(fitted.pieces)})" if len(fitted.pieces) > 1 else ""
        out.append("\\addtocounter{table}{-1}\n" if number else "")
        out.append(f"\\begin{{longtable}}{{{_sides(fitted, piece)}}}\n")
        caption = f"\\caption{{\\{macro}{{}}{more}}}\\label{{tab:{label}}}"
        if number:
            caption = f"\\caption[]{{Continued{more}.}}"
        heads = _heads(fitted, piece, boxed=True)
        out += [f"  {caption} \\\\\n    \\toprule\n", *heads, "    \\midrule\n  \\endfirsthead\n"]
        out += [f"  \\caption[]{{Continued{more}.}} \\\\\n    \\toprule\n", *heads, "    \\midrule\n  \\endhead\n"]
        out += ["    \\bottomrule\n  \\endfoot\n", *_rows(fitted, piece), "\\end{longtable}\n"]
    return [*out, "\\endgroup\n"]


def _type(fitted: Fitted) -> str:
    return f"{fitted.size.command}\\setlength{{\\tabcolsep}}{{{fitted.size.space:g}pt}}"


def _sides(fitted: Fitted, piece: Sequence[int]) -> str:
    return "@{}" + "".join("l" if fitted.table.columns[k].text else "r" for k in piece) + "@{}"


def _heads(fitted: Fitted, piece: Sequence[int], *, boxed: bool = False) -> list[str]:
    """Return the rows of the heads, aligned at the bottom; boxes give their columns the same width on all pages."""
    deepest = max(len(fitted.heads[k]) for k in piece)
    stacked = [("",) * (deepest - len(fitted.heads[k])) + fitted.heads[k] for k in piece]
    lines = [list(line) for line in zip(*stacked, strict=True)]
    if boxed:
        lines[-1] = [
            f"\\makebox[{fitted.widths[k]:.1f}pt][{'l' if fitted.table.columns[k].text else 'r'}]{{{head}}}"
            for k, head in zip(piece, lines[-1], strict=True)
        ]
    return ["    " + " & ".join(line) + " \\\\\n" for line in lines]


def _rows(fitted: Fitted, piece: Sequence[int]) -> list[str]:
    out = []
    for number, (heading, rows) in enumerate(fitted.table.parts):
        out.append("    \\midrule\n" if number else "")
        if heading is not None:
            out.append(f"    \\multicolumn{{{len(piece)}}}{{c}}{{{_heading(fitted, piece, heading)}}} \\\\*\n")
        out += ["    " + " & ".join(_cell(fitted, row[k], k) for k in piece) + " \\\\\n" for row in rows]
    return out


def _heading(fitted: Fitted, piece: Sequence[int], heading: str) -> str:
    width = fitted.width(piece)
    if measure(heading, fitted.size) <= width:
        return escape(heading)
    return f"\\parbox{{{width:.1f}pt}}{{\\centering {broken(heading, width, fitted.size)}\\strut}}"


def _cell(fitted: Fitted, cell: Text, k: int) -> str:
    column, width = fitted.table.columns[k], fitted.widths[k]
    text = escape(cell.text) if column.text else number_cell(cell.text)
    # Only a cell that is too long needs a box: the others cost LaTeX nothing.
    if column.text and measure(cell.text, fitted.size, bold=cell.bold) > width + 0.01:
        inside = broken(cell.text, width, fitted.size, bold=cell.bold)
        strong = "\\bfseries " if cell.bold else ""
        return f"\\parbox[t]{{{width:.1f}pt}}{{\\raggedright {strong}{inside}\\strut}}"
    return f"\\textbf{{{text}}}" if cell.bold else text
