"""The live page around the report, and the report without a page around it."""

import re

import pytest

from gapline.report.page import encode
from gapline.report.page.build import build_page
from gapline.report.page.live import LIVE_SCRIPTS, build_live_page, build_part
from gapline.report.page.seal import read_part


def test_the_part_is_what_the_offline_page_has(study):
    part = build_part(study, mark="m", at="2026-08-01T10:00:00Z")
    begin, end = part.index('<div class="controls"'), part.rindex("</div>")
    assert part[begin:end].rstrip("\n") in build_page(study)
    assert part.startswith('<div id="report-part" data-mark="m" data-at="2026-08-01T10:00:00Z" data-form="steps">')
    assert build_part(study, mark="m", at="2026-08-01T10:00:00Z") == part


def test_names_in_it_are_escaped(make_other_study):
    study = make_other_study()
    assert build_part(study, mark='"><script>', at="").startswith(
        '<div id="report-part" data-mark="&#34;&gt;&lt;script&gt;"'
    )


def test_a_part_that_would_be_too_large_carries_summaries(study, monkeypatch):
    monkeypatch.setattr(encode, "MOST_STEPS", 1)
    part = build_part(study, mark="m", at="")
    assert 'data-form="summaries"' in part
    assert "This page carries summaries" in part
    assert "block-stored" in part


@pytest.mark.parametrize("summaries", [False, True])
def test_every_script_is_there_and_nothing_else_may_run(summaries):
    page = build_live_page(summaries=summaries)
    for name in LIVE_SCRIPTS:
        assert read_part(f"script/{name}.js") in page.text
    # What begins the offline page would look for data that is not there.
    assert read_part("script/begin.js") not in page.text
    assert len(re.findall(r"<script[ >]", page.text)) == 2
    assert re.findall(r"'sha256-[^']*'", page.policy) == list(dict.fromkeys(re.findall(r"'sha256-[^']*'", page.policy)))
    assert len(re.findall(r"'sha256-", page.policy)) == 3


def test_no_script_makes_code_or_markup_of_text():
    script = "".join(read_part(f"script/{name}.js") for name in LIVE_SCRIPTS)
    for word in ("insertAdjacentHTML", "outerHTML", "document.write", "eval(", "new Function", "innerHTML ="):
        assert word not in script
