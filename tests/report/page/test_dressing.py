"""Every table sorts, filters and is saved as Python writes it; Back and the link hold all of it."""

import pytest

from gapline.report.page.build import write_page
from gapline.report.table import Column, Table, Text, one_part
from gapline.report.tables.kernels import kernel_tables
from gapline.report.tables.measures import pair_table
from gapline.report.writers.csv import to_csv
from gapline.report.writers.latex import to_latex
from gapline.report.writers.latex_text import escape
from gapline.report.writers.markdown import to_markdown
from gapline.study.analyse import analyse
from report.page_study import ARMS, make_study
from report.report_studies import hostile
from report.writers.test_latex import needs_latex, typeset


def saved_as(page, kind, table):
    """Press the button and return the text of the file; a browser lets nobody download ten files in a second."""
    return page.page.evaluate(
        """async (name) => {
             const make = URL.createObjectURL;
             const files = [];
             URL.createObjectURL = (file) => { files.push(file); return make.call(URL, file) };
             document.querySelector(`[data-save="${name}"]`).click();
             URL.createObjectURL = make;
             return await files[0].text() }""",
        f"{kind}-{table}",
    )


def shown(page, name):
    """Return the rows of a table that can be seen, as lists of texts."""
    return page.page.evaluate(
        """id => [...document.getElementById(id).tBodies[0].rows].filter(row => !row.hidden)
                 .map(row => [...row.cells].map(cell => cell.textContent.trim()))""",
        name,
    )


def head(page, table, label):
    return page.page.locator(f"#{table} thead th", has=page.page.get_by_role("button", name=label, exact=True))


@pytest.mark.slow
@pytest.mark.parametrize("source", ["study", "hostile"])
def test_tables_that_python_made_are_saved_as_it_writes_them(open_page, page_file, study, tmp_path, source):
    """Byte for byte, names that Markdown, LaTeX or a spreadsheet would obey among them."""
    found = study if source == "study" else hostile()
    page = open_page(page_file if source == "study" else write_page(found, tmp_path / "page.html"))
    analysis = analyse(found)
    tables = {f"table-{t.name}": t for t in kernel_tables(analysis)}
    tables["pair-table"] = pair_table(analysis.neighbour_pairs)
    for name, table in tables.items():
        assert saved_as(page, "md", name) == to_markdown(table)
        assert saved_as(page, "tex", name) == to_latex(table)
        assert saved_as(page, "csv", name).encode("utf-8") == to_csv(table.frame)


@pytest.mark.parametrize("name", ["ranking", "contrast-table", "panel-table", "instance-table", "run-table",
                                  "candidate-table", "rank-table"])  # fmt: skip
def test_tables_of_the_page_are_saved_by_the_same_rules(page, name):
    """What stands on the screen, as Python's writers write such a table; drawings are left out."""
    found = page.page.evaluate(
        """id => { const table = document.getElementById(id);
                   const block = table.closest('.scroll').parentElement;
                   const heads = [...table.tHead.rows[0].cells];
                   const kept = heads.map((_, k) => k).filter(k => !heads[k].classList.contains('drawing'));
                   const text = node => node.textContent.trim();
                   return { heads: kept.map(k => [text(heads[k]), heads[k].classList.contains('text')]),
                            rows: [...table.tBodies[0].rows].map(row => kept.map(
                                k => [text(row.cells[k]), row.cells[k].classList.contains('best')])),
                            title: text(block.querySelector('h3, h4')),
                            note: text(block.querySelector('.caption')) } }""",
        name,
    )
    if name == "candidate-table":
        found["title"] = "Candidates"
    if name == "run-table":
        found["note"] = page.text("#instance-caption").strip()
    table = Table(
        name=name.removesuffix("-table"),
        caption=found["title"],
        columns=tuple(Column(label, text=text) for label, text in found["heads"]),
        parts=one_part([[Text(*cell) for cell in row] for row in found["rows"]]),
        frame=None,
        notes=(found["note"],),
    )
    assert saved_as(page, "md", name) == to_markdown(table)


@needs_latex
def test_latex_of_the_page_compiles_whatever_the_names(open_page, tmp_path):
    """Letters come out as Python escapes them, in tables longer than a page too."""
    page = open_page(write_page(hostile(), tmp_path / "page.html"))
    names = ("ranking", "contrast-table", "panel-table", "instance-table", "run-table", "candidate-table")
    texts = [saved_as(page, "tex", name) for name in names]
    for arm in (row["arm"] for row in page.table("ranking")):
        assert escape(arm) in texts[0]
    typeset(tmp_path, "".join(texts))


def test_a_column_sorts_up_down_and_back_by_click_and_by_key(page):
    drawn = shown(page, "instance-table")
    cell = head(page, "instance-table", "beta")
    values = [float(row[5]) for row in drawn]
    cell.locator("button").click()
    assert cell.get_attribute("aria-sort") == "ascending"
    assert [float(row[5]) for row in shown(page, "instance-table")] == sorted(values)
    cell.locator("button").focus()
    page.page.keyboard.press("Enter")
    assert cell.get_attribute("aria-sort") == "descending"
    assert [float(row[5]) for row in shown(page, "instance-table")] == sorted(values, reverse=True)
    page.page.keyboard.press("Space")
    assert cell.get_attribute("aria-sort") is None
    assert shown(page, "instance-table") == drawn


