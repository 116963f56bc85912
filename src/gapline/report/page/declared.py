"""Tables that the page shows as Python computed them, for the declared choice: the design, ladders, kernels."""

from typing import Any

from gapline.analysis.analyse import Analysis
from gapline.model.text import printable
from gapline.report.table import Table
from gapline.report.tables.design import design_tables
from gapline.report.tables.kernels import kernel_tables
from gapline.report.tables.ladders import ladder_tables


def page_tables(analysis: Analysis, /) -> dict[str, Any]:
    """Return the variables of the template: `evidence` and `kernel_tables`, lists of tables in words."""
    evidence = [*design_tables(analysis), *ladder_tables(analysis.ladders.values())]
    kernels = kernel_tables(analysis.metrics, analysis.labels, over=analysis.main_words)
    return {"evidence": [table_words(table) for table in evidence], "kernel_tables": [table_words(t) for t in kernels]}


def table_words(table: Table, /) -> dict[str, Any]:
    """Return a table in words: its head, its rows under their headings, and its notes."""
    parts = [(heading, [[printable(cell.text) for cell in row] for row in rows]) for heading, rows in table.parts]
    return {
        "name": table.name,
        "title": table.caption,
        "header": [(column.head, column.text) for column in table.columns],
        "parts": parts,
        "caption": printable(" ".join(table.notes)),
    }
