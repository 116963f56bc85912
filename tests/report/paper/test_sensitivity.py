from gapline.report.paper.sensitivity import draw_sensitivity
from gapline.study.analyse import analyse
from report.report_studies import report_of, synthetic, synthetic_analyses


def titles(chart):
    return ["".join(panel["title"]["text"]) for panel in chart.to_dict()["vconcat"]]


def test_each_question_has_its_panel():
    kernels, references, pairs = titles(draw_sensitivity(synthetic_analyses(), source="here"))
    assert "kernels" in kernels
    assert "reference" in references
    assert "Similar scores" in pairs


def test_with_one_reference_there_is_no_panel_of_another():
    folded = synthetic().folded.snapshot
    analysis = analyse(report_of(synthetic().campaign, folded))
    assert analysis.references is None
    assert len(titles(draw_sensitivity(analysis, source="here"))) == 2


def test_the_kernels_are_compared_against_the_analysis_reference():
    chart = draw_sensitivity(synthetic_analyses(), source="here").to_dict()
    folded = next(label for label in synthetic_analyses().labels.values() if label.policy == "analysis")
    assert folded.digest[:19] in " ".join(chart["vconcat"][0]["title"]["subtitle"])
