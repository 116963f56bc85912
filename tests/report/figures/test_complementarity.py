import pytest

from gapline.report.figures.complementarity import segment_figure
from report.report_studies import synthetic_analyses


def test_segments_span_the_difference_that_the_screen_found():
    analyses = synthetic_analyses()
    figure = segment_figure(analyses.complementarity, analyses.folded_scores)
    rates = figure.data["attainment"].to_list()
    spans = [abs(rates[k] - rates[k + 1]) for k in range(0, len(rates), 2)]
    assert spans == pytest.approx(analyses.complementarity.contrasts["d_attainment"].to_list(), abs=1e-12)
    assert spans
