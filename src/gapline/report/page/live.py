"""The live page: the report's page around what a server tells of a study while it runs."""

from functools import cache
from typing import Any, NamedTuple

from gapline.analysis.analyse import analyse
from gapline.model.version import VERSION
from gapline.report.page import encode
from gapline.report.page.build import SCRIPTS, STORED_SCRIPTS, page_script, steps_words, stored_words
from gapline.report.page.seal import page_policy, read_part, render_page, seal_page, vega_bundle
from gapline.report.statements import make_statements
from gapline.study import Study

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
