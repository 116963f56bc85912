from gapline.report.figures.intervals import contrast_figure
from report.report_studies import hostile, synthetic


def test_contrasts_have_the_declared_ones_first():
    study = hostile()
    figure = contrast_figure(study.contrasts, study.scores[0].reference)
    assert figure.data["kind"].to_list() == ["declared"] + ["exploratory"] * (study.contrasts.frame.height - 1)
    assert study.scores[0].reference.digest[:19] in figure.caption


def test_a_descriptive_arm_is_in_no_forest_of_differences():
    study = synthetic()
    figure = contrast_figure(study.contrasts, study.scores[0].reference, descriptive=["sliced"])
    assert figure.data.height == 3  # of four arms, three are compared
    assert not any("sliced" in pair for pair in figure.data["pair"])
