"""Tables that LaTeX typesets as they stand, of any size: long ones go on over pages, wide ones are turned or split."""

from collections.abc import Sequence

from gapline.report.macro_file import caption_macros, caption_name
from gapline.report.table import Table, Text
from gapline.report.writers.latex_fit import SIZES, Fitted, broken, fit, lines_of, measure
from gapline.report.writers.latex_text import comment, escape, number_cell

# Lines of a page that a floating table may take, its caption among them; longer ones go on over pages.
MOST_LINES = 42
# Of two columns of text, one holds a table of so many points.
ONE_COLUMN = 240.0
# Rows that longtable sets at once: columns are as wide on each page as in all of these.
CHUNK = 2000


def to_latex(table: Table, head: Sequence[str] = ()) -> str:
    """Return a table in booktabs style; its caption is a macro, which a paper may define otherwise before."""
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
    """Return a float, all pieces below each other under one caption."""
    # Across both columns of a paper that has two, which is the same in one that has one.
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
    """Return a table that goes on over pages, each piece by itself under the same number."""
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
    """Return the rows of the heads, which end on the same line; boxes give their columns the width of all pages."""
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
    # Only a cell that is too long is set in a box: the others cost LaTeX nothing.
    if column.text and measure(cell.text, fitted.size, bold=cell.bold) > width + 0.01:
        inside = broken(cell.text, width, fitted.size, bold=cell.bold)
        strong = "\\bfseries " if cell.bold else ""
        return f"\\parbox[t]{{{width:.1f}pt}}{{\\raggedright {strong}{inside}\\strut}}"
    return f"\\textbf{{{text}}}" if cell.bold else text
