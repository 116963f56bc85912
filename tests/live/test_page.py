"""The page that the server answers with, and the report in it: made once for all, and no oftener than it may."""

import json
import re

import pytest

from gapline.live import app as module
from gapline.live.app import ALLOWANCE, SHARE, Parts
from gapline.live.hub import Watched
from gapline.report.page.build import build_live_page
from live_studies import live_study

STEPS = [(1.0, 15.0), (4.0, 11.0)]


@pytest.fixture
def study(tmp_path):
    with live_study(tmp_path / "study") as writer:
        writer.run("a/i1/1", STEPS)
        writer.run("b/i1/1", STEPS[:1])
        yield writer


def watched_of(path):
    found = Watched("study", path)
    found.look()
    return found


def test_the_page_is_one_for_all_studies_and_may_talk_to_its_own_server_alone():
    text, policy = build_live_page()
    assert build_live_page().text is text
    assert build_live_page(summaries=True).text != text
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'self'" in policy
    assert policy.endswith("frame-ancestors 'none'")
    assert "unsafe" not in policy
    # The page says the same of itself; who may frame it can be said in a header alone.
    (own,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert own.replace("&#39;", "'") + "; frame-ancestors 'none'" == policy
    assert not re.search(r"<[^>]*\son[a-z]+\s*=", re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL))


def test_a_report_is_made_once_and_anew_when_a_run_ended(study):
    watched, parts = watched_of(study.path), Parts()
    first = parts.newest(watched, None)
    assert first.mark == watched.mark
    assert "2 of 4 planned runs" in first.text
    # All who ask get the same, and those who have it nothing.
    assert parts.newest(watched, "of before") is first
    assert parts.newest(watched, first.mark) is None
    study.run("a/j1/1", [(2.0, 22.0)])
    watched.look()
    second = parts.newest(watched, first.mark)
    assert second.mark != first.mark
    assert "3 of 4 planned runs" in second.text
    assert parts.time.turns == 2
    # Opened anew it counts from the start, and is still not taken for the one before.
    watched.close()
    watched.look()
    assert watched.mark not in (first.mark, second.mark)


def test_the_report_has_the_numbers_of_the_state(study):
    watched = watched_of(study.path)
    text = Parts().newest(watched, None).text
    head = json.loads(re.search(r'id="head">(.*?)</script>', text)[1])
    state = watched.look()
    assert head["arms"] == [row["arm"] for row in state["arms"]]
    for row in state["arms"]:
        assert f"<td>{row['scores']['squeezed']:.5f}</td>" in text


def test_reports_take_a_small_share_of_the_time(study, monkeypatch):
    now = [0.0]
    watched, parts = watched_of(study.path), Parts(clock=lambda: now[0])

    def slow(*_, mark, **_at):
        now[0] += 2 * ALLOWANCE
        return f"report of {mark}"

    monkeypatch.setattr(module, "build_part", slow)
    first = parts.newest(watched, None)
    study.run("a/j1/1", [(2.0, 22.0)])
    watched.look()
    # The first one loads what all use, and is not counted; the second takes more than the allowance.
    second = parts.newest(watched, first.mark)
    assert second.mark != first.mark
    study.run("b/j1/1", [(2.0, 22.0)])
    watched.look()
    later = parts.newest(watched, second.mark)
    assert (later.text, parts.time.turns) == ("", 2)
    assert later.wait == pytest.approx(ALLOWANCE / SHARE - 2 * ALLOWANCE)
    # Somebody who has none gets the last one meanwhile.
    assert parts.newest(watched, None) is second
    now[0] += later.wait
    assert parts.newest(watched, second.mark).mark == watched.mark


def test_where_scoring_is_refused_there_is_no_report_but_a_reason(tmp_path):
    with live_study(tmp_path / "study") as writer:
        part = Parts().newest(watched_of(writer.path), None)
    assert part.text == ""
    assert "expected" in part.problem or "no" in part.problem