def test_what_does_not_exist_is_last_either_way_and_signs_and_percents_are_numbers(page, open_page, tmp_path):
    lacking = open_page(write_page(make_study(lacking=True), tmp_path / "lacking.html"))
    for down in (False, True):
        head(lacking, "instance-table", "gamma").locator("button").click()
        rows = shown(lacking, "instance-table")
        assert rows[-1][6] == "–", down
    page.choose(horizon=12.5)
    head(page, "contrast-table", "a − b").locator("button").click()
    differences = [float(row[2].replace("−", "-")) for row in shown(page, "contrast-table")]
    assert differences == sorted(differences) != sorted(differences, key=abs)
    head(page, "ranking", "final gap").locator("button").click()
    gaps = [float(row[5].removesuffix(" %")) for row in shown(page, "ranking")]
    assert gaps == sorted(gaps)


def test_parts_of_a_table_keep_their_headings(page):
    """Sorted inside each part; a part without any row that fits the filter is not shown."""
    before = shown(page, "table-signs")
    headings = [row for row in before if len(row) == 1]
    assert len(headings) == 2
    head(page, "table-signs", "squeezed").locator("button").click()
    rows = shown(page, "table-signs")
    assert [row for row in rows if len(row) == 1] == headings
    places = [rows.index(heading) for heading in headings]
    counts = [int(row[2]) for row in rows[places[0] + 1 : places[1]]]
    assert counts == sorted(counts)
    page.page.fill("#find-table-signs", "nothing like it")
    assert shown(page, "table-signs") == []


def test_a_filter_leaves_what_fits_and_says_how_much(page):
    page.page.fill("#find-instance-table", "LARGE")
    assert {row[1] for row in shown(page, "instance-table")} == {"large"}
    with page.page.expect_download() as download:
        page.page.locator('[data-save="tex-instance-table"]').click()
    assert download.value.suggested_filename == "instance.tex"
    assert page.page.locator("#find-instance-table + output").text_content() == "2 of 5 rows"
    assert len(page.saved("instances")) == 5 * len(ARMS), "the numbers are saved whole"
    assert saved_as(page, "md", "instance-table").count("| large |") == 2


@pytest.mark.slow
def test_back_and_forward_walk_through_the_choices_and_the_link_holds_all_of_them(open_page, page, page_file):
    page.choose(kernel="maxform")
    page.page.fill("#find-instance-table", "s")
    page.page.fill("#find-instance-table", "s2")
    head(page, "instance-table", "alpha").locator("button").click()
    page.change(page.page.locator('.arm[data-arm="gamma"]').click)
    again = open_page(page_file, hash="#" + page.page.url.split("#")[1])
    for name in ("ranking", "contrast-table", "panel-table", "instance-table", "run-table", "candidate-table"):
        assert shown(again, name) == shown(page, name)
    assert again.page.locator("#find-instance-table").input_value() == "s2"
    assert head(again, "instance-table", "alpha").get_attribute("aria-sort") == "ascending"
    assert again.text("#headline") == page.text("#headline")
    page.change(page.page.go_back)
    assert len(page.table("ranking")) == len(ARMS)
    page.change(page.page.go_back)
    assert head(page, "instance-table", "alpha").get_attribute("aria-sort") is None
    assert page.page.locator("#find-instance-table").input_value() == "s2", "what was typed is one step"
    page.change(page.page.go_back)
    assert page.page.locator("#find-instance-table").input_value() == ""
    assert page.page.locator("#kernel").input_value() == "maxform"
    page.change(page.page.go_back)
    assert page.page.locator("#kernel").input_value() == "squeezed"
    assert "#" not in page.page.url
    page.change(page.page.go_forward)
    assert page.page.locator("#kernel").input_value() == "maxform"


@pytest.mark.parametrize("width", [1280, 400])
def test_the_first_column_stays_and_what_scrolls_can_be_reached(open_page, page_file, width):
    page = open_page(page_file, width=width)
    boxes = page.page.evaluate(
        """() => [...document.querySelectorAll('main .scroll')].map(box => {
             const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
             box.scrollLeft = 10000;
             const first = box.querySelector('tbody tr > :first-child:not([colspan])');
             return { scrolls, index: box.tabIndex, role: box.getAttribute('role'), label: box.ariaLabel, wide:
                      box.scrollLeft > 0, moved: first ? first.getBoundingClientRect().left -
                      box.getBoundingClientRect().left : 0 } })"""
    )
    assert all(box["role"] == "region" and box["label"] for box in boxes)
    assert [box["index"] == 0 for box in boxes] == [box["scrolls"] for box in boxes]
    assert all(abs(box["moved"]) <= 1 for box in boxes if box["wide"])
    assert width == 1280 or any(box["wide"] for box in boxes)
