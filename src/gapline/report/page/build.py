"""The page of a study, or the live page: data, texts and scripts in one HTML file."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gapline.contract.version import VERSION
from gapline.report.drawing import write_file
from gapline.report.facts import Statements, make_statements
from gapline.report.page import encode, seal
from gapline.report.page.classical import page_classical, page_tables, table_words
from gapline.report.page.data import PageData, page_data
from gapline.report.page.replication import page_replication
from gapline.report.page.stored import stored_data
from gapline.report.page.words import ELSEWHERE, left_out_words, page_head, page_words
from gapline.report.replication import shown_replication
from gapline.report.tables.health import telling_tables
from gapline.study import Study
from gapline.study.analyse import Analysis, analyse

# In this order: later files use definitions of earlier ones.
SCRIPTS = (
    "format", "inflate", "decode", "beaten", "references", "score", "exact_sum", "cells", "judge_cells", "ranks",
    "summary", "order", "differences", "curves", "value_at", "axes", "state", "judging", "holm", "headline", "looks",
    "light", "labels", "charts", "pointer", "curve_charts", "run_charts", "png_text", "save_chart", "tables", "writers",
    "paper_tables", "dressing", "panels", "means", "empty", "instances", "runs", "opening", "main", "begin",
)  # fmt: skip
# The page without steps: its numbers are looked up instead of computed.
STORED_SCRIPTS = (
    "format", "inflate", "beaten", "ranks", "order", "value_at", "axes", "state", "judging", "holm", "headline",
    "looks", "light", "labels", "charts", "pointer", "curve_charts", "png_text", "save_chart", "tables", "writers",
    "paper_tables", "dressing", "means", "stored/lookup", "stored/tables", "main", "begin",
)  # fmt: skip
# The scripts of the worker, which cannot access the page.
JUDGE_SCRIPTS = (
    "exact_sum", "holm", "judge/draws", "judge/tails", "judge/student", "judge/resampled", "judge/sign_flip",
    "judge/estimate", "judge/tables", "judge/begin",
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
    """Write the page atomically."""
    write_file(Path(path), build_page(study, said, analysis, log_time=log_time))
    return Path(path)


def build_page(
    study: Study, said: Statements | None = None, analysis: Analysis | None = None, /, *, log_time: bool = False
) -> str:
    """Return the page as text; the same study gives the same text, whether it was analysed before or not.

    A page that would be larger than `encode.MOST_BYTES` contains summaries instead of the steps of every run.
    """

    def render(words: dict[str, Any], scripts: tuple[str, ...]) -> str:
        template, style, script = seal.read_part("page.html.j2"), seal.read_part("page.css"), page_script(scripts)
        return seal.seal_page(template, style=style, script=script, **words)

    return _build(render, study, said or make_statements(study), analysis or analyse(study), log_time)


# Renders a page from the variables of its template and the names of its scripts.
Render = Callable[[dict[str, Any], tuple[str, ...]], str]


def _build(render: Render, study: Study, said: Statements, analysis: Analysis, log_time: bool) -> str:
    """Return the page with the steps of every run, or with summaries if that would be too large."""
    text = _page_of_steps(render, study, said, analysis, log_time)
    if text is not None:
        return text
    data = stored_data(study, log_time=log_time)
    stored = {
        "words": left_out_words(data.head, int(study.envelopes.runs["count"].sum())),
        "elsewhere": ELSEWHERE,
        "tables": [table_words(table) for table in telling_tables(study.scores[0])],
    }
    return render(_words(study, data, said, analysis, stored=stored), STORED_SCRIPTS)


def _page_of_steps(render: Render, study: Study, said: Statements, analysis: Analysis, log_time: bool) -> str | None:
    """Return the page with the steps of every run, or None if it is too large, with its memory freed."""
    fits = int(study.envelopes.runs["count"].sum()) <= encode.MOST_STEPS
    data = page_data(study, log_time=log_time, most=encode.MOST_BYTES) if fits else None
    if data is None:
        return None
    text = render(_words(study, data, said, analysis, stored=None), SCRIPTS)
    return text if len(text.encode("utf-8")) <= encode.MOST_BYTES else None


def _words(
    study: Study, data: PageData, said: Statements, analysis: Analysis, *, stored: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "head": seal.script_json(data.head | page_head(said)),
        "blocks": list(data.blocks.items()),
        "stored": stored,
        **page_words(study, said, data.head),
        **page_classical(analysis),
        **page_tables(analysis),
        "replication": page_replication(shown_replication(study)),
    }


@cache
def page_script(names: tuple[str, ...] = SCRIPTS) -> str:
    """Return the page's own script: its files, joined; its worker's code is in a function that the page never calls."""
    judge = "\n".join(seal.read_part(f"script/{name}.js") for name in JUDGE_SCRIPTS)
    parts = [f'function judgeScope() {{\n"use strict";\n{judge}}}\n']
    return seal.join_scripts([*parts, *(seal.read_part(f"script/{name}.js") for name in names)])


# After the scripts of the report, which draw and print; `begin` is that of the live page.
LIVE_SCRIPTS = (
    "live/words", "live/patch", "live/change", "live/feed", "live/pulse", "live/status", "live/alarms",
    "live/progress", "live/arms", "live/trace", "live/running", "live/news", "live/fairness", "live/studies",
    "live/focus", "live/renew", "live/save", "live/begin",
)  # fmt: skip


class LivePage(NamedTuple):
    """The page that a server sends, and the policy for its header."""

    text: str
    policy: str


@cache
def build_live_page(*, summaries: bool = False) -> LivePage:
    """Return the live page; it is the same for every study, and shows the study in its address.

    With `summaries`, its report is one without steps (see `build_part`).
    """
    engine = STORED_SCRIPTS if summaries else SCRIPTS
    script = page_script((*engine[:-1], *LIVE_SCRIPTS))
    style = seal.read_part("page.css") + seal.read_part("live.css")
    words: dict[str, Any] = {"title": "gapline live", "version": VERSION}
    text = seal.seal_page(seal.read_part("live.html.j2"), style=style, script=script, connect=True, **words)
    return LivePage(
        text, seal.page_policy((seal.vega_bundle(), script), style, connect=True) + "; frame-ancestors 'none'"
    )


def build_part(study: Study, /, *, mark: str, at: str) -> str:
    """Return the report of a study without the page around it: `mark` identifies its runs, `at` its time.

    One that would be larger than `encode.MOST_BYTES` contains summaries instead of the steps of every run.
    """
    template = seal.read_part("live_part.html.j2")

    def render(words: dict[str, Any], _: tuple[str, ...]) -> str:
        return seal.render_page(template, mark=mark, at=at, **words)

    return _build(render, study, make_statements(study), analyse(study), log_time=False)
