"""The classical comparisons on the page, in a real browser."""

import re
from itertools import pairwise

import pytest

from gapline.report.figures.attainment_difference import difference_map
from gapline.report.page.build import write_page
from gapline.report.page.classical import difference_svg, page_classical, rank_svg
from gapline.report.tables.measures import pair_table
from gapline.study.analyse import analyse
from report.classical_study import classical
from report.report_studies import by_hand, hostile, paper_sized


def test_the_page_shows_the_numbers_of_the_tables_without_a_script():
    words = page_classical(classical())
    assert [row[0] for row in words["ranks"]["rows"]] == classical().ranks.frame["arm"].to_list()
    assert words["ranks"]["header"][-1] == "W/T/L"
    cells = [row for _, rows in words["pairs"]["parts"] for row in rows]
    assert cells == [[tuple(cell) for cell in row] for row in pair_table(classical().neighbour_pairs).rows]


def test_boxes_lie_inside_the_frame_and_do_not_overlap():
    drawn = difference_svg(classical().attainment_differences[0])
    left, top, width, height = drawn["frame"]
    for _, x, y, wide, high, opacity in drawn["boxes"]:
        assert left - 0.1 <= x <= x + wide <= left + width + 0.1
        assert top - 0.1 <= y <= y + high <= top + height + 0.1
        assert 0 < opacity <= 1
    rows = {}
    for _, x, y, wide, _, _ in drawn["boxes"]:
        rows.setdefault(y, []).append((x, x + wide))
    for spans in rows.values():
        assert all(a[1] <= b[0] + 0.02 for a, b in pairwise(sorted(spans)))


def test_the_caption_says_what_full_colour_is_however_small(monkeypatch):
    pair = classical().attainment_differences[0]
    whole = difference_map(pair)
    little = whole._replace(shares=whole.shares / abs(whole.shares).max() * 0.004)
    monkeypatch.setattr("gapline.report.page.classical.difference_map", lambda *_, **__: little)
    assert "full colour is 0.4 % of the runs" in difference_svg(pair)["caption"]


def test_names_of_the_picture_have_room():
    drawn = rank_svg(classical().ranks)
    for anchor, x, _, text in drawn["texts"]:
        reach = 7.6 * len(text)
        low, high = {"end": (x - reach, x), "start": (x, x + reach), "middle": (x - reach / 2, x + reach / 2)}[anchor]
        assert low >= 0, text
        assert high <= drawn["width"], text


@pytest.mark.slow
def test_long_names_of_the_picture_are_told_apart_and_not_cut(open_page, tmp_path):
    page = open_page(write_page(paper_sized(), tmp_path / "page.html"))
    found = page.page.evaluate(
        """() => { const picture = document.querySelector('#classical .picture');
                   const frame = picture.getBoundingClientRect();
                   return [...picture.querySelectorAll('text')].map(node => {
                     const { left, right } = node.getBoundingClientRect();
                     return [node.textContent, left - frame.left, frame.right - right] }) }"""
    )
    assert [text for text, left, right in found if min(left, right) < 0] == []
    names = [text.rpartition(" ")[0] for text, _, _ in found if re.search(r" \d+\.\d\d$", text)]
    # One arm is descriptive and has no rank; the critical difference is the twentieth.
    assert len(names) == len(set(names)) == 20


def test_two_arms_have_ranks_and_no_picture():
    words = page_classical(analyse(by_hand()))
    assert words["ranks"]["picture"] is None
    assert "needs three arms" in words["ranks"]["caption"]


def test_the_section_fits_a_phone_and_is_greyed_under_another_choice(open_page, tmp_path):
    path = write_page(classical().study, tmp_path / "page.html")
    reader = open_page(path, width=400)
    page = reader.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    section = page.locator("#classical")
    assert section.locator("svg.picture").count() == 2
    assert re.search(r"best\s+1\.167", page.locator("#rank-table").inner_text().replace("\t", " "))
    assert "outdated" not in (section.get_attribute("class") or "")
    reader.choose(kernel="maxform")
    assert section.get_attribute("class") == "outdated"
    assert "computed for kernel squeezed" in page.locator("#classical-stale").inner_text()
    reader.change(lambda: page.click("#reset"))
    assert section.get_attribute("class") == ""
    assert not page.locator("#classical-stale").is_visible()


@pytest.mark.slow
def test_hostile_names_stay_text(open_page, tmp_path):
    page = open_page(write_page(hostile(), tmp_path / "page.html")).page
    assert page.locator("#classical img").count() == 0
    assert "</script><img" in page.locator("#pair-table").inner_text()
