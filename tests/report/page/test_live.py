"""The live page around the report, and the report without a page around it."""

import itertools
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.live.channel import difference
from gapline.live.open_runs import thin_steps
from gapline.report.page import encode
from gapline.report.page.build import LIVE_SCRIPTS, build_live_page, build_page, build_part
from gapline.report.page.seal import read_part

leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=3)
# Names of whatever origin, those that JavaScript has for itself among them.
names = st.sampled_from(["a", "b", "__proto__", "constructor", "length"])
states = st.dictionaries(
    names,
    st.recursive(leaves | st.lists(leaves, max_size=6), lambda inner: st.dictionaries(names, inner, max_size=3)),
    max_size=4,
)


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


@pytest.fixture(scope="module")
def applied(browser):
    """Apply changes in turn to a state, by the page's own script in a real browser; returns what they make of it."""
    page = browser.new_page()
    page.add_script_tag(content=read_part("script/live/change.js"))
    call = """([state, changes]) => { const now = JSON.parse(state);
        for (const change of JSON.parse(changes)) applyChange(now, change);
        return JSON.stringify(now); }"""
    yield lambda state, changes: json.loads(page.evaluate(call, [json.dumps(state), json.dumps(changes)]))
    page.close()


@given(st.lists(states, min_size=2, max_size=5))
def test_the_state_of_the_page_after_changes_is_the_whole_state(applied, documents):
    pairs = itertools.pairwise(documents)
    changes = [
        {"id": number, "at": "then", "looked": "before"} | difference(before, after)
        for number, (before, after) in enumerate(pairs, 1)
    ]
    last = {"id": len(changes), "at": "then", "looked": "before"}
    assert applied(documents[0], changes) == documents[-1] | last


@given(st.lists(st.integers(1, 400), min_size=2, max_size=12))
def test_a_trace_that_grows_beyond_what_is_sent_is_whole_on_the_page(applied, grown):
    """Steps come in bursts of any size: the page has the same thinned trace as one who comes new."""
    states, size = [], 0
    for more in grown:
        size += more
        time = np.arange(float(size))
        states.append({"running": {"a/i/1": {"trace": {"time": thin_steps(time), "objective": thin_steps(-time)}}}})
    pairs = itertools.pairwise(states)
    changes = [{"id": 1, "at": "", "looked": ""} | difference(one, other) for one, other in pairs]
    assert applied(states[0], changes)["running"] == states[-1]["running"]
