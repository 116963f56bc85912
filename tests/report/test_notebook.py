from gapline import figures
from gapline.report.drawing import alt
from gapline.report.notebook import RENDERER, SPECIFICATION, notebook_chart
from report.report_studies import synthetic


def test_a_composed_chart_shows_itself_as_drawing_and_specification():
    with alt.renderers.enable("default"):
        both = figures.final_gaps(synthetic()) | figures.score_intervals(synthetic(), width="page")
        assert alt.renderers.active == RENDERER
        shown = both._repr_mimebundle_(None, None)
    assert len(shown[SPECIFICATION]["hconcat"]) == 2
    assert "config" in shown[SPECIFICATION]
    assert shown["image/svg+xml"].count("<desc>") == 1
    assert (
        shown["text/plain"]
        == "Final gaps: further left and higher is better; Mean squeezed score: further left is better"
    )


def test_a_chart_of_a_width_is_a_copy():
    chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q").properties(width=300)
    with alt.renderers.enable("default"):
        narrow = notebook_chart(chart, 6, True)
    assert chart.width == 300
    assert narrow.width < 6 / 2.54 * 96
