import pytest

from gapline.report.paper.write import paper_figures
from report.report_studies import synthetic_analyses

pytestmark = pytest.mark.slow


def test_all_figures_of_the_paper_are_drawn():
    charts = paper_figures(synthetic_analyses(), source="a campaign made up")
    assert list(charts) == [
        "scale-conversion", "gap-shapes", "worked-example", "two-regime", "companion", "metric-sensitivity",
        "early-log",
        "end-log",
    ]  # fmt: skip
    for name in ("two-regime", "metric-sensitivity"):
        assert "a campaign made up" in " ".join(charts[name].to_dict()["title"]["subtitle"])
