"""Tables that the page shows as Python computed them: the design, ladders, kernels, what other choices would say."""

from typing import Any

from gapline.analysis.analyse import Analysis
from gapline.model.text import printable
from gapline.report.analysis_tables import analysis_cutoff_table
from gapline.report.table import Table
from gapline.report.tables.design import design_tables
from gapline.report.tables.kernels import kernel_tables
from gapline.report.tables.ladders import ladder_tables
from gapline.report.tables.transforms import transform_table
from gapline.report.writers.csv import to_csv
from gapline.report.writers.latex import to_latex


def page_tables(analysis: Analysis, /) -> dict[str, Any]:
    """Return the variables of the template: `evidence`, `kernel_tables` and `varied`, lists of tables in words."""
    varied = [analysis_cutoff_table(analysis)]
    if analysis.transforms is not None:
        varied.append(transform_table(analysis.transforms, against=str(analysis.study.references[0].label)))
    found = {
        "evidence": [*design_tables(analysis), *ladder_tables(analysis.ladders.values())],
        "kernel_tables": kernel_tables(analysis.metrics, analysis.labels, over=analysis.main_words),
        "varied": varied,
    }
    return {name: [table_words(table) for table in tables] for name, tables in found.items()}


def table_words(table: Table, /) -> dict[str, Any]:
    """Return a table in words: its head, its rows under their headings, and its notes."""
    parts = [
        (heading, [[(printable(cell.text), cell.bold) for cell in row] for row in rows])
        for heading, rows in table.parts
    ]
    return {
        "name": table.name,
        "title": table.caption,
        "header": [(column.head, column.text) for column in table.columns],
        "parts": parts,
        "notes": [printable(note) for note in table.notes],
        # As the files beside the page have them; the page itself holds the words alone.
        "numbers": to_csv(table.frame).decode("utf-8"),
        "latex": to_latex(table),
    }
