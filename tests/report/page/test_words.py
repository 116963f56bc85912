import pytest

import gapline as gl
from gapline.report.facts import make_statements
from gapline.report.figures.study import study_figures
from gapline.report.page.build import write_page
from gapline.report.page.data import page_data
from gapline.report.page.words import failure_card, page_head, page_words
from gapline.study.analyse import analyse
from report.page_study import make_campaign, make_study
from report.report_studies import by_hand, report_of, synthetic, synthetic_said


def test_the_resolution_is_stated(page_file):
    text = page_file.read_text(encoding="utf-8")
    assert "Stamps in this page are rounded to multiples of 1e-09 s" in text
    assert "objectives are rounded on 5 of 5 instances" in text


def test_the_failure_card_counts_what_is_known():
    assert failure_card(make_statements(make_study()))["value"] == "1 empty · 1 crashed"
    card = failure_card(make_statements(by_hand()))
    assert card["value"] == "1 empty · 8 of unknown end"
    assert "crashed" not in card["note"]


def test_the_table_before_any_script_has_the_order_of_the_report():
    study = synthetic()
    words = page_words(study, synthetic_said(), page_data(study).head)
    rows = words["ranking"]["rows"]
    assert [row[1].split(" ")[0] for row in rows] == list(synthetic_said().order.arms)
    assert rows[-1][:2] == ["–", "sliced (descriptive)"]
    assert page_head(synthetic_said())["tierTwo"] == ["sliced"]


@pytest.mark.slow
def test_nothing_speaks_of_bands_where_none_can_be_drawn(open_page, tmp_path):
    """One instance in each panel: the spread between instances is unknown."""
    campaign, references = make_campaign()
    snapshot = gl.Snapshot.from_values(references, name="known")
    study = report_of(campaign.filter(instance=("s1", "l1")), snapshot, kernels=["squeezed", "maxform"])
    analysis, said = analyse(study), make_statements(study)
    page = open_page(write_page(study, tmp_path / "page.html"))
    for choice in ({}, {"kernel": "maxform"}, {"weighting": "run"}):
        page.choose(**choice)
        assert "band" not in page.page.evaluate("() => document.body.innerText").lower()
    figures = study_figures(study, analysis, said.order)
    assert {"mean-convergence", "attainment"} <= set(figures)
    assert "band" not in "".join(str(chart.to_dict()["title"]) for chart in figures.values()).lower()
    assert "band" not in " ".join(page_words(study, said, page_data(study).head)["methods"]).lower()
