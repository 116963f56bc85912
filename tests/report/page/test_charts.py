"""The charts of the page as readers use them: names, marks, one arm lit, parts of axes, paper."""

import re
from urllib.parse import parse_qs

import numpy as np
import pytest

import gapline as gl
from gapline.report.looks import looks_of
from gapline.report.page.build import write_page
from report.report_studies import crowd

# Opacity and width of the lines of a chart by the colour, dash and order that they have.
LINES = """id => [...document.querySelectorAll(`#${id} .mark-line.role-mark path`)].map(path =>
             ({stroke: path.getAttribute('stroke'), opacity: Number(path.getAttribute('opacity') ?? 1),
               width: Number(path.getAttribute('stroke-width'))}))"""
TEXTS = """id => [...document.querySelectorAll(`#${id} .mark-text.role-mark text`)].map(node => {
             const {left, right, top, bottom} = node.getBoundingClientRect();
             return {text: node.textContent, left, right, top, bottom}})"""

# Lines, marks, names and numbers of a chart, and where they are.
SEEN = """id => [...document.querySelectorAll(`#${id} :is(.role-mark path, text)`)].map(node =>
             [node.textContent, node.getAttribute('d'), node.getAttribute('transform')]).sort()"""


@pytest.fixture(scope="module")
def twenty(tmp_path_factory):
    study = crowd(20)
    return study, write_page(study, tmp_path_factory.mktemp("twenty") / "page.html")


def wait_until_lit(page, number, chart="mean-chart"):
    """Wait until this line alone stands out, or none of them; a chart follows its button a moment later."""
    page.page.wait_for_function(
        f"""([id, number]) => {{
              const lines = ({LINES})(id);
              const out = lines.flatMap((one, k) => one.width > 3 && one.opacity === 1 ? [k] : []);
              const faded = lines.filter(one => one.opacity < 0.5).length;
              return number === null ? !out.length && !faded
                                     : out.length === 1 && out[0] === number && faded === lines.length - 1 }}""",
        arg=[chart, number],
    )


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_names_stand_at_the_ends_of_lines_beside_each_other_and_inside_the_chart(open_page, twenty, width, scheme):
    study, path = twenty
    page = open_page(path, width=width, color_scheme=scheme)
    looks = looks_of(study.arms, study.arms)
    for chart in ("mean-chart", "attainment-chart", "instance-chart"):
        texts = page.page.evaluate(TEXTS, chart)
        assert sorted(text["text"] for text in texts) == list(study.arms)
        box = page.page.locator(f"#{chart}").bounding_box()
        assert all(box["x"] <= text["left"] and text["right"] <= box["x"] + box["width"] for text in texts)
        heights = sorted((text["top"] + text["bottom"]) / 2 for text in texts)
        assert min(np.diff(heights)) >= 12
        ends = page.page.locator(f"#{chart} .mark-symbol.role-mark").last.locator("path")
        assert ends.count() == 20
        shades = {one.colour for one in looks.values()} - ({"#000000"} if scheme == "dark" else set())
        drawn = {ends.nth(k).get_attribute("fill") for k in range(20)} - {"#ffffff"}
        assert drawn == shades
    # Along the lines too, some four on each.
    assert page.page.locator("#mean-chart .mark-symbol.role-mark").first.locator("path").count() > 40


def test_an_arm_is_lit_by_its_button_its_row_its_line_and_the_keys(open_page, twenty):
    study, path = twenty
    page = open_page(path)
    page.page.locator(f'.arm[data-arm="{study.arms[3]}"]').focus()
    page.page.wait_for_selector(".arm.lit")
    wait_until_lit(page, 3)
    wait_until_lit(page, 3, "attainment-chart")
    page.page.locator(f'#ranking tr[data-arm="{study.arms[5]}"]').hover()
    page.page.wait_for_selector(f'.arm.lit[data-arm="{study.arms[5]}"]')
    wait_until_lit(page, 5)
    # The line that ends worst, at its end.
    worst = gl.mean_curve(study.envelopes, study.snapshot).frame.group_by("arm").last().sort("value")["arm"][-1]
    page.page.locator("#mean-chart").focus()
    page.page.keyboard.press("End")
    page.page.keyboard.press("ArrowDown")
    page.page.wait_for_selector(f'.arm.lit[data-arm="{worst}"]')
    wait_until_lit(page, study.arms.index(worst))
    assert worst in page.text("#tip .lit")
    name = page.page.locator("#mean-chart .mark-text.role-mark text", has_text=study.arms[7]).bounding_box()
    page.page.mouse.move(name["x"] + 5, name["y"] + name["height"] / 2)
    page.page.wait_for_selector(f'.arm.lit[data-arm="{study.arms[7]}"]')
    wait_until_lit(page, 7)
    page.page.mouse.move(2, 2)
    page.page.wait_for_function("() => !document.querySelector('.arm.lit')")
    wait_until_lit(page, None)


def values_at(page, key):
    """What the tip says of every arm where a key puts the cursor."""
    page.page.locator("#mean-chart").focus()
    page.page.keyboard.press(key)
    return {
        row.locator("span").first.text_content().strip(): float(row.locator("b").text_content().replace("−", "-"))
        for row in page.page.locator("#tip div").all()[1:]
        if row.locator("b").text_content()
    }


def exact_at(study, time):
    found = gl.mean_curve(study.envelopes, study.snapshot)
    return {key[0]: value[np.searchsorted(times, time, side="right") - 1] for key, times, value in found.groups()}


