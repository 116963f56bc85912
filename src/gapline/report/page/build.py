"""The page of a study, or the live page: data, texts and scripts in one HTML file."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gapline.contract.version import VERSION
from gapline.report.drawing import write_file
from gapline.report.facts import Statements, make_statements
from gapline.report.page import encode
from gapline.report.page.classical import page_classical, page_tables, table_words
from gapline.report.page.data import PageData, page_data
from gapline.report.page.replication import page_replication
from gapline.report.page.seal import (
    joined_script,
    page_policy,
    read_part,
    render_page,
    script_json,
    seal_page,
    vega_bundle,
)
from gapline.report.page.stored import stored_data
from gapline.report.page.words import ELSEWHERE, left_out_words, page_head, page_words
from gapline.report.replication import shown_replication
from gapline.report.tables.health import telling_tables
from gapline.study import Study
from gapline.study.analyse import Analysis, analyse

# In the order they are joined: later files use what earlier ones define.
SCRIPTS = (
    "format", "inflate", "decode", "beaten", "references", "score", "exact_sum", "cells", "judge_cells", "ranks",
    "summary", "order", "differences", "curves", "value_at", "axes", "state", "judging", "holm", "headline", "looks",
    "light", "labels", "charts", "pointer", "curve_charts", "run_charts", "png_text", "save_chart", "tables", "writers",
    "paper_tables", "dressing", "panels", "means", "empty", "instances", "runs", "opening", "main", "begin",
)  # fmt: skip
# The same page without steps: what it is asked for is looked up.
STORED_SCRIPTS = (
    "format", "inflate", "beaten", "ranks", "order", "value_at", "axes", "state", "judging", "holm", "headline",
    "looks", "light", "labels", "charts", "pointer", "curve_charts", "png_text", "save_chart", "tables", "writers",
    "paper_tables", "dressing", "means", "stored/lookup", "stored/tables", "main", "begin",
)  # fmt: skip
# What a worker is given to run: nothing of the page, which it does not see.
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
    """Write the page; it appears as a whole or not at all."""
    write_file(Path(path), build_page(study, said, analysis, log_time=log_time))
    return Path(path)


def build_page(
    study: Study, said: Statements | None = None, analysis: Analysis | None = None, /, *, log_time: bool = False
) -> str:
    """Return the page as text; the same study gives the same text, whether it was analysed before or not.

    A page that would be larger than `encode.MOST_BYTES` carries summaries instead of the steps of every run.
    """
    statements, analysed = said or make_statements(study), analysis or analyse(study)
    text = _page_of_steps(study, statements, analysed, log_time)
    if text is None:
        text = _sealed(stored_words(study, statements, analysed, log_time=log_time), page_script(STORED_SCRIPTS))
    return text


def _page_of_steps(study: Study, said: Statements, analysis: Analysis, log_time: bool) -> str | None:
    """Return the page with the steps of every run, None where it is too large; then nothing of it is held any more."""
    words = steps_words(study, said, analysis, log_time=log_time)
    text = None if words is None else _sealed(words, page_script(SCRIPTS))
    return None if text is None or len(text.encode("utf-8")) > encode.MOST_BYTES else text


def steps_words(
    study: Study, said: Statements, analysis: Analysis, /, *, log_time: bool = False
) -> dict[str, Any] | None:
    """Return the variables of a page that carries the steps of every run; None where these are too many."""
    if int(study.envelopes.runs["count"].sum()) > encode.MOST_STEPS:
        return None
    data = page_data(study, log_time=log_time, most=encode.MOST_BYTES)
    return None if data is None else _words(study, data, said, analysis, stored=None)


def stored_words(study: Study, said: Statements, analysis: Analysis, /, *, log_time: bool = False) -> dict[str, Any]:
    """Return the variables of a page that carries summaries."""
    data = stored_data(study, log_time=log_time)
    stored = {
        "words": left_out_words(data.head, int(study.envelopes.runs["count"].sum())),
        "elsewhere": ELSEWHERE,
        "tables": [table_words(table) for table in telling_tables(study.scores[0])],
    }
    return _words(study, data, said, analysis, stored=stored)


def _words(
    study: Study, data: PageData, said: Statements, analysis: Analysis, *, stored: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "head": script_json(data.head | page_head(said)),
        "blocks": list(data.blocks.items()),
        "stored": stored,
        **page_words(study, said, data.head),
        **page_classical(analysis),
        **page_tables(analysis),
        "replication": page_replication(shown_replication(study)),
    }


def _sealed(words: dict[str, Any], script: str) -> str:
    return seal_page(read_part("page.html.j2"), style=read_part("page.css"), script=script, **words)


@cache
def page_script(names: tuple[str, ...] = SCRIPTS) -> str:
    """Return the page's own script: its files, joined, and what its worker runs as a function that nobody calls."""
    judge = "\n".join(read_part(f"script/{name}.js") for name in JUDGE_SCRIPTS)
    parts = [f'function judgeScope() {{\n"use strict";\n{judge}}}\n']
    return joined_script([*parts, *(read_part(f"script/{name}.js") for name in names)])


# Behind those of the report, which draw and print; `begin` is that of the live page.
LIVE_SCRIPTS = (
    "live/words", "live/patch", "live/change", "live/feed", "live/pulse", "live/status", "live/alarms",
    "live/progress", "live/arms", "live/trace", "live/running", "live/news", "live/fairness", "live/studies",
    "live/focus", "live/renew", "live/save", "live/begin",
)  # fmt: skip


class LivePage(NamedTuple):
    """The page that a server answers with, and the policy that its header repeats."""

    text: str
    policy: str


@cache
def build_live_page(*, summaries: bool = False) -> LivePage:
    """Return the live page; it is the same for every study, and shows the one that its address names.

    With `summaries`, its report is one that carries no steps (see `build_part`).
    """
    engine = STORED_SCRIPTS if summaries else SCRIPTS
    script = page_script((*engine[:-1], *LIVE_SCRIPTS))
    style = read_part("page.css") + read_part("live.css")
    words: dict[str, Any] = {"title": "gapline live", "version": VERSION}
    text = seal_page(read_part("live.html.j2"), style=style, script=script, connect=True, **words)
    return LivePage(text, page_policy((vega_bundle(), script), style, connect=True) + "; frame-ancestors 'none'")


def build_part(study: Study, /, *, mark: str, at: str) -> str:
    """Return the report of a study without the page around it: `mark` says of which runs, `at` of which moment.

    One that would be larger than `encode.MOST_BYTES` carries summaries instead of the steps of every run.
    """
    said, analysis, template = make_statements(study), analyse(study), read_part("live_part.html.j2")
    words = steps_words(study, said, analysis)
    if words is not None:
        text = render_page(template, mark=mark, at=at, **words)
        if len(text.encode("utf-8")) <= encode.MOST_BYTES:
            return text
    return render_page(template, mark=mark, at=at, **stored_words(study, said, analysis))
