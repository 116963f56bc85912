"""The section "Replication" of the page, and how it stands in a browser."""

import itertools

import pytest
from msgspec.structs import replace

import gapline as gl
from gapline.package.comparison import compare_studies
from gapline.report.page.build import build_page
from gapline.report.page.replication import WIDTH, page_replication, replication_svg
from gapline.study.replication import Agreement, Conclusion, Measured
from package.two_studies import paced, study_of
from study.test_replication import found


def test_without_a_replication_there_is_no_section():
    assert page_replication(None) is None


def test_the_picture_keeps_every_point_inside_and_no_zero_line_crosses_a_name():
    told = Measured(instances=8, difference=-0.2, low=-0.3, high=-0.1)
    far = Measured(instances=8, difference=4.0, low=None, high=None, reason="no spread")
    rows = [
        Conclusion(
            a="a", b=f"b{k}" * 40, declared=True, old=told, new=far, order_agrees=False, agreement=Agreement.NOT_TESTED
        )
        for k in range(3)
    ]
    picture = replication_svg(found(conclusions=tuple(rows)))
    assert all(0 <= x <= WIDTH and 0 <= y <= picture["height"] for _, x, y in picture["points"])
    assert len(picture["lines"]) == 3
    names = [
        y for anchor, _, y, text in picture["texts"] if anchor == "start" and "−" in text and y < picture["height"] - 20
    ]
    for (_, top, _, bottom), y in itertools.product(picture["zeros"], names):
        assert not top < y < bottom
    assert all(len(text) <= 62 for *_, text in picture["texts"])


def test_nothing_to_draw_gives_no_picture():
    assert replication_svg(found(conclusions=())) is None


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a replication in which one of three pairs is contradicted."""
    old, new = study_of(paced({"a": 1.0, "b": 1.5, "c": 4.0})), study_of(paced({"a": 2.0, "b": 1.5, "c": 4.0}))
    result = replace(compare_studies(old, new), origin=found().origin)
    from dataclasses import replace as change

    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(build_page(change(new, replication=result)), encoding="utf-8")
    return path


def test_names_of_others_are_text():
    from dataclasses import replace as change

    arms = {"<b>x</b>": 1.0, "y": 2.0}
    study = study_of(paced(arms))
    text = build_page(change(study, replication=compare_studies(study, study)))
    section = text[
        text.index('<section id="replication"') : text.index("</section>", text.index('<section id="replication"'))
    ]
    assert "<b>x</b>" not in section
    assert "&lt;b&gt;x&lt;/b&gt;" in section


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_stands_in_the_page(browser, page, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab = context.new_page()
    problems = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    tab.goto(page.as_uri())
    section = tab.locator("#replication")
    assert section.locator(".headline").inner_text().startswith("Contradicted: 1 of 3 differences")
    assert section.locator("circle").count() == 6
    box = section.locator("svg.twice").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    shown = [
        section.locator(f"circle.{where}").first.evaluate("e => getComputedStyle(e).fill")
        for where in ("there", "here")
    ]
    assert shown[0] != shown[1]
    assert problems == []
    context.close()


def test_a_replication_of_other_runs_is_not_shown():
    from dataclasses import replace as change

    old, new = study_of(paced({"a": 1.0, "b": 2.0})), study_of(paced({"a": 1.0, "b": 2.5}))
    assert '<section id="replication"' not in build_page(change(old, replication=compare_studies(old, new)))
    assert isinstance(old, gl.Study)
