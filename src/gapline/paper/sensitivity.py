"""Figure metric-sensitivity: kernels, references and complementary pairs of one study, one panel per question."""

from typing import Any

from gapline.report.analyses import Analyses
from gapline.report.drawing import load_altair, titled
from gapline.report.figures.complementarity import draw_segments, segment_figure
from gapline.report.figures.metric_slopes import draw_slopes, slope_figure
from gapline.report.figures.reference_shift import draw_shift, shift_figure
from gapline.report.input import ReportInput


def draw_sensitivity(study: ReportInput, analyses: Analyses, *, source: str) -> Any:
    """Draw the three panels one above the other; that of the references only where there are two."""
    alt = load_altair()
    panels = [draw_slopes(slope_figure(analyses.metric, analyses.names[-1], analyses.labels[-1]), height=240)]
    if analyses.reference is not None:
        kernel = analyses.metric.pooled["kernel"][0]
        shift = shift_figure(analyses.reference, analyses.labels[0], analyses.labels[-1], kernel=kernel)
        panels.append(draw_shift(shift))
    panels.append(draw_segments(segment_figure(analyses.complementarity, study.scores[0])))
    chart = alt.vconcat(*panels, spacing=34).resolve_scale(
        color="independent", shape="independent", strokeDash="independent"
    )
    return titled(chart, "Sensitivity to kernel, reference and companion view", source, width=660)
