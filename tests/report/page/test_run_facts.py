"""Facts of a run read as words and units, whatever the source carried."""

import polars as pl

import gapline as gl
from gapline.contract.tables import RUN_RECORD
from gapline.report.page.build import write_page
from gapline.report.page.runs import fact_name, fact_order, fact_text
from report.report_studies import report_of


def test_every_column_of_the_runner_has_a_name_of_its_own_without_underscores():
    told = [fact_name(name) for name in RUN_RECORD]
    assert not any("_" in name for name in told)
    assert len(set(told)) == len(told)


def test_units_stand_beside_the_numbers():
    assert fact_text("elapsed", 2.0941) == "2.094 s"
    assert fact_text("elapsed", 3600.4) == "3,600 s"
    assert fact_text("peak_memory", 12_345_678_901) == "12.3 GB"
    assert fact_text("cpu_share", 0.9871) == "98.7 %"
    assert fact_text("load", 3.714) == "3.71"
    assert fact_text("mine", 3) == "3"
    assert fact_text("elapsed", "two hours") == "two hours", "somebody else's column of that name"


def test_what_was_measured_comes_first():
    assert fact_order(["a_setting", "instance_digest", "peak_memory"]) == [
        "peak_memory",
        "instance_digest",
        "a_setting",
    ]


def test_the_page_shows_them(open_page, tmp_path):
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 12.0)]}]
    campaign = gl.Campaign.from_runs(runs)
    carried = campaign.runs.with_columns(
        peak_memory=pl.lit(96_468_992), cpu_time=pl.lit(1.25), slices=pl.lit(24), disturbed=pl.lit(None, pl.String)
    )
    whole = gl.Campaign.from_arrays(
        runs=carried, time=campaign.time, objective=campaign.objective, verdict=campaign.verdict
    )
    study = report_of(whole, gl.Snapshot.from_values({"i": 10.0}, name="known"))
    facts = open_page(write_page(study, tmp_path / "page.html")).page.locator("#run-facts").inner_text()
    for name, value in (("peak memory", "96 MB"), ("CPU time", "1.250 s"), ("slices", "24")):
        assert f"{name}\n{value}" in facts
    assert "disturbed" not in facts
    assert "peak_memory" not in facts
