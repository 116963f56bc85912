"""Tables and text that LaTeX typesets as they stand."""

import math
import re
from collections.abc import Iterable, Sequence

from gapline.model.text import printable
from gapline.report.table import Part, Table

# A table of more letters across than fit on a page of text is set smaller and tighter.
SIZES = (
    (75, "\\small"),
    (90, "\\footnotesize\\setlength{\\tabcolsep}{4pt}"),
    (math.inf, "\\scriptsize\\setlength{\\tabcolsep}{3pt}"),
)
_SPECIAL = {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    **{letter: f"\\{letter}" for letter in "{}$&#%_"},
    # In braces, so that two of them do not join into another quote; by number, since babel may take the double one.
    '"': r"\symbol{34}", "'": "{'}", "`": "{`}",
    # Brackets in braces: `\\[` and `\item[` would read them as an argument.
    "[": "{[}", "]": "{]}", "*": "{*}",
    "−": "$-$", "–": "--", "—": "---", "…": r"\dots{}", "†": r"\textdagger{}", "“": "``", "”": "''",
    "×": r"$\times$", "·": r"$\cdot$", "≤": r"$\le$", "≥": r"$\ge$",
    "Λ": r"$\Lambda$", "Γ": r"$\Gamma$", "ϱ": r"$\varrho$", "θ": r"$\theta$", "Δ": r"$\Delta$",
}  # fmt: skip
# A digest is one long word: it may be broken after every eighth letter.
_DIGEST = re.compile("[0-9a-f]{64}|(?<=:dir:)[0-9a-f]{40}")
# Most cells of a long table: nothing in them needs a look at every letter.
_PLAIN = re.compile("[A-Za-z0-9 .,:;()+/=?!-]{0,63}")
# Latin letters that the T1 fonts have.
_LATIN = frozenset(map(chr, range(0xC0, 0x180))) - frozenset("ĦħĸĿŀŉŦŧſ")


def to_latex(table: Table, head: Sequence[str] = (), *, most_rows: int = 45) -> str:
    """Return a `table` environment in booktabs style; one that is too long for a page is continued in further ones."""
    out = comment([*head, "needs \\usepackage{booktabs}"])
    pages = _pages(table, most_rows)
    # The widest cells of the whole table, so that its pages look alike: looked for once.
    size = next(size for letters, size in SIZES if _letters(table) <= letters)
    for number, parts in enumerate(pages):
        more = f" (continued, {number + 1} of {len(pages)})" if number else ""
        out += _latex_page(table, parts, escape(table.caption + more), size=size, first=number == 0)
    return out


def _latex_page(table: Table, parts: list[Part], caption: str, *, size: str, first: bool) -> str:
    sides = "".join("l" if column.text else "r" for column in table.columns)
    notes = "".join(f" {escape(note)}" for note in table.notes) if first else ""
    # A label twice is a warning of LaTeX and a wrong number in the text.
    label = f"  \\label{{tab:{table.name}}}\n" if first else ""
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


def _pages(table: Table, most: int) -> list[list[Part]]:
    pages: list[list[Part]] = [[]]
    room = most
    for heading, rows in table.parts:
        rest = rows
        while True:
            # A heading goes with its first row: a part that finds no room begins on the next page.
            if room <= 0 and pages[-1]:
                pages.append([])
                room = most
            pages[-1].append((heading, rest[:room]))
            taken, rest = rest[:room], rest[room:]
            room -= len(taken)
            if not rest:
                break
    return pages


def escape(text: object) -> str:
    r"""Return text that compiles under pdflatex and reads as it stands; a letter it cannot set is named by its number.

    >>> print(escape("a_b & 50% of {x}\\"), escape("中"))
    a\_b \& 50\% of \{x\}\textbackslash{} {[}U+4E2D{]}
    """
    shown = printable(text)
    if _PLAIN.fullmatch(shown):
        return shown
    escaped = "".join(_escape_letter(letter) for letter in shown)
    return _DIGEST.sub(lambda found: "\\allowbreak{}".join(re.findall(".{1,8}", found[0])), escaped)


def _escape_letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    if ord(letter) < 0x7F or letter in _LATIN:
        return letter
    return f"{{[}}U+{ord(letter):04X}{{]}}"


def number_cell(text: str) -> str:
    """Return a formatted number for LaTeX, with a minus sign instead of a hyphen.

    >>> number_cell("-0.105"), number_cell("1.2 %")
    ('$-$0.105', '1.2 \\\\%')
    """
    # In text a hyphen is shorter than a minus sign, and columns of numbers would not line up.
    return "$-$" + escape(text[1:]) if text.startswith("-") else escape(text)


def comment(lines: Iterable[str]) -> str:
    """Return lines as LaTeX comments; nothing in them can end one."""
    return "".join(f"% {' '.join(printable(line).split())}\n" for line in lines)
