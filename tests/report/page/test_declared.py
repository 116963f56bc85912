"""Tables that Python computed, on the page in a real browser."""

import pytest

import gapline as gl
from gapline.report.page.build import build_page, write_page
from gapline.report.page.classical import page_tables, table_words
from gapline.report.tables.design import ladder_tables
from gapline.report.write import for_report
from gapline.study.analyse import analyse
from report.report_studies import by_hand, hostile
from study.edge_runs import run
from study.ladder_study import ladder_study


def test_the_tables_are_those_of_the_report_in_words(tmp_path):
    analysis = analyse(for_report(ladder_study(tmp_path)))
    found = page_tables(analysis)
    assert [table["name"] for table in found["evidence"]] == ["design", "ladder-validity", "ladder-means"]
    assert [table["name"] for table in found["kernel_tables"]] == ["saturation", "signs", "ratios", "kernel-ratios"]
    validity = ladder_tables(analysis.ladders.values())[0]
    assert found["evidence"][1] == table_words(validity)
    assert [row for _, rows in found["evidence"][1]["parts"] for row in rows] == [
        [tuple(cell) for cell in row] for row in validity.rows
    ]


def test_without_a_plan_there_is_no_section_of_what_was_run():
    assert page_tables(analyse(by_hand()))["evidence"] == []


@pytest.mark.slow
def test_sections_fit_a_phone_and_are_greyed_by_the_choices_that_outdate_them(open_page, tmp_path):
    reader = open_page(write_page(for_report(ladder_study(tmp_path)), tmp_path / "page.html"), width=400)
    page = reader.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert "slices 24" in page.locator("#table-ladder-validity").inner_text()
    evidence, kernels = page.locator("#evidence"), page.locator("#kernel-tables")
    reader.choose(kernel="maxform")
    assert evidence.get_attribute("class") == "outdated"
    # Counts and ratios are there under every kernel.
    assert kernels.get_attribute("class") in (None, "")
    reader.choose(weighting="run")
    assert kernels.get_attribute("class") == "outdated"
    assert "computed for panel-equal weighting" in page.locator("#kernel-tables-stale").inner_text()


def test_the_page_opens_on_the_declared_time_axis_and_the_link_says_what_is_not_declared(open_page, tmp_path):
    study = for_report(ladder_study(tmp_path))
    reader = open_page(write_page(study, tmp_path / "log.html", log_time=True))
    assert reader.page.input_value("#scale") == "log"
    assert "Logarithmic time from 1 s on" in reader.page.locator("#mean-caption").inner_text()
    reader.choose(scale="linear")
    assert "time=linear" in reader.page.url
    assert "Logarithmic" not in reader.page.locator("#mean-caption").inner_text()
    reader.change(lambda: reader.page.click("#reset"))
    assert reader.page.input_value("#scale") == "log"
    assert "time=" not in reader.page.url


def test_hostile_names_stay_text(open_page, tmp_path):
    page = open_page(write_page(hostile(), tmp_path / "page.html")).page
    assert page.locator("#kernel-tables img").count() == 0
    assert "</script><img" in page.locator("#table-ratios").inner_text()


def varied(**choices):
    rows = [run(arm, i, 1, trace) for arm, trace in (("<b>early", [(0, 20.0)]), ("late", [(5, 0.5)])) for i in "ij"]
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ij", 0.5), name="half")
    return gl.analyse(gl.open_study(gl.Campaign.from_runs(rows), snapshots=[snapshot], draws=20, **choices))


def test_other_choices_are_those_of_the_report():
    words = page_tables(varied())["varied"]
    assert [table["name"] for table in words] == ["cutoffs"]
    words = page_tables(varied(transform="shift:30"))["varied"]
    assert [table["name"] for table in words] == ["cutoffs", "transforms"]
    assert next(heading for heading, _ in words[1]["parts"]) == "shift:30 (declared)"


def test_the_page_has_other_choices_and_obeys_no_name():
    analysis = varied(transform="shift:30")
    page = build_page(analysis.study, None, analysis)
    assert '<table id="table-cutoffs"' in page
    assert '<table id="table-transforms"' in page
    assert "&lt;b&gt;early" in page
    assert '<td class="text name"><b>early' not in page
