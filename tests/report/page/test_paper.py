"""What is printed: tables in copies that fit the paper, in pieces where they are wide, and gone again afterwards."""

import pytest

from gapline.report.page.build import write_page
from report.report_studies import paper_sized

pytestmark = pytest.mark.slow

# Of each table: whether its copies fit their place, their heads, and those of the table itself.
PRINTED = """() => [...document.querySelectorAll('main table.numbers')].map(table => {
  const box = table.closest('.scroll'), pieces = [...box.querySelectorAll('.piece')];
  const heads = (one) => [...(one.tHead.rows[0]?.cells ?? [])].map(cell => cell.textContent.trim());
  const end = (one) => one.getBoundingClientRect().right;
  return {id: table.id, shown: table.offsetHeight > 0, rows: table.tBodies[0].rows.length,
          wide: Math.max(0, ...pieces.map(one => end(one) - end(box))),
          heads: heads(table), pieces: pieces.map(heads), buttons: box.querySelectorAll('.piece thead button').length,
          lines: pieces.map(one => one.tBodies[0].rows.length)}})"""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    return write_page(paper_sized(), tmp_path_factory.mktemp("paper") / "page.html")


@pytest.mark.parametrize("paper", [718, 740], ids=["A4", "Letter"])
def test_tables_of_20_arms_are_printed_in_pieces_that_fit(open_page, crowded, paper):
    page = open_page(crowded)
    page.page.set_viewport_size({"width": paper, "height": 1000})
    page.page.emulate_media(media="print")
    page.change(lambda: page.page.evaluate("() => { dispatchEvent(new Event('beforeprint')) }"))
    found = {table["id"]: table for table in page.page.evaluate(PRINTED)}
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= paper
    for table in found.values():
        assert not table["shown"], table["id"]
        assert table["wide"] <= 1, table["id"]
        # A button in a head would not be printed on the next sheet.
        assert table["buttons"] == 0
        assert set(table["lines"]) == {table["rows"]}
        lead = [name for name in table["pieces"][0] if all(name in piece for piece in table["pieces"])]
        several = len(table["pieces"]) > 1
        assert all(piece[: len(lead)] == lead for piece in table["pieces"]) or not several, table["id"]
        rest = [name for piece in table["pieces"] for name in piece[len(lead) if several else 0 :]]
        assert (lead if several else []) + rest == table["heads"], table["id"]
    # Every arm has a column there.
    assert len(found["instance-table"]["pieces"]) > 1
    assert len(found["ranking"]["pieces"]) == len(found["contrast-table"]["pieces"]) == 1
    page.change(lambda: page.page.evaluate("() => { dispatchEvent(new Event('afterprint')) }"))
    page.page.emulate_media(media="screen")
    assert page.page.locator(".piece").count() == 0
    assert page.page.locator("#instance-table").is_visible()
