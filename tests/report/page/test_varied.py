"""Other transforms and cutoffs on the page."""

import gapline as gl
from analysis.edge_runs import run
from gapline.report.page.build import build_page
from gapline.report.page.varied import page_varied


def analysed(**choices):
    rows = [run(arm, i, 1, trace) for arm, trace in (("<b>early", [(0, 20.0)]), ("late", [(5, 0.5)])) for i in "ij"]
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ij", 0.5), name="half")
    return gl.analyse(gl.open_study(gl.Campaign.from_runs(rows), snapshots=[snapshot], draws=20, **choices))


def test_the_tables_are_those_of_the_report():
    words = page_varied(analysed())["varied"]
    assert [table["name"] for table in words] == ["cutoffs"]
    words = page_varied(analysed(transform="shift:30"))["varied"]
    assert [table["name"] for table in words] == ["cutoffs", "transforms"]
    assert next(heading for heading, _ in words[1]["parts"]) == "shift:30 (declared)"


def test_the_page_has_them_and_obeys_no_name():
    analysis = analysed(transform="shift:30")
    page = build_page(analysis.study, None, analysis)
    assert '<table id="varied-cutoffs"' in page
    assert '<table id="varied-transforms"' in page
    assert "&lt;b&gt;early" in page
    assert '<td class="text name"><b>early' not in page
