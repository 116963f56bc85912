"""What other choices would have said, as the page shows it: tables that Python made of the declared choices."""

from typing import Any

from gapline.analysis.analyse import Analysis
from gapline.report.page.classical import table_words
from gapline.report.printing import analysis_cutoff_table
from gapline.report.tables.transforms import transform_table


def page_varied(analysis: Analysis, /) -> dict[str, Any]:
    """Return the variable `varied` of the template: a table per choice that is varied."""
    tables = [analysis_cutoff_table(analysis)]
    if analysis.transforms is not None:
        tables.append(transform_table(analysis.transforms, against=str(analysis.study.references[0].label)))
    return {"varied": [table_words(table) | {"name": table.name, "title": table.caption} for table in tables]}