@pytest.mark.slow
@pytest.mark.parametrize("steps", [25, 700])
def test_a_part_of_the_time_is_shown_exactly_and_its_link_shows_the_same(open_page, make_other_study, tmp_path, steps):
    """With 700 steps a run the page has more breakpoints than it draws, and computes those in sight."""
    study = make_other_study(steps=steps)
    path = write_page(study, tmp_path / "page.html")
    page = open_page(path)
    for field, value in (("axis-from", "7"), ("axis-to", "9")):
        page.change(
            lambda field=field, value=value: (page.page.fill(f"#{field}", value), page.page.keyboard.press("Enter"))
        )
    assert "Shown: 7 to 9 s." in page.text("#mean-caption")
    assert "Shown: 7 to 9 s." in page.text("#attainment-caption")
    for key, time in (("Home", 7.0), ("End", 9.0)):
        assert values_at(page, key) == pytest.approx(exact_at(study, time), abs=5.1e-7)
    page.change(lambda: page.page.check("#axis-gap-log"))
    assert "Logarithmic gap from" in page.text("#mean-caption")
    assert values_at(page, "End") == pytest.approx(exact_at(study, 9.0), abs=5.1e-7)
    page.change(lambda: (page.page.fill("#axis-share-high", "60"), page.page.keyboard.press("Enter")))
    address = page.page.url.split("#")[1]
    assert parse_qs(address) == {"from": ["7"], "to": ["9"], "gap-log": ["true"], "share-high": ["0.6"]}
    again = open_page(path, hash=f"#{address}")
    for chart in ("mean-chart", "attainment-chart"):
        assert page.page.evaluate(SEEN, chart) == again.page.evaluate(SEEN, chart)
    page.change(page.page.locator("#axes-reset").click)
    assert "#" not in page.page.url
    assert page.page.locator("#axes-reset").is_disabled()
    assert "Shown" not in page.text("#mean-caption")


def test_dragging_shows_a_part_and_a_double_click_the_whole(page):
    page.page.locator("#mean-chart").evaluate("box => box.scrollIntoView({block: 'center'})")
    plot = page.page.locator("#mean-chart .background").first.bounding_box()
    middle = plot["y"] + plot["height"] / 2

    def drag(x0, y0, x1, y1):
        page.page.mouse.move(plot["x"] + x0 * plot["width"], y0)
        page.page.mouse.down()
        page.page.mouse.move(plot["x"] + x1 * plot["width"], y1, steps=3)
        page.page.locator("#mean-chart .brush").wait_for()
        page.page.mouse.up()

    page.change(lambda: drag(0.5, middle, 0.75, middle + 2))
    ends = [float(page.page.input_value(f"#axis-{name}")) for name in ("from", "to")]
    assert ends == pytest.approx([15, 22.5], abs=0.15)
    assert page.page.input_value("#axis-gap-low") == ""
    page.change(lambda: drag(0.4, middle, 0.4, middle + plot["height"] / 4))
    low, high = (float(page.page.input_value(f"#axis-gap-{name}")) for name in ("low", "high"))
    assert low < high
    assert [float(page.page.input_value(f"#axis-{name}")) for name in ("from", "to")] == ends
    page.change(lambda: page.page.mouse.dblclick(plot["x"] + 50, middle))
    assert [page.page.input_value(f"#axis-{name}") for name in ("from", "to", "gap-low", "gap-high")] == [""] * 4


def test_ends_that_show_nothing_are_as_if_nobody_had_set_them(open_page, page_file):
    page = open_page(page_file, hash="#from=29&to=3&gap-low=0.5&gap-high=0.1&share-low=x&share-log=true")
    assert "Shown" not in page.text("#mean-caption")
    assert page.page.locator("#mean-chart .mark-line.role-mark path").count() == 3
    assert page.page.input_value("#axis-share-low") == ""
    assert page.page.locator("#attainment-chart .mark-line.role-mark path").count() == 3


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (400, "light")])
def test_paper_has_charts_of_its_own_width_in_its_own_colours(open_page, twenty, width, scheme):
    page = open_page(twenty[1], width=width, color_scheme=scheme)
    whole = page.page.pdf(format="A4")
    # Text as text with the letters that it stands for, and no chart as an image.
    assert whole.count(b"/ToUnicode") >= 1
    assert b"/Subtype /Image" not in whole
    page.page.set_viewport_size({"width": 680, "height": 900})
    page.page.emulate_media(media="print")
    page.change(lambda: page.page.evaluate("() => { dispatchEvent(new Event('beforeprint')) }"))
    found = page.page.evaluate(
        """() => [...document.querySelectorAll('.chart')].map(box => {
             const svg = box.querySelector('svg');
             const texts = [...svg.querySelectorAll('text')].map(node => node.getBoundingClientRect());
             const {left, right} = svg.getBoundingClientRect();
             return {id: box.id, drawn: svg.viewBox.baseVal.width, fits: right <= box.getBoundingClientRect().right + 1,
                     inside: texts.every(one => one.left >= left - 1 && one.right <= right + 1),
                     ink: svg.querySelector('.role-axis-title text').getAttribute('fill')}})"""
    )
    assert {chart["id"] for chart in found} == {
        "mean-chart",
        "attainment-chart",
        "panel-chart",
        "instance-chart",
        "run-chart",
    }
    for chart in found:
        assert (chart["drawn"], chart["fits"], chart["inside"], chart["ink"]) == (640, True, True, "#5a6069"), chart
    page.change(lambda: page.page.evaluate("() => { dispatchEvent(new Event('afterprint')) }"))
    shown = page.page.evaluate("() => document.querySelector('#mean-chart svg').viewBox.baseVal.width")
    assert shown != 640
    assert not re.search(r"Shown:", page.text("#mean-caption"))
