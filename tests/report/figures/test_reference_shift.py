import pytest

from gapline.report.figures.sensitivity import shift_figure
from report.report_studies import synthetic, synthetic_analyses


def test_the_arrows_start_at_the_declared_means_and_a_stronger_target_makes_every_score_worse():
    study, analyses = synthetic(), synthetic_analyses()
    shift = shift_figure(analyses.references, *analyses.labels.values(), kernel="squeezed")
    assert dict(shift.data.select("arm", "from").iter_rows()) == pytest.approx(
        dict(study.summary.frame.select("arm", "squeezed").iter_rows()), abs=1e-12
    )
    assert all(to >= before for before, to in shift.data.select("from", "to").iter_rows())


def test_a_descriptive_arm_comes_last_whatever_its_score():
    analyses = synthetic_analyses()
    shift = shift_figure(analyses.references, *analyses.labels.values(), kernel="squeezed", descriptive=["early"])
    assert shift.data["arm"][-1] == "early"
