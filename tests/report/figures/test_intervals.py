from gapline.report.figures.intervals import interval_figure
from report.report_studies import synthetic, synthetic_said


def test_intervals_are_ordered_and_say_how_many_are_empty():
    study = synthetic()
    figure = interval_figure(study.summary, study.intervals, synthetic_said().order)
    assert figure.data["mean"][:-1].is_sorted()
    expected = dict(study.summary.frame.select("arm", "squeezed").iter_rows())
    assert dict(figure.data.select("arm", "mean").iter_rows()) == expected
    assert figure.data["label"][-1] == "sliced (4 of 24 empty, descriptive)"
    assert all(row["low"] <= row["mean"] <= row["high"] for row in figure.data.iter_rows(named=True))
    assert "no intervals" in interval_figure(study.summary, None, synthetic_said().order).caption
