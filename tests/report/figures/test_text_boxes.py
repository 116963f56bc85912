"""Every text of every figure lies inside of its picture, in a browser whose fonts are not those of the layout."""

import re

import pytest

from gapline.report.canvas import Canvas, parse_width
from gapline.report.drawing import style, write_drawing
from gapline.report.facts import make_statements
from gapline.report.figures.study import study_figures
from report.report_studies import paper_sized, paper_sized_analyses, synthetic, synthetic_analyses

pytestmark = pytest.mark.slow

# Of each text: what it says, and by how many pixels it is outside of its picture.
OUTSIDE = """() => [...document.querySelectorAll("svg")].flatMap((drawing) => {
  const frame = drawing.getBoundingClientRect();
  return [...drawing.querySelectorAll("text")].filter((one) => one.textContent.trim()).map((one) => {
    const box = one.getBoundingClientRect();
    const across = Math.max(frame.left - box.left, box.right - frame.right);
    const out = Math.max(across, frame.top - box.top, box.bottom - frame.bottom);
    return [drawing.parentElement.id, one.textContent, out];
  });
})"""
STUDIES = {"demo": (synthetic, synthetic_analyses), "20 arms": (paper_sized, paper_sized_analyses)}


@pytest.mark.parametrize(("study", "width"), [("demo", "column"), ("20 arms", "column"), ("20 arms", "page")])
def test_no_text_is_cut(browser, tmp_path, study, width):
    found, analysis = STUDIES[study][0](), STUDIES[study][1]()
    charts = study_figures(found, analysis, make_statements(found).order)
    canvas = Canvas(parse_width(width), caption=width == "page")
    drawings = {}
    for name, chart in charts.items():
        write_drawing(style(chart), tmp_path / "figure.svg", canvas=canvas)
        drawings[name] = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert len(drawings) >= 16
    assert all(re.search(rf' width="{canvas.width:g}cm"', drawing) for drawing in drawings.values())
    page = browser.new_page()
    try:
        page.set_content("".join(f'<div id="{name}">{drawing}</div>' for name, drawing in drawings.items()))
        boxes = page.evaluate(OUTSIDE)
    finally:
        page.close()
    assert {name for name, _, _ in boxes} == set(drawings)
    # A box is as high as the font allows letters to be: two pixels more than any letter here needs.
    assert [(name, text, out) for name, text, out in boxes if out > 2] == []
    assert not any("…" in text and len(text) < 6 for _, text, _ in boxes)
