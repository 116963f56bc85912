"""The page of a study: its data, its words, and the scripts that draw them, sealed in one HTML file."""

from functools import cache
from pathlib import Path

from gapline.analysis.analyse import Analysis, analyse
from gapline.report.drawing import write_file
from gapline.report.page.classical import page_classical
from gapline.report.page.data import page_data
from gapline.report.page.declared import page_tables
from gapline.report.page.seal import joined_script, read_part, script_json, seal_page
from gapline.report.page.words import page_head, page_words
from gapline.report.statements import Statements, make_statements
from gapline.study import Study

# In the order they are joined: later files use what earlier ones define.
SCRIPTS = (
    "format", "decode", "score", "summary", "curves", "state", "looks", "charts", "tables", "instances", "main",
)  # fmt: skip


def write_page(
    study: Study,
    path: Path | str,
    said: Statements | None = None,
    analysis: Analysis | None = None,
    /,
    *,
    log_time: bool = False,
) -> Path:
    """Write the page; it appears as a whole or not at all."""
    write_file(Path(path), build_page(study, said, analysis, log_time=log_time))
    return Path(path)


def build_page(
    study: Study, said: Statements | None = None, analysis: Analysis | None = None, /, *, log_time: bool = False
) -> str:
    """Return the page as text; the same study gives the same text, whether it was analysed before or not."""
    data = page_data(study, log_time=log_time)
    statements, analysed = said or make_statements(study), analysis or analyse(study)
    return seal_page(
        read_part("page.html.j2"),
        style=read_part("page.css"),
        script=page_script(),
        head=script_json(data.head | page_head(statements)),
        blocks=list(data.blocks.items()),
        **page_words(study, statements, data.head),
        **page_classical(analysed),
        **page_tables(analysed),
    )


@cache
def page_script() -> str:
    """Return the page's own script: its files, joined."""
    return joined_script([read_part(f"script/{name}.js") for name in SCRIPTS])
